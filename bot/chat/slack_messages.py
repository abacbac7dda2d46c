"""Posting, changing and finding messages: each arrives once, as blocks or else as plain text."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.chat.slack_blocks import Post
from bot.chat.slack_calls import Data, RefusedError, SlackCalls
from bot.chat.slack_text import wrapped
from store.errors import NotFoundError, UnavailableError

logger = logging.getLogger(__name__)

EVENT_TYPE = "gaplight_post"
_UNSHOWABLE = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"})
_GONE = frozenset({"cant_update_message", "edit_window_closed", "message_not_found", "thread_not_found"})
_UNREACHABLE = frozenset(
    {
        "channel_not_found",
        "is_archived",
        "messages_tab_disabled",
        "no_permission",
        "not_in_channel",
        "user_not_in_channel",
    }
)
_INERT: Mapping[str, Any] = {"unfurl_links": False, "unfurl_media": False, "link_names": False, "parse": "none"}
_PAGES = 10
_LOOKING_PATIENCE = 30.0
_SHORTEST_REST = 500


@dataclass(frozen=True, slots=True)
class Spot:
    """Where messages go.

    Attributes:
        channel: id of a channel, or of a person for their direct messages.
        thread: the message that they stand below; empty for none.
    """

    channel: str
    thread: str = ""


class Messages:
    """Messages of the bot.

    Args:
        calls: the Web API.
    """

    def __init__(self, calls: SlackCalls) -> None:
        self.calls = calls

    async def post(self, spot: Spot, post: Post, key: str = "") -> tuple[str, ...]:
        """Post one message; its id. More than one where Slack takes it as plain text only, and it is long.

        Args:
            spot: where.
            post: what it shows.
            key: by which :meth:`keyed` finds it, whichever process posted it.

        Raises:
            RefusedError: Slack does not take it, in whatever form.
            UnavailableError: it could not be delivered in time.
        """
        try:
            return (await self._post(spot, post.text, post.blocks, key),)
        except RefusedError as error:
            if error.code not in _UNSHOWABLE:
                raise
            _log_refused(error)
        first, *more = post.plain
        return (await self._post(spot, first, key=key), *[await self._post(spot, text) for text in more])

    async def try_post(self, spot: Spot, post: Post, key: str) -> str:
        """Post without waiting or repeating; ``key`` finds it when the outcome is unclear.

        Raises:
            UnavailableError: it failed.
        """
        arguments = _arguments(spot, post.text, post.blocks, key)
        return str((await self.calls.once("chat.postMessage", pace=spot.channel, **arguments))["ts"])

    async def change(self, channel: str, message: str, post: Post, key: str = "") -> None:
        """Show something else in a message's place; ``key`` takes the place of the one that it was posted with.

        Raises:
            NotFoundError: the message is gone, or cannot be changed any more.
            UnavailableError: it was not delivered.
        """
        try:
            await self._change(channel, message, post.text, post.blocks, key)
        except RefusedError as error:
            if error.code in _GONE:
                raise NotFoundError(f"The message {message} is gone.", "") from error
            if error.code not in _UNSHOWABLE:
                raise
            _log_refused(error)
            await self._change(channel, message, post.text, (), key)

    async def remove(self, channel: str, message: str) -> None:
        """Delete one of our messages, if it is still there; never raises."""
        try:
            await self.calls.call("chat.delete", channel=channel, ts=message)
        except UnavailableError as error:
            logger.warning("A message could not be removed: %s", error)

    async def whisper(self, spot: Spot, person: str, post: Post) -> str:
        """Post a message that only one person sees; its id, which cannot be used to change it.

        Raises:
            RefusedError: the person or the bot is not in the channel.
            UnavailableError: it could not be delivered in time.
        """
        try:
            return await self._whisper(spot, person, post.text, post.blocks)
        except RefusedError as error:
            if error.code not in _UNSHOWABLE:
                raise
            _log_refused(error)
        return [await self._whisper(spot, person, text) for text in post.plain][-1]

    async def find(self, spot: Spot, key: str) -> str:
        """The id of the message that was posted with a key; empty when there is none."""
        return (await self.keyed(spot, key)).get(key, "")

    async def keyed(self, spot: Spot, beginning: str) -> dict[str, str]:
        """Our messages whose key begins so: key → id.

        Raises:
            UnavailableError: Slack could not be asked.
        """
        found: dict[str, str] = {}
        method = "conversations.replies" if spot.thread else "conversations.history"
        cursor = ""
        for _ in range(_PAGES if spot.thread else 1):
            page = await self.calls.call(
                method,
                patience=_LOOKING_PATIENCE,
                channel=spot.channel,
                ts=spot.thread or None,
                limit=200,
                include_all_metadata=True,
                cursor=cursor or None,
            )
            for message in page.get("messages", ()):
                key = _key_of(message)
                if key and key.startswith(beginning):
                    found.setdefault(key, str(message["ts"]))
            cursor = str((page.get("response_metadata") or {}).get("next_cursor", ""))
            if not cursor:
                break
        return found

    async def _post(self, spot: Spot, text: str, blocks: Sequence[Mapping[str, Any]] = (), key: str = "") -> str:
        key = key or uuid.uuid4().hex

        async def done_already() -> Data | None:
            try:
                found = await self.find(spot, key)
            except UnavailableError:
                # Twice is better than never.
                return None
            return {"ts": found} if found else None

        arguments = _arguments(spot, text, blocks, key)
        sent = await self.calls.call("chat.postMessage", pace=spot.channel, done_already=done_already, **arguments)
        await self._continue_truncated(spot, text, sent)
        return str(sent["ts"])

    async def _whisper(self, spot: Spot, person: str, text: str, blocks: Sequence[Mapping[str, Any]] = ()) -> str:
        sent = await self.calls.call(
            "chat.postEphemeral",
            pace=spot.channel,
            channel=spot.channel,
            user=person,
            thread_ts=spot.thread or None,
            text=text,
            blocks=list(blocks) or None,
            link_names=False,
            parse="none",
        )
        return str(sent.get("message_ts", ""))

    async def _continue_truncated(self, spot: Spot, text: str, sent: Data) -> None:
        """Slack says in a warning only that it cut a text; what is missing follows in a further message."""
        warnings = (sent.get("response_metadata") or {}).get("warnings") or ()
        if "message_truncated" not in warnings:
            return
        kept = str((sent.get("message") or {}).get("text", ""))
        logger.error("Slack cut a message of %d characters to %d", len(text), len(kept))
        missing = text[_common(text, kept) :]
        for part in wrapped(missing, max(len(kept) // 2, _SHORTEST_REST)):
            await self._post(spot, part)

    async def _change(
        self, channel: str, message: str, text: str, blocks: Sequence[Mapping[str, Any]], key: str
    ) -> None:
        await self.calls.call(
            "chat.update",
            channel=channel,
            ts=message,
            text=text,
            blocks=list(blocks),
            metadata=_metadata(key) if key else None,
            **_INERT,
        )


def unreachable(error: UnavailableError) -> bool:
    """Whether a message was refused because the bot or the person cannot be reached in that place."""
    return isinstance(error, RefusedError) and error.code in _UNREACHABLE


def _arguments(spot: Spot, text: str, blocks: Sequence[Mapping[str, Any]], key: str) -> dict[str, Any]:
    return {
        "channel": spot.channel,
        "thread_ts": spot.thread or None,
        "text": text,
        "blocks": list(blocks) or None,
        "metadata": _metadata(key),
        **_INERT,
    }


def _metadata(key: str) -> dict[str, Any]:
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key}}


def _key_of(message: Mapping[str, Any]) -> str:
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    return str(payload.get("key", "")) if metadata.get("event_type") == EVENT_TYPE else ""


def _common(text: str, kept: str) -> int:
    for place, (one, other) in enumerate(zip(text, kept, strict=False)):
        if one != other:
            return place
    return min(len(text), len(kept))


def _log_refused(error: RefusedError) -> None:
    logger.error("Slack refused the blocks of a message (%s); it is sent as plain text: %s", error.code, error.details)
