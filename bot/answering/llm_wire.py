"""The OpenAI-compatible chat protocol as plain values: request bodies, replies, streams, refusals. Pure.

Spoken by Ollama, vLLM, llama.cpp, LM Studio and most hosted services, each a little differently; what a server leaves
out or adds must not matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from store.errors import LlmError, LlmFailure

Message = Mapping[str, str]
"""``role`` (system, user or assistant) and ``content``."""

_THOUGHTS = re.compile(r"<(?P<tag>think(?:ing)?|thought|reasoning)>.*?(?:</(?P=tag)>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED_THOUGHT = re.compile(r"\A.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_CONTEXT = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|maximum (?:context|prompt)|exceeds?\b.{0,60}\bcontext|too many tokens"
    r"|prompt (?:is )?too (?:long|large)|(?:input|prompt) (?:tokens|length) .{0,40}exceed|\bn_ctx\b|reduce the length",
    re.IGNORECASE | re.DOTALL,
)
_EXCERPT = 300
_CONTENT_TOO_LARGE, _TOO_MANY, _TIMED_OUT, _UNAUTHORISED, _FORBIDDEN, _MISSING = 413, 429, 408, 401, 403, 404
_SERVER_ERROR = 500


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them."""

    prompt: int
    completion: int


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote. ``text`` is never blank and holds no thoughts; ``usage`` is None where it was not told."""

    text: str
    usage: Usage | None = None


class Llm(Protocol):
    """A language model that answers prompts."""

    def complete(
        self, messages: Sequence[Message], *, answer_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """What the model writes.

        Args:
            messages: the prompt.
            answer_tokens: most tokens of the answer.
            schema: JSON schema that the answer shall follow; servers that don't know schemas ignore it.

        Raises:
            LlmError: there is no answer that can be used; tells which kind of failure it was.
        """


def request_body(
    model: str,
    messages: Sequence[Message],
    *,
    answer_tokens: int,
    schema: Mapping[str, Any] | None = None,
    stream: bool = True,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The body of ``POST /chat/completions``.

    Args:
        model: as the endpoint names it.
        messages: the prompt.
        answer_tokens: most tokens of the answer.
        schema: JSON schema that the answer must follow.
        stream: whether the answer comes in pieces.
        options: further fields; they win, and a ``max_completion_tokens`` among them replaces ``max_tokens``.
    """
    options = options or {}
    body: dict[str, Any] = {"model": model, "messages": [dict(message) for message in messages], "temperature": 0}
    if "max_completion_tokens" not in options:
        body["max_tokens"] = answer_tokens
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if schema is not None:
        named = {"name": "reply", "schema": dict(schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    return body | dict(options)


def read_stream(lines: Iterable[str]) -> Completion:
    """The completion from the lines of a ``text/event-stream``.

    Raises:
        LlmError: an error within the stream, lines that are no JSON, or a completion that is no answer.
    """
    pieces: list[str] = []
    finish, usage, ended = "", None, False
    for line in lines:
        name, _, value = line.partition(":")
        value = value.strip()
        if name.strip() != "data" or not value:
            continue
        if value == "[DONE]":
            ended = True
            break
        part = _object(value)
        usage = _usage(part) or usage
        choice = _first_choice(part)
        finish = _text(choice.get("finish_reason")) or finish
        pieces.append(_content(choice.get("delta")))
    if not ended and not finish:
        raise LlmError(LlmFailure.GARBAGE, "The language model's stream broke off before its end.")
    return finished("".join(pieces), finish, usage)


def read_reply(body: bytes) -> Completion:
    """The completion from a reply in one piece.

    Raises:
        LlmError: it is no JSON object, or its completion is no answer.
    """
    reply = _object(body.decode("utf-8", "replace"))
    choice = _first_choice(reply)
    return finished(_content(choice.get("message")), _text(choice.get("finish_reason")), _usage(reply))


def finished(content: str, finish: str, usage: Usage | None) -> Completion:
    """The completion without the model's thoughts.

    Raises:
        LlmError: the model was stopped before its end, or nothing but blanks and thoughts came.
    """
    if finish == "content_filter":
        raise LlmError(LlmFailure.FILTERED, "The language model's content filter withheld the answer.")
    if finish == "length":
        raise LlmError(
            LlmFailure.CUT_OFF, "The language model's answer was cut off.", "Raise llm.answer_tokens if this recurs."
        )
    text = without_thoughts(content)
    if not text:
        raise LlmError(LlmFailure.EMPTY, "The language model gave an empty answer.")
    return Completion(text, usage)


def read_models(body: bytes) -> tuple[str, ...]:
    """The names of a ``GET /models`` reply; empty when it has another form.

    Raises:
        LlmError: it is no JSON object.
    """
    listed = _object(body.decode("utf-8", "replace")).get("data")
    entries = listed if isinstance(listed, list) else []
    return tuple(name for entry in entries if isinstance(entry, dict) and (name := _text(entry.get("id"))))


def without_thoughts(text: str) -> str:
    """What a reasoning model says in the end, without what it thought before; stripped."""
    text = _THOUGHTS.sub("", text)
    return _UNOPENED_THOUGHT.sub("", text).strip()


def refusal(status: int, body: str, retry_after: str = "") -> LlmError:
    """What a reply with a status other than 200 means.

    Args:
        status: HTTP status.
        body: its text; only an excerpt of it is kept.
        retry_after: the header of that name; only seconds are understood.
    """
    said = " ".join(body.split())[:_EXCERPT]
    told = f"The language model's endpoint answered {status}" + (f": {said}" if said else ".")
    if _is_about_context(status, body):
        return LlmError(LlmFailure.CONTEXT_EXCEEDED, told, "Lower llm.context_tokens to the window it really has.")
    if status in {_UNAUTHORISED, _FORBIDDEN}:
        return LlmError(LlmFailure.REFUSED, told, "Check LLM_API_KEY.")
    if status == _MISSING:
        return LlmError(LlmFailure.REFUSED, told, "Check llm.base_url (it usually ends in /v1) and llm.model.")
    wait = float(retry_after) if re.fullmatch(r"\d{1,6}(\.\d+)?", retry_after.strip()) else 0.0
    if status == _TOO_MANY:
        return LlmError(LlmFailure.RATE_LIMITED, told, retry_after=wait)
    if status >= _SERVER_ERROR or status == _TIMED_OUT:
        return LlmError(LlmFailure.OVERLOADED, told, retry_after=wait)
    return LlmError(LlmFailure.REFUSED, told, "See docs/llm.md for what the endpoint must understand.")


def _is_about_context(status: int, body: str) -> bool:
    if status == _CONTENT_TOO_LARGE:
        return True
    # llama.cpp's and some vLLM servers say it with 500.
    return status in {400, 422, _SERVER_ERROR} and bool(_CONTEXT.search(body))


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        said = " ".join(text.split())[:_EXCERPT]
        raise LlmError(
            LlmFailure.GARBAGE, f"The language model's endpoint sent no JSON: {said!r}.", "Check llm.base_url."
        ) from error
    if not isinstance(value, dict):
        raise LlmError(LlmFailure.GARBAGE, f"The language model's endpoint sent {type(value).__name__}, no object.")
    if value.get("error"):
        error_text = value["error"]
        said = error_text.get("message", error_text) if isinstance(error_text, dict) else error_text
        raise refusal(_SERVER_ERROR, str(said))
    return value


def _first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = reply.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return first if isinstance(first, dict) else {}


def _content(message: object) -> str:
    """A message's text; some servers send it as a list of parts."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return _text(content)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _usage(reply: Mapping[str, Any]) -> Usage | None:
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return None
    counts = [usage.get("prompt_tokens"), usage.get("completion_tokens", 0)]
    prompt, completion = (count if isinstance(count, int) and not isinstance(count, bool) else None for count in counts)
    return None if prompt is None else Usage(prompt, completion or 0)
