"""The methods of Slack's Web API that tell facts and show the assistant pane."""


class RefusalError(Exception):
    """Slack's ``ok: false``."""

    def __init__(self, error, **more):
        super().__init__(error)
        self.body = {"ok": False, "error": error, **more}


class Facts:
    """A part of :class:`tests.fakes.slack_api.WebApi`."""

    def conversations_info(self, arguments):
        channel = self._channel(arguments)
        return {"ok": True, "channel": channel.facts()}

    def conversations_open(self, arguments):
        user = arguments.get("users")
        if user not in self.slack.users:
            raise RefusalError("user_not_found")
        return {"ok": True, "channel": {"id": self.slack.direct(user).id}}

    def conversations_replies(self, arguments):
        channel = self._channel(arguments)
        root = arguments.get("ts")
        if not channel.message(root):
            raise RefusalError("thread_not_found")
        return self._page(channel.thread(root), arguments)

    def conversations_history(self, arguments):
        channel = self._channel(arguments)
        return self._page([one for one in reversed(channel.messages) if not one.get("thread_ts")], arguments)

    @staticmethod
    def _page(messages, arguments):
        start, size = int(arguments.get("cursor") or 0), min(int(arguments.get("limit") or 100), 200)
        hidden = set() if arguments.get("include_all_metadata") == "true" else {"metadata"}
        page = [
            {name: value for name, value in one.items() if name not in hidden}
            for one in messages[start : start + size]
            if not one.get("deleted")
        ]
        more = str(start + size) if start + size < len(messages) else ""
        return {"ok": True, "messages": page, "response_metadata": {"next_cursor": more}}

    def users_info(self, arguments):
        user = self.slack.users.get(arguments.get("user"))
        if user is None:
            raise RefusalError("user_not_found")
        return {"ok": True, "user": user}

    def usergroups_list(self, arguments):
        with_users = arguments.get("include_users") == "true"
        groups = [
            {"id": name, **({"users": list(users)} if with_users else {})} for name, users in self.slack.groups.items()
        ]
        return {"ok": True, "usergroups": groups}

    # Assistant

    def assistant_threads_setStatus(self, arguments):  # noqa: N802
        channel = self._channel({"channel": arguments.get("channel_id")})
        if not channel.message(arguments.get("thread_ts")):
            raise RefusalError("invalid_thread_ts")
        self.slack.statuses.append((channel.id, arguments["thread_ts"], arguments["status"]))
        return {"ok": True}

    def assistant_threads_setSuggestedPrompts(self, arguments):  # noqa: N802
        if not 1 <= len(arguments["prompts"]) <= 4:
            raise RefusalError("invalid_arguments")
        self.slack.prompts.append(arguments)
        self.slack.changed()
        return {"ok": True}
