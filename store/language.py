"""Which language a text is written in: by script, then by its most frequent short words. Pure.

Good enough to tell whether the embedding model can read a question; a few words are all it ever sees.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPT_SHARE = 0.3
"""A script decides from this share of the letters on: one foreign name in a sentence does not."""
_KANA_SHARE = 0.1
"""Japanese mixes kana with ideographs, so that a few kana already tell it from Chinese."""
_MIN_FUNCTION_WORDS = 2


def detect_language(text: str, default: str = "en") -> str:
    """ISO 639-1 code of the likeliest language; ``default`` when nothing tells.

    A Latin-script language other than the default is only named when at least two of its frequent words occur
    and they outnumber those of the default language.
    """
    letters = sum(character.isalpha() for character in text)
    if not letters:
        return default
    for code, pattern in _SCRIPTS:
        share = len(pattern.findall(text)) / letters
        if share >= _SCRIPT_SHARE or (code == "ja" and share >= _KANA_SHARE):
            return code
    words = [word.casefold() for word in _WORD.findall(text)]
    counts = {code: sum(word in known for word in words) for code, known in _function_words().items()}
    best = max(counts, key=lambda code: (counts[code], code == default))
    return best if counts[best] >= _MIN_FUNCTION_WORDS and counts[best] > counts.get(default, 0) else default


@cache
def _function_words() -> dict[str, frozenset[str]]:
    lines = files("store").joinpath("words", "function_words.txt").read_text(encoding="utf-8").splitlines()
    entries = (line.split(":", 1) for line in lines if line and not line.startswith("#"))
    return {code.strip(): frozenset(words.split()) for code, words in entries}
