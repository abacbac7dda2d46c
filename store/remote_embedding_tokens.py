"""How long a text is for a model that runs elsewhere: by its own tokeniser, by asking, or by a careful estimate."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from store.embedding_engines import reserved_tokens
from store.errors import ModelError
from store.model_probe import covered_languages
from store.recent import Recent

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Spans = list[tuple[int, int]]
"""Start and end of each token, in characters."""

_REMEMBERED = 4096
_UNKNOWN = ("[UNK]", "<unk>")
_PIECES = re.compile(
    r"""(?P<short>(?<![A-Za-z0-9])[A-Z]?[a-z]{1,3}(?![A-Za-z0-9\u00c0-\u024f]))
      | (?P<word>(?<![0-9])[A-Z]?[a-z]{4,12}(?![a-z0-9\u00c0-\u024f]))
      | (?P<odd>(?<![0-9])[a-z\u00c0-\u024f]{2,}(?![0-9]))
      | (?P<space>[^\S\n]{2,}|\s*\n\s*)
      | (?P<sign>\S)""",
    re.ASCII | re.VERBOSE,
)
_WORD_PIECE = 3
"""Characters of a token in a plain word; measured tokenisers take more of them at once."""
_ODD_PIECE = 2
"""The same in long compounds and words with accents."""
_ONE_BYTE, _TWO_BYTES = 0x80, 0x800


class Tokens(Protocol):
    """Lengths of texts in tokens of one model, special tokens not counted. May be used by many threads."""

    exact: bool
    """Whether the numbers are the model's own, not an estimate."""

    def spans(self, texts: list[str]) -> list[Spans]:
        """The tokens of each text.

        Raises:
            UnavailableError: whoever is asked does not answer.
        """

    def reserved(self, prefix: str) -> int:
        """Tokens that a prefix takes, and one more: it may fall into other tokens together with a text."""

    def special(self) -> int:
        """Tokens that the model adds to every text."""

    def languages(self) -> tuple[str, ...]:
        """See :attr:`store.embedding.ModelIdentity.languages`; empty where it cannot be told."""


class TokenizerTokens:
    """Counted by the model's own tokeniser on this machine.

    Args:
        tokenizer: it.
        states: how many tokens the model reads at once, as its folder says; 0 when it does not.
    """

    exact = True

    def __init__(self, tokenizer: Tokenizer, states: int = 0) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.states = states

    def spans(self, texts: list[str]) -> list[Spans]:
        """See :meth:`Tokens.spans`."""
        return [one.offsets for one in self._tokenizer.encode_batch(texts, add_special_tokens=False)]

    def reserved(self, prefix: str) -> int:
        """See :meth:`Tokens.reserved`."""
        return reserved_tokens(self._tokenizer, prefix)

    def special(self) -> int:
        """See :meth:`Tokens.special`."""
        return self._tokenizer.num_special_tokens_to_add(is_pair=False)

    def languages(self) -> tuple[str, ...]:
        """See :meth:`Tokens.languages`."""
        unknown = {self._tokenizer.token_to_id(name) for name in _UNKNOWN} - {None}

        def measure(text: str) -> tuple[int, int]:
            ids = self._tokenizer.encode(text, add_special_tokens=False).ids
            return len(ids), sum(one in unknown for one in ids)

        return covered_languages(measure)


class AskedTokens:
    """Counted by the endpoint; what was asked is remembered, since a document's parts are measured again and again.

    Args:
        ask: texts → their tokens, one request.
        most: texts that one request may have.
    """

    exact = True

    def __init__(self, ask: Callable[[list[str]], list[Spans]], most: int) -> None:
        self._ask = ask
        self._most = max(1, most)
        self._known: Recent[Spans] = Recent(_REMEMBERED)

    def spans(self, texts: list[str]) -> list[Spans]:
        """See :meth:`Tokens.spans`."""
        found = self._known.values(texts, self._asked)
        return [found[text] for text in texts]

    def _asked(self, texts: list[str]) -> list[Spans]:
        some = (texts[start : start + self._most] for start in range(0, len(texts), self._most))
        return [spans for part in some for spans in self._ask(part)]

    def reserved(self, prefix: str) -> int:
        """See :meth:`Tokens.reserved`."""
        return len(self.spans([prefix])[0]) + 1 if prefix else 0

    def special(self) -> int:
        """See :meth:`Tokens.special`; two is what nearly all models add."""
        return 2

    def languages(self) -> tuple[str, ...]:
        """Unknown: an endpoint does not say which of its tokens stand for something unknown."""
        return ()


class EstimatedTokens:
    """A careful guess for models whose tokeniser is nowhere to be had: rather too many tokens than too few."""

    exact = False

    def spans(self, texts: list[str]) -> list[Spans]:
        """See :meth:`Tokens.spans`."""
        return [estimated(text) for text in texts]

    def reserved(self, prefix: str) -> int:
        """See :meth:`Tokens.reserved`."""
        return len(estimated(prefix)) + 1 if prefix else 0

    def special(self) -> int:
        """See :meth:`Tokens.special`; room for models that add more than two."""
        return 4

    def languages(self) -> tuple[str, ...]:
        """Unknown."""
        return ()


def estimated(text: str) -> Spans:
    """Where tokens would end if a tokeniser were coarse with words and fine with everything else. Pure.

    Three letters of a plain word are a token, two of any other, each digit and sign one, each character of another
    script one for every second byte. On passages of English and Chinese documents that is 1.05 to 2.5 times what the
    tokeniser of the default model counts.
    """
    spans: Spans = []
    for match in _PIECES.finditer(text):
        start, end = match.span()
        match match.lastgroup:
            case "word":
                spans += _cut(start, end, _WORD_PIECE)
            case "odd":
                spans += _cut(start, end, _ODD_PIECE)
            case "sign":
                spans += [(start, end)] * _weight(match[0])
            case _:
                spans.append((start, end))
    return spans


def _cut(start: int, end: int, size: int) -> Spans:
    return [(place, min(place + size, end)) for place in range(start, end, size)]


def _weight(character: str) -> int:
    code = ord(character)
    if code < _ONE_BYTE:
        return 1
    return 1 if code < _TWO_BYTES else len(character.encode("utf-8", "replace")) // 2 + 1


def read_tokenizer(path: Path) -> TokenizerTokens:
    """A tokeniser from a ``tokenizer.json`` or a model folder that has one.

    Raises:
        ModelError: there is none, or it is damaged.
    """
    from tokenizers import Tokenizer

    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise ModelError(f"There is no tokeniser at {str(file)!r}.", "Correct embedding.tokenizer.")
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises bare Exception
        raise ModelError(f"The tokeniser {str(file)!r} cannot be read: {error}.", "Correct embedding.tokenizer.") from (
            error
        )
    return TokenizerTokens(tokenizer, _stated_limit(file.parent))


def _stated_limit(folder: Path) -> int:
    try:
        stated: Any = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
        return max(0, int(stated["max_seq_length"]))
    except (OSError, ValueError, KeyError, TypeError):
        return 0
