"""What Discord keeps: people, servers, channels, messages; and how it shows them to a bot."""

from __future__ import annotations

import itertools
import re
import time
from datetime import UTC, datetime

from tests.fakes.discord_limits import RefusedError

EPOCH = 1420070400000
VIEW, SEND, EMBED, HISTORY = 1 << 10, 1 << 11, 1 << 14, 1 << 16
CREATE_THREADS, SEND_IN_THREADS = 1 << 35, 1 << 38
EVERYTHING = VIEW | SEND | EMBED | HISTORY | CREATE_THREADS | SEND_IN_THREADS
TEXT, DIRECT, VOICE, THREAD, PRIVATE_THREAD, FORUM = 0, 1, 2, 11, 12, 15
EPHEMERAL, LOADING, SUPPRESSED = 1 << 6, 1 << 7, 1 << 2
MESSAGE_CONTENT = 1 << 15
_USER, _ROLE = re.compile(r"<@!?(\d+)>"), re.compile(r"<@&(\d+)>")
_WITHOUT_PREVIEW = re.compile(r"\\.|```.*?```|(`+)(?:(?!\1).)*?[^`]\1(?!`)|<https?://[^\s<>]+>", re.DOTALL)
"""Read from the left, as Discord reads: an escaped character, code, an address in angle brackets."""
_URL = re.compile(r"https?://\S+")


class World:
    """Everything that is stored, as the payloads that Discord sends."""

    def __init__(self):
        self._count = itertools.count(1)
        self.users = {}
        self.members = {}
        self.channels = {}
        self.messages = {}
        self.commands = {}
        self.bot = self.user("Gaplight", bot=True)
        self.application = self.bot
        self.guild_id = self.id()
        self.own_role = self.id()
        self.roles = {
            self.guild_id: {"name": "@everyone", "permissions": str(EVERYTHING)},
            self.own_role: {"name": "Gaplight", "permissions": "0", "managed": True, "tags": {"bot_id": str(self.bot)}},
        }
        self.join(self.bot, [self.own_role])
        self.general = self.channel("general")

    def id(self):
        """A new snowflake, which tells its time as Discord's do."""
        return ((int(time.time() * 1000) - EPOCH) << 22) | (next(self._count) & 0x3FFFFF)

    # People and places

    def user(self, name, *, bot=False):
        number = self.id()
        self.users[number] = {
            "id": str(number),
            "username": name.lower(),
            "global_name": name,
            "discriminator": "0",
            "avatar": None,
            "bot": bot,
        }
        return number

    def join(self, user, roles=()):
        self.members[user] = [str(role) for role in roles]
        return user

    def role(self, name):
        number = self.id()
        self.roles[number] = {"name": name, "permissions": "0"}
        return number

    def channel(self, name, kind=TEXT, *, private=False):
        number = self.id()
        overwrites = []
        if private:
            overwrites.append({"id": str(self.guild_id), "type": 0, "allow": "0", "deny": str(VIEW)})
            overwrites.append({"id": str(self.bot), "type": 1, "allow": str(VIEW), "deny": "0"})
        self.channels[number] = {
            "id": str(number),
            "type": kind,
            "name": name,
            "guild_id": str(self.guild_id),
            "position": 0,
            "permission_overwrites": overwrites,
            "available_tags": [],
            "bitrate": 64000,
            "user_limit": 0,
        }
        self.messages[number] = {}
        return number

    def deny(self, channel, permissions):
        """Take permissions in a channel from the bot."""
        entry = {"id": str(self.bot), "type": 1, "allow": "0", "deny": str(permissions)}
        self.channels[channel]["permission_overwrites"].append(entry)

    def allowed(self, channel, permission):
        """Whether the bot has a permission in a channel, or in the one that a thread belongs to."""
        place = self.channels[channel]
        if place["type"] == DIRECT:
            return True
        if place["type"] in {THREAD, PRIVATE_THREAD}:
            place = self.channels[int(place["parent_id"])]
        return not any(
            int(one["deny"]) & permission for one in place["permission_overwrites"] if one["id"] == str(self.bot)
        )

    def direct(self, user):
        for number, channel in self.channels.items():
            if channel["type"] == DIRECT and channel["recipients"][0]["id"] == str(user):
                return number
        number = self.id()
        self.channels[number] = {"id": str(number), "type": DIRECT, "recipients": [self.users[user]]}
        self.messages[number] = {}
        return number

    def thread(self, parent, owner, name, *, number=None, kind=THREAD):
        number = number or self.id()
        now = moment()
        self.channels[number] = {
            "id": str(number),
            "type": kind,
            "name": name,
            "guild_id": str(self.guild_id),
            "parent_id": str(parent),
            "owner_id": str(owner),
            "message_count": 0,
            "member_count": 1,
            "thread_metadata": {
                "archived": False,
                "auto_archive_duration": 1440,
                "archive_timestamp": now,
                "locked": False,
                "create_timestamp": now,
            },
        }
        self.messages[number] = {}
        return number

    # Messages

    def message(self, author, channel, content="", **more):
        """Store a message; ``more`` are fields of the payload."""
        number = self.id()
        stored = {
            "id": str(number),
            "channel_id": str(channel),
            "author": self.users[author],
            "content": content,
            "timestamp": moment(),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [self.users[int(one)] for one in _USER.findall(content) if int(one) in self.users],
            "mention_roles": _ROLE.findall(content),
            "attachments": [],
            "embeds": [],
            "components": [],
            "reactions": [],
            "pinned": False,
            "flags": 0,
            "type": 0,
        } | more
        self.messages[channel][number] = stored
        return stored

    def stored(self, channel, message):
        try:
            return self.messages[int(channel)][int(message)]
        except KeyError:
            raise RefusedError(404, 10008, "Unknown Message") from None

    def place(self, channel):
        try:
            return self.channels[int(channel)]
        except KeyError:
            raise RefusedError(404, 10003, "Unknown Channel") from None

    def refer(self, stored, channel, message, *, ping):
        """Make a message a reply to another."""
        original = self.messages[channel].get(message)
        stored["type"] = 19
        stored["message_reference"] = {
            "message_id": str(message),
            "channel_id": str(channel),
            "guild_id": self.channels[channel].get("guild_id"),
        }
        stored["referenced_message"] = original and {
            key: value for key, value in original.items() if key != "referenced_message"
        }
        if ping and original and original["author"] not in stored["mentions"]:
            stored["mentions"] = [*stored["mentions"], original["author"]]

    # Payloads

    def member(self, user, *, whole=False):
        shown = {"roles": self.members[user], "joined_at": moment(), "flags": 0, "nick": None, "deaf": False}
        return shown | ({"user": self.users[user]} if whole else {})

    def guild(self):
        channels = [one for one in self.channels.values() if one.get("guild_id") and "parent_id" not in one]
        return {
            "id": str(self.guild_id),
            "name": "Example",
            "owner_id": "1",
            "member_count": len(self.members),
            "roles": [{"id": str(number), "position": 0} | role for number, role in self.roles.items()],
            "channels": channels,
            "threads": [one for one in self.channels.values() if "parent_id" in one],
            "members": [self.member(self.bot, whole=True)],
            "emojis": [],
            "unavailable": False,
        }

    def event(self, stored, intents):
        """A message as the gateway delivers it: without its text where the bot may not read it."""
        shown = dict(stored)
        channel = self.channels[int(stored["channel_id"])]
        author = int(stored["author"]["id"])
        if channel["type"] != DIRECT:
            shown["guild_id"] = channel["guild_id"]
            if author in self.members:
                shown["member"] = self.member(author)
            mine = author == self.bot or any(one["id"] == str(self.bot) for one in stored["mentions"])
            if not intents & MESSAGE_CONTENT and not mine:
                shown |= {"content": "", "embeds": [], "attachments": [], "components": []}
        shown["mentions"] = [
            one | ({"member": self.member(int(one["id"]))} if int(one["id"]) in self.members else {})
            for one in stored["mentions"]
        ]
        return shown


def moment():
    return datetime.now(UTC).isoformat()


def pings(payload):
    """Whom a message of the bot calls, as Discord reads text and ``allowed_mentions``."""
    text = payload.get("content") or ""
    allowed = payload.get("allowed_mentions")
    parse = {"everyone", "roles", "users"} if allowed is None else set(allowed.get("parse", ()))
    named = {kind: {str(one) for one in (allowed or {}).get(kind, ())} for kind in ("users", "roles")}
    called = []
    if "everyone" in parse:
        called += re.findall(r"@(?:everyone|here)", text)
    called += [f"user {one}" for one in _USER.findall(text) if "users" in parse or one in named["users"]]
    called += [f"role {one}" for one in _ROLE.findall(text) if "roles" in parse or one in named["roles"]]
    if payload.get("message_reference") and (allowed is None or allowed.get("replied_user")):
        called.append("author")
    return called


def unfolded(payload):
    """The addresses for which Discord would fetch a preview."""
    if payload.get("flags", 0) & SUPPRESSED:
        return []
    return _URL.findall(_WITHOUT_PREVIEW.sub(" ", payload.get("content") or ""))
