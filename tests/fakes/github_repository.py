"""A repository of the fake GitHub: files, history, and what is special about it."""

from __future__ import annotations

import hashlib


def sha(*parts):
    return hashlib.sha1("\0".join(map(str, parts)).encode()).hexdigest()


class Repository:
    """A repository with a history; ``special`` maps paths to ``symlink`` or ``submodule``."""

    def __init__(self, number, full_name, files, *, when, **facts):
        self.id = number
        self.full_name = full_name
        self.former_names = []
        self.facts = {"license": "MIT", "private": False, "archived": False, "fork": False, "description": ""} | facts
        self.special = self.facts.pop("special", {})
        self.truncated_after = self.facts.pop("truncated_after", None)
        self.blocked = self.facts.pop("blocked", False)
        self.history = []
        if files:
            self.commit(files, when)

    def commit(self, files, when):
        """Change files (None deletes); the commit's id."""
        before = self.history[-1]["files"] if self.history else {}
        after = {path: content for path, content in {**before, **files}.items() if content is not None}
        after = {path: one.encode() if isinstance(one, str) else one for path, one in after.items()}
        identity = sha(self.id, len(self.history))
        self.history.append({"sha": identity, "when": when, "files": after, "changed": set(files)})
        return identity

    def files(self, ref=""):
        for commit in self.history:
            if commit["sha"] == ref:
                return commit["files"]
        return self.history[-1]["files"] if ref in {"", "main", "HEAD"} else None

    def commits_of(self, path):
        gone = path not in self.files()
        return [] if gone else [one for one in reversed(self.history) if path in one["changed"]]

    def data(self, base):
        licence = self.facts["license"]
        return {
            "id": self.id,
            "full_name": self.full_name,
            "name": self.full_name.split("/")[1],
            "owner": {"login": self.full_name.split("/")[0]},
            "html_url": f"https://github.test/{self.full_name}",
            "url": f"{base}/repos/{self.full_name}",
            "default_branch": "main",
            "license": {"spdx_id": licence, "key": licence.lower()} if licence else None,
            **{name: self.facts[name] for name in ("private", "archived", "fork", "description")},
        }
