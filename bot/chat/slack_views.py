"""The forms that buttons open, and the bot's own page. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.chat.messages import Card, Verb
from bot.chat.slack_blocks import Block, blocks_of_card, text_posts

FORM = "gaplight_form"
"""Callback id of the forms."""
NOTE_BLOCK, NOTE_FIELD = "note", "text"
_BLOCKS_PER_PAGE = 98
_METADATA_LIMIT = 3000
_NOTE_LIMIT = 2000
_NOTHING = (
    "Nothing waits for you. Ask me something in a direct message, mention me in a channel, "
    "or write `/gaplight help` to see what else I do."
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a form was opened from: what the button carried, and where the words that follow are shown.

    Attributes:
        verb, subject: of the button.
        channel, message, thread: where the button stands; empty on the bot's own page.
        response_url: where words can be sent to the one who pressed.
        seen_by_one: nobody but the one who pressed can see the button.
    """

    verb: Verb
    subject: str
    channel: str = ""
    message: str = ""
    thread: str = ""
    response_url: str = ""
    seen_by_one: bool = False

    def packed(self) -> str:
        """For the form to carry along."""
        carried = json.dumps(asdict(self), separators=(",", ":"))
        if len(carried) > _METADATA_LIMIT:
            carried = json.dumps(asdict(self) | {"response_url": ""}, separators=(",", ":"))
        return carried

    @classmethod
    def unpacked(cls, carried: str) -> Origin:
        """What :meth:`packed` made.

        Raises:
            ValueError: it was made by something else.
        """
        try:
            values = json.loads(carried)
            return cls(**values | {"verb": Verb(values["verb"])})
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"no origin: {carried!r}") from error


@dataclass(frozen=True, slots=True)
class _Wording:
    title: str
    label: str
    submit: str
    hint: str
    optional: bool


_FORMS = {
    Verb.UNHELPFUL: _Wording(
        "What was wrong?",
        "What was wrong with the answer?",
        "Send",
        "Out of date, beside the point, incomplete ...",
        True,
    ),
    Verb.REJECT: _Wording(
        "Reject this source", "Why is it rejected?", "Reject", "The reason is kept with the decision.", False
    ),
}
FORM_VERBS = frozenset(_FORMS)
"""Buttons that open a form."""


def form(origin: Origin) -> dict[str, Any]:
    """The form that a button opens."""
    wording = _FORMS[origin.verb]
    return {
        "type": "modal",
        "callback_id": FORM,
        "private_metadata": origin.packed(),
        "title": _plain(wording.title),
        "submit": _plain(wording.submit),
        "close": _plain("Cancel"),
        "blocks": [
            {
                "type": "input",
                "block_id": NOTE_BLOCK,
                "optional": wording.optional,
                "label": _plain(wording.label),
                "element": {
                    "type": "plain_text_input",
                    "action_id": NOTE_FIELD,
                    "multiline": True,
                    "max_length": _NOTE_LIMIT,
                    "placeholder": _plain(wording.hint),
                },
            }
        ],
    }


def note_of(view: Mapping[str, Any]) -> str:
    """What was written into a form that was sent."""
    written = view.get("state", {}).get("values", {}).get(NOTE_BLOCK, {}).get(NOTE_FIELD, {}).get("value")
    return str(written or "").strip()


def home(cards: Sequence[Card]) -> dict[str, Any]:
    """The bot's own page. Cards that do not fit are counted, and where to find them is said."""
    blocks: list[Block] = []
    shown = 0
    for card in cards:
        added = [*([{"type": "divider"}] if blocks else []), *blocks_of_card(card)]
        if len(blocks) + len(added) > _BLOCKS_PER_PAGE:
            break
        blocks += added
        shown += 1
    if not cards:
        blocks += text_posts(_NOTHING)[0].blocks
    elif shown < len(cards):
        blocks += text_posts(f"And {len(cards) - shown} more: write `/gaplight candidates` or `/gaplight gaps`.")[
            0
        ].blocks
    return {"type": "home", "blocks": blocks}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}
