"""The methods of Slack's Web API, over a workspace in memory."""

import asyncio
import json

from aiohttp import web

from tests.fakes import slack_rules as rules
from tests.fakes.slack_api_facts import Facts, RefusalError

SCOPES = (
    "app_mentions:read,assistant:write,channels:history,channels:read,chat:write,commands,groups:history,groups:read,"
    "im:history,im:read,im:write,mpim:history,mpim:read,reactions:read,reactions:write,usergroups:read,users:read"
)
NEEDED = {
    "chat.postMessage": {"chat:write"},
    "chat.postEphemeral": {"chat:write"},
    "chat.update": {"chat:write"},
    "chat.delete": {"chat:write"},
    "conversations.info": {"channels:read"},
    "conversations.open": {"im:write"},
    "conversations.replies": {"channels:history"},
    "conversations.history": {"channels:history"},
    "reactions.add": {"reactions:write"},
    "reactions.remove": {"reactions:write"},
    "usergroups.list": {"usergroups:read"},
    "users.info": {"users:read"},
    "assistant.threads.setStatus": {"assistant:write", "chat:write"},
    "assistant.threads.setSuggestedPrompts": {"assistant:write"},
}
"""Scopes of which one is needed."""
FORM_ONLY = {"conversations.info", "conversations.replies", "conversations.history", "users.info", "chat.getPermalink"}


class WebApi(Facts):
    """Answers ``/api/{method}``.

    Args:
        slack: the workspace.
    """

    def __init__(self, slack):
        self.slack = slack

    async def handle(self, request):
        method = request.match_info["method"]
        arguments = await self._arguments(request, method)
        self.slack.calls.append((method, arguments))
        fault = self.slack.faults.next(method)
        if fault is not None and not (fault.after or fault.kind == "truncate"):
            return await self._fail(request, fault)
        try:
            body = self._dispatch(method, arguments, request.headers.get("Authorization", ""), fault)
        except RefusalError as refusal:
            body = refusal.body
        if fault is not None and fault.after:
            return await self._fail(request, fault)
        headers = (
            {"x-oauth-scopes": self.slack.scopes} if "xapp" not in request.headers.get("Authorization", "") else {}
        )
        return web.json_response(body, headers=headers)

    @staticmethod
    async def _arguments(request, method):
        if request.content_type == "application/json":
            return {} if method in FORM_ONLY else await request.json()
        return {**request.query, **{name: str(value) for name, value in (await request.post()).items()}}

    @staticmethod
    async def _fail(request, fault):
        if fault.kind == "timeout":
            await asyncio.sleep(fault.value)
        if fault.kind in {"timeout", "drop"}:
            request.transport.close()
            return web.Response()
        limited = {"ok": False, "error": "ratelimited"}, {"Retry-After": str(fault.value)}
        body, headers, status = {
            "429": (*limited, 429),
            "ratelimited": (*limited, 200),
            "500": ({"ok": False, "error": "internal_error"}, {}, 500),
            "html500": (None, {}, 503),
            "error": ({"ok": False, "error": fault.value}, {}, 200),
        }[fault.kind]
        if body is None:
            return web.Response(text="<html>Sorry</html>", content_type="text/html", status=status)
        return web.json_response(body, status=status, headers=headers)

    def _dispatch(self, method, arguments, authorization, fault):
        handler = getattr(self, method.replace(".", "_"), None)
        if handler is None:
            raise RefusalError("unknown_method")
        token = authorization.removeprefix("Bearer ") or arguments.pop("token", "")
        app_level = method == "apps.connections.open"
        if token != (self.slack.app_token if app_level else self.slack.bot_token):
            raise RefusalError("not_allowed_token_type" if token.startswith(("xapp", "xoxb")) else "invalid_auth")
        needed = NEEDED.get(method)
        if needed and not needed & set(self.slack.scopes.split(",")):
            raise RefusalError("missing_scope", needed=",".join(sorted(needed)), provided=self.slack.scopes)
        if fault is not None and fault.kind == "truncate":
            return handler(arguments, truncate=fault.value)
        return handler(arguments)

    # Connection

    def auth_test(self, _arguments):
        own = self.slack
        return {
            "ok": True,
            "user_id": own.bot_user,
            "bot_id": own.bot_id,
            "team_id": own.team,
            "team": "Team",
            "url": "",
        }

    def apps_connections_open(self, _arguments):
        return {"ok": True, "url": self.slack.socket_url()}

    # Messages

    def chat_postMessage(self, arguments, truncate=0):  # noqa: N802
        channel = self._channel(arguments, posting=True)
        message = self._checked(arguments)
        if message.get("thread_ts") and not channel.message(message["thread_ts"]):
            raise RefusalError("thread_not_found")
        warnings = []
        limit = truncate or rules.TEXT_ERROR_LIMIT
        if len(message["text"]) > limit:
            message["text"] = message["text"][:limit]
            warnings = ["message_truncated"]
        posted = channel.add(
            {**message, "user": self.slack.bot_user, "bot_id": self.slack.bot_id, "ts": self.slack.next_ts()}
        )
        body = {"ok": True, "channel": channel.id, "ts": posted["ts"], "message": posted}
        return body | ({"response_metadata": {"warnings": warnings}} if warnings else {})

    def chat_update(self, arguments):
        channel = self._channel(arguments, posting=True)
        found = channel.message(arguments.get("ts"))
        if not found or found.get("deleted"):
            raise RefusalError("message_not_found")
        if found.get("bot_id") != self.slack.bot_id:
            raise RefusalError("cant_update_message")
        message = self._checked(arguments, text_limit=4000)
        found.update({name: message[name] for name in ("text", "blocks", "metadata") if name in message}, edited=True)
        self.slack.changed()
        return {"ok": True, "channel": channel.id, "ts": found["ts"], "text": found["text"]}

    def chat_delete(self, arguments):
        channel = self._channel(arguments, posting=True)
        found = channel.message(arguments.get("ts"))
        if not found or found.get("deleted"):
            raise RefusalError("message_not_found")
        found["deleted"] = True
        self.slack.changed()
        return {"ok": True}

    def chat_postEphemeral(self, arguments):  # noqa: N802
        channel = self._channel(arguments, posting=True)
        user = arguments.get("user")
        if user not in channel.members:
            raise RefusalError("user_not_in_channel")
        message = self._checked(arguments)
        ts = self.slack.next_ts()
        self.slack.whispered(user, channel.id, {**message, "ts": ts, "to": user})
        return {"ok": True, "message_ts": ts}

    def chat_getPermalink(self, arguments):  # noqa: N802
        channel = self._channel(arguments)
        if not channel.message(arguments.get("message_ts")):
            raise RefusalError("message_not_found")
        stamp = arguments["message_ts"].replace(".", "")
        return {"ok": True, "permalink": f"https://team.slack.example/archives/{channel.id}/p{stamp}"}

    def reactions_add(self, arguments):
        message, reaction = self._reaction(arguments)
        if reaction in message.setdefault("own_reactions", []):
            raise RefusalError("already_reacted")
        message["own_reactions"].append(reaction)
        return {"ok": True}

    def reactions_remove(self, arguments):
        message, reaction = self._reaction(arguments)
        if reaction not in message.get("own_reactions", []):
            raise RefusalError("no_reaction")
        message["own_reactions"].remove(reaction)
        return {"ok": True}

    def _reaction(self, arguments):
        channel = self._channel(arguments)
        message = channel.message(arguments.get("timestamp"))
        if not message:
            raise RefusalError("message_not_found")
        return message, arguments.get("name")

    def _checked(self, arguments, text_limit=None):
        """The message that is shown, if Slack takes it."""
        message = {
            name: json.loads(value) if name in {"blocks", "metadata"} and isinstance(value, str) else value
            for name, value in arguments.items()
            if name not in {"channel", "ts", "user"}
        }
        blocks = message.get("blocks") or []
        if not blocks and not (message.get("text") or "").strip():
            raise RefusalError("no_text")
        if text_limit and rules.units(message.get("text", "")) > text_limit:
            raise RefusalError("msg_too_long")
        if errors := rules.block_errors(blocks) or self.slack.extra_block_errors(blocks):
            raise RefusalError(
                "invalid_blocks", errors=errors, response_metadata={"messages": [f"[ERROR] {errors[0]}"]}
            )
        if rules.weight(blocks) > rules.BLOCKS_WEIGHT_LIMIT:
            raise RefusalError("msg_blocks_too_long")
        return message

    def _channel(self, arguments, posting=False):
        channel = self.slack.channels.get(arguments.get("channel"))
        if channel is None or (channel.kind != "channel" and not channel.bot_inside):
            raise RefusalError("channel_not_found")
        if posting and not channel.bot_inside:
            raise RefusalError("not_in_channel")
        if posting and channel.archived:
            raise RefusalError("is_archived")
        return channel

    # Views

    def views_open(self, arguments):
        self.slack.use_trigger(arguments.get("trigger_id"), RefusalError)
        self._check_view(arguments["view"], "modal")
        return {"ok": True, "view": self.slack.opened(arguments["view"])}

    def views_publish(self, arguments):
        if arguments.get("user_id") not in self.slack.users:
            raise RefusalError("user_not_found")
        self._check_view(arguments["view"], "home")
        self.slack.homes[arguments["user_id"]] = arguments["view"]
        self.slack.changed()
        return {"ok": True}

    @staticmethod
    def _check_view(view, kind):
        errors = rules.view_errors(view) if view.get("type") == kind else ["wrong type"]
        if errors:
            raise RefusalError("invalid_arguments", response_metadata={"messages": errors})
