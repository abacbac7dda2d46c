"""Masks secrets and personal data in free text before it is stored or leaves the process. Pure.

Every pattern either starts at a fixed word or at the edge of the run of characters it reads, and has bounded
repeats elsewhere: the time grows with the length of the text, whatever somebody pastes.

Left alone on purpose: order numbers, commit hashes, versions, dates, IP addresses and ``git@host`` addresses.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from store.text import clean

SECRET = "[secret]"  # noqa: S105 - the mark that replaces one
EMAIL = "[email]"
PHONE = "[phone]"
IBAN = "[iban]"
CARD = "[card]"

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_URL_LOGIN = re.compile(r"(?<=://)(?:[^\s/@:]{0,200}:[^\s/]{1,200}|[\w-]{20,200})(?=@)")
_WEBHOOK = re.compile(
    r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[\w/-]+|(?<=/api/webhooks/)\d{5,25}/[\w-]+", re.ASCII
)
# Prefixes as published by the issuers; lengths are lower bounds, so that truncated pastes are masked too.
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}"  # Slack
    r"|xapp-[A-Za-z0-9-]{8,}"
    r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}"  # GitHub
    r"|glpat-[\w-]{16,}"  # GitLab
    r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}"  # AWS
    r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}"  # Google
    r"|sk-(?=[A-Za-z_-]{0,40}\d)[\w-]{16,}"  # OpenAI, Anthropic and those that copy their form
    r"|[rs]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}"  # Stripe
    r"|npm_[A-Za-z0-9]{20,}|pypi-[\w-]{16,}|hf_[A-Za-z0-9]{20,}|do[opr]_v1_[a-f0-9]{32,}"
    r"|SG\.[\w-]{16,64}\.[\w-]{16,}"  # SendGrid
    r")",
    re.ASCII,
)
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]{5,}\.eyJ[\w-]{5,}(?:\.[\w-]*)?", re.ASCII)
_DISCORD_TOKEN = re.compile(r"(?<![\w-])[MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,}", re.ASCII)

_HEADER = re.compile(
    r"(?i)(\bauthorization[\"'`]?[ \t]{0,3}[:=][ \t]{0,3}[\"'`]?(?:(?:bearer|basic|token|digest|apikey)[ \t]{1,3})?+)"
    r"(?!\[secret\])[^\s\"'`,;]{4,}"
)
_BEARER = re.compile(r"(?i)(\bbearer[ \t]{1,3})(?=[A-Za-z._~+/=-]{0,60}\d|[\w.~+/=-]{30})[\w.~+/=-]{8,}")
_NAMED = (
    r"(?:passwor[dt]|passwd|passphrase|passcode|kennwort|pwd|secret|token(?!s)|credential"
    r"|api[_ -]?key|access[_-]?key|private[_-]?key|密码|口令|密钥|令牌)"
)
_QUOTED = r"(?:\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`)"
_VALUE = rf"(?:{_QUOTED}(?:{_QUOTED}|[^\s\"'`,;&)\]}}，。；、！？])*|[\"'`]?[^\s\"'`,;&，。；、！？]+)"
_ASSIGNED = re.compile(
    # The first letters alone, so that the engine can pass over most positions quickly.
    rf"(?=[PpKkSsTtCcAa密口令])((?i:{_NAMED}(?:[_-]?(?:access|key|value|id|prod|dev|test|hash|\d{{1,3}})){{0,3}}[\"'`]?"
    rf"(?:[ \t]{{0,3}}(?:=>|:=|={{1,2}}|:(?!:|//)|[：＝是])[ \t]{{0,3}}"
    rf"|[ \t]{{1,3}}(?:is|was|ist)[ \t]{{1,3}}(?=\S{{0,80}}\d)(?=\S{{6}}))))({_VALUE})"
)
_OPTION = re.compile(rf"(?i)(--(?:[a-z]{{1,15}}-){{0,2}}{_NAMED}[ \t]{{1,3}}(?!-))({_VALUE})")
_NO_SECRET = re.compile(
    r"(?i)[\"'`]?(?:\[(?:secret|email|phone|iban|card)\].*|\$\{.*|\$[A-Z_]+|<.*|\{\{.*|\*+|\.{2,}|…"
    r"|true|false|null|none|nil|undefined|yes|no|required|optional|string|str|empty)[\"'`]?[.?!)\]}]*"
)

# Latin, Greek and Cyrillic letters: Chinese words stand right beside an address, without a space.
_MAILBOX = "\\w\u00c0-\u024f\u0370-\u052f"
_EMAIL = re.compile(
    rf"(?<![{_MAILBOX}.+%-])[{_MAILBOX}.+%-]+@(?:[{_MAILBOX}-]+\.)+(?:(?![\d_])[{_MAILBOX}]){{2,}}", re.ASCII
)
# The numbers are captured in a look-ahead: each may begin inside what an earlier, wrong one would have covered.
_IBAN = re.compile(
    r"(?i)(?<![a-z0-9])(?=([a-z]{2}\d{2}(?:[a-z0-9]{11,30}|(?:([ -])[a-z0-9]{4}){2,7}(?:\2[a-z0-9]{1,4})?))"
    r"(?![a-z0-9]))",
    re.ASCII,
)
_IBAN_COUNTRIES = {
    15: "NO", 16: "BE", 18: "DK FI FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK", 21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST", 26: "IS TR", 27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB NI PL SV",
    29: "BR EG PS QA UA", 30: "JO KW MU", 31: "MT SC", 32: "LC", 33: "RU",
}  # fmt: skip
_IBAN_LENGTHS = {country: length for length, countries in _IBAN_COUNTRIES.items() for country in countries.split()}
"""Length by country, from the IBAN registry (ISO 13616)."""
_CARD = re.compile(
    r"(?<![\w.])(?=(\d{13,19}|\d{4}([ -])\d{4}\2\d{4}\2\d{4}(?:\2\d{1,3})?|\d{4}([ -])\d{6}\3\d{4,5})(?!\w))", re.ASCII
)
_CARD_ISSUER = re.compile(r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3[068]\d{12}|6\d{15,18}")
_DIGIT = re.compile("[0-9]")
_GAP = r"[ ()./-]{0,3}"
_PHONE = re.compile(
    # International; the two forms of its prefix.
    rf"(?=[+(\d])(?:(?<![\w.+-])(?:\+|00){_GAP}[1-9](?:{_GAP}\d){{7,14}}(?![\w-])"
    # (555) 123-4567, 1-800-555-0199
    r"|(?<![\w#./:+(-])(?:1[ .-])?(?:\([2-9]\d\d\)[ ]?|[2-9]\d\d[ .-])\d{3}[ .-]\d{4}(?![\w.-])"
    # 030 1234567, 0171/1234567, (030) 123 45 67
    r"|(?<![\w#./:+(-])(?:\(0\d{1,5}\)|0\d{1,5})[ /-]{1,3}\d{3,8}(?:[ -]\d{1,6}){0,3}(?![\w-])"
    # 01 23 45 67 89
    r"|(?<![\w#./:+-])0\d(?:[ .-]\d\d){4}(?![\w.-])"
    # 138 1234 5678
    r"|(?<![\w#./:+-])1[3-9]\d[ -]\d{4}[ -]\d{4}(?![\w-]))",
    re.ASCII,
)
_CALLED = re.compile(
    r"(?i)((?:\b(?:tel|telephone|phone|mobile|cell|fax|whatsapp|handy)\b|电话|手机号?|联系方式)"
    r"(?: ?(?:number|no|nr))?[.:：#]{0,2}[ \t]{0,3})"
    r"\+?\(?\d(?:[ ()./-]{0,2}\d){6,14}(?!\w)",
    re.ASCII,
)
_FEWEST_NATIONAL_DIGITS = 8
_DOUBLED = str.maketrans({str(digit): str(sum(divmod(2 * digit, 10))) for digit in range(10)})
_LETTER_VALUES = {ord(letter): str(int(letter, 36)) for letter in "abcdefghijklmnopqrstuvwxyz"}


def redact(text: str) -> str:
    """The text with secrets and personal data replaced by visible marks such as ``[email]``.

    The text is cleaned first (:func:`store.text.clean`), so that an invisible character cannot hide a token.
    Masking a masked text changes nothing.
    """
    text = clean(text)
    text = _PRIVATE_KEY.sub(SECRET, text)
    for pattern in (_URL_LOGIN, _WEBHOOK) if "/" in text else ():
        text = pattern.sub(SECRET, text)
    for pattern in (_TOKEN, _JWT, _DISCORD_TOKEN):
        text = pattern.sub(SECRET, text)
    for pattern in (_HEADER, _BEARER):
        text = pattern.sub(rf"\1{SECRET}", text)
    for pattern in (_ASSIGNED, _OPTION):
        text = pattern.sub(_masked_value, text)
    if "@" in text:
        text = _EMAIL.sub(_masked_email, text)
    return _masked_digits(text) if _DIGIT.search(text) else text


def _masked_digits(text: str) -> str:
    text = _masked_numbers(text, _IBAN, _iban_end, IBAN)
    text = _masked_numbers(text, _CARD, _card_end, CARD)
    text = _CALLED.sub(rf"\1{PHONE}", text)
    return _PHONE.sub(_masked_phone, text)


def _masked_value(match: re.Match[str]) -> str:
    name, value = match.groups()
    return match.group() if _NO_SECRET.fullmatch(value) else name + SECRET


def _masked_email(match: re.Match[str]) -> str:
    # The login of Git servers is the same for everybody.
    return match.group() if match.group().startswith("git@") else EMAIL


def _masked_phone(match: re.Match[str]) -> str:
    digits = sum(character.isdigit() for character in match.group())
    return PHONE if digits >= _FEWEST_NATIONAL_DIGITS else match.group()


def _masked_numbers(text: str, pattern: re.Pattern[str], length_of: Callable[[str], int], mark: str) -> str:
    """Masks as many characters of each match as ``length_of`` finds to be a number of its kind."""
    parts: list[str] = []
    done = 0
    for match in pattern.finditer(text):
        if match.start() >= done and (length := length_of(match.group(1))):
            parts += [text[done : match.start()], mark]
            done = match.start() + length
    return "".join([*parts, text[done:]])


def _iban_end(text: str) -> int:
    """Where an IBAN with a right checksum (ISO 13616: remainder 1 modulo 97) ends in the text; 0 without one."""
    wanted = _IBAN_LENGTHS.get(text[:2].upper(), 0)
    end = wanted if text[4].isalnum() else wanted + (wanted - 1) // 4
    if not wanted or len(text) < end or text[end : end + 1].isalnum():
        return 0
    value = text[:end].lower().replace(" ", "").replace("-", "")
    return end if int((value[4:] + value[:4]).translate(_LETTER_VALUES)) % 97 == 1 else 0


def _card_end(text: str) -> int:
    """The whole length if issuer prefix, length and Luhn checksum (ISO/IEC 7812-1) are right, otherwise 0."""
    digits = text.replace(" ", "").replace("-", "")
    if not _CARD_ISSUER.fullmatch(digits):
        return 0
    alternating = digits[-1::-2] + digits[-2::-2].translate(_DOUBLED)
    return len(text) if (sum(alternating.encode()) - ord("0") * len(digits)) % 10 == 0 else 0
