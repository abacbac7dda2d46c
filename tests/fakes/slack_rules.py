"""What Slack accepts in a message, a page and a form, and what in them calls people."""

import re

LIVE = re.compile(r"<(?:@[UW]|!(?:channel|here|everyone|subteam)|#C)[^>]*>")
"""Tokens that ping people or name a channel."""
_LINK = re.compile(r"<(?:https?://|mailto:)[^<>|\n]+(?:\|[^<>\n]*)?>")
_STRAY = re.compile(r"<[^>\n]*>")

TEXT_ERROR_LIMIT = 40_000
SECTION_LIMIT = 3000
BLOCKS_WEIGHT_LIMIT = 10_500


def units(text):
    """Length the way a JavaScript server counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def texts_in(thing):
    """Every text object of a payload: (type, text, verbatim)."""
    if isinstance(thing, dict):
        if thing.get("type") in {"mrkdwn", "plain_text"} and "text" in thing:
            yield thing["type"], thing["text"], thing.get("verbatim", False)
        else:
            for value in thing.values():
                yield from texts_in(value)
    elif isinstance(thing, list | tuple):
        for value in thing:
            yield from texts_in(value)


def live_tokens(payload):
    """Everything in a message that would ping somebody or turn into a name, in whatever field."""
    found = [token for _, text, _ in texts_in(payload.get("blocks") or []) for token in LIVE.findall(text)]
    found += LIVE.findall(payload.get("text") or "")
    found += [
        "unparsed " + text
        for kind, text, verbatim in texts_in(payload.get("blocks") or [])
        if kind == "mrkdwn" and not verbatim and re.search(r"@(?:here|channel|everyone)\b|(?<!\w)#\w", text)
    ]
    if payload.get("link_names") or payload.get("parse") == "full":
        found.append("names are linked")
    return found


def links_in(text):
    """Addresses of the links of an mrkdwn text."""
    return [token[1:-1].partition("|")[0] for token in _LINK.findall(text)]


def stray_tokens(text):
    """Angle brackets that are no link: Slack would read something into them."""
    return _STRAY.findall(_LINK.sub("", text))


def shown(payload):
    """What a person reads: the words of all blocks, or the text where there are none; entities decoded."""
    blocks = payload.get("blocks")
    text = "\n".join(text for _, text, _ in texts_in(blocks)) if blocks else payload.get("text", "")
    text = re.sub(r"<([^<>|]+)\|([^<>]*)>", r"\2", text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("\u200b", "")


def buttons_of(payload):
    """The buttons of a message by action id, in order; the last one of a kind wins."""
    return {
        element["action_id"]: element
        for block in payload.get("blocks") or []
        if block["type"] == "actions"
        for element in block["elements"]
    }


def block_errors(blocks, most=50):
    """Slack's complaints about blocks; empty when it takes them."""
    if len(blocks) > most:
        return [f"no more than {most} items allowed [json-pointer:/blocks]"]
    errors = []
    for place, block in enumerate(blocks):
        check = _CHECKS.get(block.get("type"))
        problems = check(block) if check else [f"unsupported type: {block.get('type')}"]
        errors += [f"{problem} [json-pointer:/blocks/{place}]" for problem in problems]
    return errors


def weight(blocks):
    """What Slack adds up before it says msg_blocks_too_long."""
    return sum(units(text) for _, text, _ in texts_in(blocks))


def _text(thing, limit, kinds=("plain_text", "mrkdwn")):
    if not isinstance(thing, dict) or thing.get("type") not in kinds:
        return [f"must be one of {kinds}"]
    text = thing.get("text")
    if not isinstance(text, str) or not text.strip():
        return ["must be more than 0 characters"]
    if units(text) > limit:
        return [f"must be less than {limit + 1} characters"]
    if re.search(r"[\ud800-\udfff\x00]", text):
        return ["invalid characters"]
    return []


def _section(block):
    if "text" not in block and not block.get("fields"):
        return ["missing required field: text"]
    errors = _text(block["text"], SECTION_LIMIT) if "text" in block else []
    fields = block.get("fields", [])
    if len(fields) > 10:
        errors.append("no more than 10 fields allowed")
    return errors + [error for one in fields for error in _text(one, 2000)]


def _header(block):
    return _text(block.get("text"), 150, ("plain_text",))


def _context(block):
    elements = block.get("elements", [])
    if not 1 <= len(elements) <= 10:
        return ["between 1 and 10 elements allowed"]
    return [error for one in elements for error in _text(one, SECTION_LIMIT)]


def _actions(block):
    elements = block.get("elements", [])
    if not 1 <= len(elements) <= 25:
        return ["no more than 25 items allowed"]
    ids = [one.get("action_id") for one in elements]
    errors = ["action_id must be unique"] if len(set(ids)) < len(ids) else []
    return errors + [error for one in elements for error in _button(one)]


def _button(button):
    errors = _text(button.get("text"), 75, ("plain_text",))
    if units(button.get("value", "")) > 2000:
        errors.append("value must be less than 2001 characters")
    if units(button.get("action_id", "")) > 255 or not button.get("action_id"):
        errors.append("action_id must be between 1 and 255 characters")
    if "style" in button and button["style"] not in {"primary", "danger"}:
        errors.append("style must be primary or danger")
    return errors


def _input(block):
    element = block.get("element", {})
    errors = _text(block.get("label"), 2000, ("plain_text",))
    if "placeholder" in element:
        errors += _text(element["placeholder"], 150, ("plain_text",))
    return errors


def view_errors(view):
    """Slack's complaints about a form or a page."""
    errors = block_errors(view.get("blocks", []), most=100)
    if len(view.get("private_metadata", "")) > 3000:
        errors.append("private_metadata must be less than 3001 characters")
    if view.get("type") == "modal":
        for name in ("title", "submit", "close"):
            errors += [f"{error} [{name}]" for error in _text(view.get(name), 24, ("plain_text",))]
        if "callback_id" not in view:
            errors.append("missing callback_id")
    return errors


_CHECKS = {
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _actions,
    "input": _input,
    "divider": lambda _block: [],
}
