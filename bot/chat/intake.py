"""What to do with a message that was heard: the decisions before any work is done. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum

from bot.chat.messages import Addressed, Heard
from discovery.questions import QuestionKind, classify, strip_greeting

_MARK = re.compile(r"[?？](?=\s|[\"')\]*_]|$)|[？]")
_ASKING_WORDS = re.compile(
    r"(?:^|[,.!;:]\s+)(?:how|what|why|when|where|which|who|whose|is|are|does|do|did|can|could|should|would|will|has|have|any(?:one|body)"
    r"|wie|was|warum|wann|wo|welche[rsn]?|wer|kann|gibt es|comment|pourquoi|quand|est-ce|cómo|qué|cuándo|dónde)\b"
    r"|^(?:如何|怎么|怎样|为什么|什么|哪|谁|请问|是否|能否)",
    re.IGNORECASE,
)


class Intake(StrEnum):
    """What happens with a message."""

    IGNORE = "ignore"
    ANSWER = "answer"
    GREET = "greet"
    """The bot was called without a question: say what it can do."""
    REFUSE_OUTSIDER = "refuse_outsider"


def addressed(heard: Heard, *, auto_answer: bool, answered_here: Collection[str]) -> Addressed | None:
    """How a message is meant for the bot; None when it is not.

    Bots are never answered, whatever they say: two of them would go on for ever.

    Args:
        heard: the message.
        auto_answer: the channel opted into automatic answers.
        answered_here: people whom the bot has answered in this conversation. Only they follow up without a mention:
            what others say to each other in the thread is not for the bot.
    """
    if heard.by_bot or not heard.author.id:
        return None
    if heard.direct or heard.mentions_bot:
        return Addressed.DIRECTLY
    if heard.mentions_others or not heard.text.strip():
        return None
    if heard.in_thread and heard.author.id in answered_here:
        return Addressed.FOLLOWING_UP if _worth_answering(heard.text) else None
    if auto_answer and not heard.in_thread and asks(heard.text):
        return Addressed.OVERHEARD
    return None


def how_addressed(heard: Heard) -> Addressed:
    """How a message that was taken in earlier had reached the bot."""
    if heard.direct or heard.mentions_bot:
        return Addressed.DIRECTLY
    return Addressed.FOLLOWING_UP if heard.in_thread else Addressed.OVERHEARD


def take_in(heard: Heard, how: Addressed | None, *, answer_outsiders: bool) -> Intake:
    """What to do with a message that is meant for the bot in this way."""
    if how is None:
        return Intake.IGNORE
    if heard.author.outsider and not answer_outsiders:
        return Intake.REFUSE_OUTSIDER if how is Addressed.DIRECTLY else Intake.IGNORE
    return Intake.ANSWER if heard.text.strip() else Intake.GREET


def _worth_answering(text: str) -> bool:
    """Thanks and the like in a thread need no reply; everything else there may be a follow-up."""
    return classify(text) in {QuestionKind.QUESTION, QuestionKind.VAGUE}


def asks(text: str) -> bool:
    """Whether a message looks like a question: a question mark that ends a sentence, or a question's first word."""
    if classify(text) is not QuestionKind.QUESTION:
        return False
    return bool(_MARK.search(text) or _ASKING_WORDS.search(strip_greeting(text)))
