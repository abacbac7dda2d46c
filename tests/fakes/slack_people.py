"""What people do in the workspace, and the payloads that Slack makes of it."""

import time

from tests.fakes import slack_rules as rules


class People:
    """Writing, clicking, reacting; a part of :class:`tests.fakes.slack.FakeSlack`."""

    def write(self, channel, user, text, *, thread=None, **more):
        """Put a message into a channel without telling the app; its event."""
        conversation = self.channels[channel]
        event = {
            "type": "message",
            "channel": channel,
            "channel_type": conversation.kind,
            "user": user,
            "text": text,
            "ts": self.next_ts(),
            "team": self.team,
            **({"thread_ts": thread} if thread else {}),
            **more,
        }
        conversation.add({name: value for name, value in event.items() if name not in {"channel", "channel_type"}})
        return event

    async def say(self, channel, user, text, **more):
        """Write a message; in a channel a mention is delivered twice, as the two events that Slack makes of it."""
        event = self.write(channel, user, text, **more)
        copies = [event]
        if f"<@{self.bot_user}>" in text and self.channels[channel].kind != "im":
            mention = {name: value for name, value in event.items() if name not in {"channel_type", "subtype"}}
            copies.append({**mention, "type": "app_mention"})
        for copy in copies:
            await self.send_event(copy)
        return event["ts"]

    async def ask(self, channel, user, question, **more):
        """Mention the bot, or write to it directly."""
        direct = self.channels[channel].kind == "im"
        return await self.say(channel, user, question if direct else f"<@{self.bot_user}> {question}", **more)

    async def send_event(self, event, **more):
        await self.delivery.deliver("events_api", self.event_body(event, **more))

    def event_body(self, event, **more):
        shared = self.channels.get(str(event.get("channel")))
        return {
            "type": "event_callback",
            "team_id": self.team,
            "api_app_id": self.app_id,
            "event": event,
            "event_id": self.next_id("Ev"),
            "event_time": int(time.time()),
            "is_ext_shared_channel": bool(shared and shared.shared),
            **more,
        }

    async def delete(self, channel, ts):
        self.channels[channel].message(ts)["deleted"] = True
        await self.send_event(
            {
                "type": "message",
                "subtype": "message_deleted",
                "hidden": True,
                "channel": channel,
                "channel_type": self.channels[channel].kind,
                "ts": self.next_ts(),
                "deleted_ts": ts,
                "previous_message": self.channels[channel].message(ts),
            }
        )

    async def edit(self, channel, ts, text):
        message = self.channels[channel].message(ts)
        before = dict(message)
        message.update(text=text, edited={"user": message["user"], "ts": self.next_ts()})
        kind = self.channels[channel].kind
        changed = {"type": "message", "subtype": "message_changed", "hidden": True, "channel": channel}
        await self.send_event(
            {**changed, "channel_type": kind, "ts": self.next_ts(), "message": message, "previous_message": before}
        )
        if f"<@{self.bot_user}>" in text:
            await self.send_event({**message, "type": "app_mention", "channel": channel})

    async def react(self, channel, ts, user, reaction, added=True):
        item = {"type": "message", "channel": channel, "ts": ts}
        author = self.channels[channel].message(ts).get("user")
        kind = "reaction_added" if added else "reaction_removed"
        await self.send_event({"type": kind, "user": user, "reaction": reaction, "item": item, "item_user": author})

    async def command(self, channel, user, text, team=None):
        payload = {
            "command": "/gaplight",
            "text": text,
            "user_id": user,
            "team_id": team or self.users.get(user, {}).get("team_id", self.team),
            "channel_id": channel,
            "channel_name": self.channels[channel].name,
            "trigger_id": self.new_trigger(),
            "response_url": self.new_response_url(channel, user),
        }
        await self.delivery.deliver("slash_commands", payload)
        return payload

    async def shortcut(self, callback, channel, ts, user):
        message = self.channels[channel].message(ts)
        payload = {
            "type": "message_action",
            "callback_id": callback,
            "trigger_id": self.new_trigger(),
            "response_url": self.new_response_url(channel, user),
            "message_ts": ts,
            "channel": {"id": channel},
            "user": {"id": user, "team_id": self._team_of(user)},
            "team": {"id": self.team},
            "message": message,
        }
        await self.delivery.deliver("interactive", payload)
        return payload

    async def click(self, channel, message, user, action_id, **more):
        """Press a button of a message (of a channel, or whispered to the person)."""
        seen_by_one = "to" in message
        button = rules.buttons_of(message)[action_id]
        thread = {"thread_ts": message["thread_ts"]} if message.get("thread_ts") else {}
        payload = {
            "type": "block_actions",
            "trigger_id": self.new_trigger(),
            "response_url": self.new_response_url(channel, user),
            "user": {"id": user, "team_id": self._team_of(user)},
            "team": {"id": self.team},
            "channel": {"id": channel},
            "container": {
                "type": "message",
                "message_ts": message["ts"],
                "channel_id": channel,
                "is_ephemeral": seen_by_one,
                **thread,
            },
            "actions": [{"type": "button", **button, "action_ts": self.next_ts()}],
            **({} if seen_by_one else {"message": message}),
            **more,
        }
        await self.delivery.deliver("interactive", payload)
        return payload

    async def click_at_home(self, user, action_id):
        view = self.homes[user]
        payload = {
            "type": "block_actions",
            "trigger_id": self.new_trigger(),
            "user": {"id": user, "team_id": self._team_of(user)},
            "team": {"id": self.team},
            "container": {"type": "view", "view_id": "V0"},
            "view": view,
            "actions": [{"type": "button", **rules.buttons_of(view)[action_id]}],
        }
        await self.delivery.deliver("interactive", payload)

    async def submit(self, user, view, note):
        """Send a form that was opened."""
        state = {"values": {"note": {"text": {"type": "plain_text_input", "value": note or None}}}}
        payload = {
            "type": "view_submission",
            "user": {"id": user, "team_id": self._team_of(user)},
            "team": {"id": self.team},
            "view": {**view, "state": state},
        }
        await self.delivery.deliver("interactive", payload)
        return payload

    async def open_home(self, user, tab="home"):
        await self.send_event({"type": "app_home_opened", "user": user, "channel": f"D{user}", "tab": tab})

    async def open_pane(self, user):
        """Start a thread in the assistant pane; its id."""
        channel = self.direct(user)
        root = channel.add({"ts": self.next_ts(), "user": self.bot_user, "text": "New chat"})["ts"]
        thread = {"user_id": user, "channel_id": channel.id, "thread_ts": root, "context": {}}
        await self.send_event({"type": "assistant_thread_started", "assistant_thread": thread})
        return root
