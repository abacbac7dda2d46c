"""A GitHub for tests: the part of its REST API that finders use, with its limits, on 127.0.0.1."""

from __future__ import annotations

import base64
import json
import re
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from tests.fakes.github_repository import Repository, sha

TOKEN = "ghp_test"
REACHABLE = 1000
MEGABYTE = 1_000_000
LIMITS = {"core": 5000, "search": 30, "code_search": 10}
ANONYMOUS = {"core": 60, "search": 10, "code_search": 0}
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b")
_QUALIFIERS = {"org", "user", "repo", "extension", "language", "path", "in", "fork", "archived"}


class FakeGithub:
    """The server. ``failures`` are answers given to the next requests: (status, message, headers)."""

    def __init__(self):
        self.repositories = []
        self.failures = []
        self.incomplete = 0
        self.remaining = {}
        self.requests = []
        self.searches = []
        self.inflated = 0
        self.now = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
        self.reset = self.now + timedelta(seconds=60)
        self._lock = threading.RLock()
        handler = type("Handler", (_Handler,), {"github": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def add(self, full_name, files, **facts):
        when = facts.pop("when", self.now - timedelta(days=30))
        repository = Repository(100 + len(self.repositories), full_name, files, when=when, **facts)
        self.repositories.append(repository)
        return repository

    def rename(self, repository, full_name):
        repository.former_names.append(repository.full_name)
        repository.full_name = full_name

    def limit(self, resource, remaining):
        """How many requests are left until the limit is full again."""
        self.remaining[resource] = remaining

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # One request

    def answer(self, target, headers):
        """Status, headers and JSON of a request."""
        with self._lock:
            parts = urlsplit(target)
            path, query = unquote(parts.path), {name: values[0] for name, values in parse_qs(parts.query).items()}
            self.requests.append(target)
            if self.failures:
                status, message, extra = self.failures.pop(0)
                return status, dict(extra), {"message": message}
            given = headers.get("Authorization", "")
            if given and given.split()[-1] != TOKEN:
                return 401, {}, {"message": "Bad credentials"}
            resource = "code_search" if path == "/search/code" else "search" if "/search" in path else "core"
            known = bool(given)
            if resource == "code_search" and not known:
                return 401, {}, {"message": "Requires authentication"}
            left = self.remaining.setdefault(resource, (LIMITS if known else ANONYMOUS)[resource])
            limits = {
                "X-RateLimit-Limit": LIMITS[resource],
                "X-RateLimit-Resource": resource,
                "X-RateLimit-Reset": int(self.reset.timestamp()),
            }
            if left <= 0:
                message = "API rate limit exceeded for user ID 1."
                return 403, {**limits, "X-RateLimit-Remaining": 0}, {"message": message}
            status, extra, data = self._routed(path, query)
            etag = f'"{sha(json.dumps(data, sort_keys=True))}"'
            if status == 200 and headers.get("If-None-Match") == etag:
                return 304, {**limits, "X-RateLimit-Remaining": left, "ETag": etag}, None
            self.remaining[resource] = left - 1
            tagged = {"ETag": etag} if status == 200 else {}
            return status, {**limits, "X-RateLimit-Remaining": left - 1, **tagged, **extra}, data

    def _routed(self, path, query):
        if path == "/rate_limit":
            return 200, {}, {"resources": {"core": {"remaining": self.remaining.get("core", 0)}}}
        if match := re.fullmatch(r"/search/(code|repositories)", path):
            return self._search(match[1], query)
        if match := re.fullmatch(r"/repositories/(\d+)", path):
            found = [one for one in self.repositories if one.id == int(match[1])]
            return self._repository(found[0], "", query) if found else _missing()
        if match := re.fullmatch(r"/repos/([^/]+/[^/]+)(/.*)?", path):
            for repository in self.repositories:
                if repository.full_name == match[1]:
                    return self._repository(repository, match[2] or "", query)
                if match[1] in repository.former_names:
                    to = f"{self.url}/repositories/{repository.id}"
                    return 301, {"Location": to}, {"message": "Moved Permanently", "url": to}
        return _missing()

    def _repository(self, repository, rest, query):
        if repository.blocked:
            return 451, {}, {"message": "Repository access blocked"}
        if not rest:
            return 200, {}, repository.data(self.url)
        if not repository.history:
            return 409, {}, {"message": "Git Repository is empty."}
        routes = {
            r"/commits": lambda: self._commits(repository, query),
            r"/contents/?(.*)": lambda path: self._contents(repository, path, query.get("ref", "")),
            r"/git/trees/(.+)": lambda ref: self._tree(repository, ref),
            r"/git/blobs/([0-9a-f]{40})": lambda identity: self._blob(repository, identity),
        }
        found = ((route, re.fullmatch(pattern, rest)) for pattern, route in routes.items())
        return next((route(*match.groups()) for route, match in found if match), _missing())

    def _commits(self, repository, query):
        found = repository.commits_of(query["path"]) if "path" in query else repository.history[::-1]
        shown = found[: int(query.get("per_page", 30))]
        return 200, {}, [
            {"sha": one["sha"], "commit": {"committer": {"date": f"{one['when']:%Y-%m-%dT%H:%M:%SZ}"}}} for one in shown
        ]  # fmt: skip

    def _contents(self, repository, path, ref):
        if path in repository.special:
            kind = repository.special[path]
            return 200, {}, {"type": kind, "path": path, "sha": sha(path), "size": 0}
        files = repository.files(ref)
        if files is None:
            return 404, {}, {"message": f"No commit found for the ref {ref}"}
        if path in files:
            return 200, {}, _file(repository, path, files[path])
        below = [one for one in files if one.startswith(f"{path}/".lstrip("/"))]
        if not below:
            return _missing()
        direct = [one for one in below if "/" not in one[len(path) :].strip("/")]
        return 200, {}, [{**_file(repository, one, files[one]), "content": ""} for one in direct]

    def _tree(self, repository, ref):
        files = repository.files(ref)
        if files is None:
            return _missing()
        entries = [
            {
                "path": path,
                "mode": "100644",
                "type": "blob",
                "size": len(content),
                "sha": sha(repository.id, path, content),
            }
            for path, content in files.items()
        ]
        modes = {"symlink": ("120000", "blob"), "submodule": ("160000", "commit")}
        entries += [
            {"path": path, "mode": modes[kind][0], "type": modes[kind][1], "sha": sha(path)}
            for path, kind in repository.special.items()
        ]
        cut = repository.truncated_after
        return 200, {}, {"sha": sha(ref), "tree": entries[:cut], "truncated": cut is not None and cut < len(entries)}

    def _blob(self, repository, identity):
        for commit in repository.history:
            for path, content in commit["files"].items():
                if sha(repository.id, path, content) == identity:
                    encoded = base64.encodebytes(content).decode()
                    return 200, {}, {"sha": identity, "size": len(content), "encoding": "base64", "content": encoded}
        return _missing()

    # Searching

    def _search(self, kind, query):
        text = query.get("q", "")
        self.searches.append((kind, text))
        words, qualifiers = _parsed(text)
        page, size = int(query.get("page", 1)), min(100, int(query.get("per_page", 30)))
        if len(" ".join(words)) > 256:
            return _invalid("The search is longer than 256 characters.")
        if len(_OPERATOR.findall(text)) > 5:
            return _invalid("More than five AND / OR / NOT operators were used.")
        if not words:
            return _invalid(
                "Must include at least one user, organization, or repository" if kind == "code" else "q is empty"
            )
        if page * size > REACHABLE + size - 1:
            return _invalid("Only the first 1000 search results are available")
        found = self._code(words, qualifiers) if kind == "code" else self._named(words, qualifiers)
        total = self.inflated or len(found)
        if self.inflated:
            found = (found * (self.inflated // max(1, len(found)) + 1))[: self.inflated]
        start = (page - 1) * size
        items = found[:REACHABLE][start : start + size]
        incomplete = self.incomplete > 0
        self.incomplete -= incomplete
        if incomplete:
            items = items[: len(items) // 2]
        more = start + size < min(total, REACHABLE)
        following = urlencode({"q": text, "per_page": size, "page": page + 1})
        link = {"Link": f'<{self.url}/search/{kind}?{following}>; rel="next"'} if more else {}
        return 200, link, {"total_count": total, "incomplete_results": incomplete, "items": items}

    def _code(self, words, qualifiers):
        items = []
        for repository in self._searched(qualifiers):
            for path, content in repository.files().items():
                extension = qualifiers.get("extension")
                text = f"{path}\n{content.decode('utf-8', 'replace')}".casefold()
                if extension and path.rpartition(".")[2] not in extension:
                    continue
                if len(content) < 384_000 and all(word in text for word in words):
                    owner = repository.data(self.url)
                    brief = {
                        name: owner[name]
                        for name in ("id", "full_name", "name", "owner", "fork", "private", "html_url")
                    }
                    items.append(
                        (
                            sum(map(text.count, words)),
                            {"name": path.rpartition("/")[2], "path": path, "repository": brief},
                        )
                    )
        return [item for _, item in sorted(items, key=lambda one: -one[0])]

    def _named(self, words, qualifiers):
        items = []
        for repository in self._searched(qualifiers):
            readme = next((content for path, content in repository.files().items() if path.lower() == "readme.md"), b"")
            text = f"{repository.full_name} {repository.facts['description']} {readme.decode()}".casefold()
            if all(word in text for word in words):
                items.append(repository.data(self.url))
        return items

    def _searched(self, qualifiers):
        """Forks are not searched, nor what is blocked or empty."""
        owners = {name.casefold() for name in [*qualifiers.get("org", ()), *qualifiers.get("user", ())]}
        return [
            one
            for one in self.repositories
            if one.history
            and not one.blocked
            and (not one.facts["fork"] or qualifiers.get("fork") == ["true"])
            and (not owners or one.full_name.split("/")[0].casefold() in owners)
        ]


def _parsed(text):
    words, qualifiers = [], {}
    for part in text.split():
        name, colon, value = part.partition(":")
        if colon and name in _QUALIFIERS:
            qualifiers.setdefault(name, []).append(value)
        elif not _OPERATOR.fullmatch(part):
            words.append(part.strip('"').casefold())
    return words, qualifiers


def _file(repository, path, content):
    large = len(content) > MEGABYTE
    return {
        "type": "file",
        "path": path,
        "name": path.rpartition("/")[2],
        "size": len(content),
        "sha": sha(repository.id, path, content),
        "encoding": "none" if large else "base64",
        "content": "" if large else base64.encodebytes(content).decode(),
    }


def _missing():
    return 404, {}, {"message": "Not Found"}


def _invalid(message):
    return 422, {}, {"message": "Validation Failed", "errors": [{"message": message}]}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    github: FakeGithub

    def do_GET(self):
        status, headers, data = self.github.answer(self.path, self.headers)
        body = b"" if data is None else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args):
        """Tests look at ``requests``."""
