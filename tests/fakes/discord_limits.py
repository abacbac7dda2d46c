"""What Discord refuses in messages, forms and commands, as it answers it: code 50035 with a path, or 50006."""

from __future__ import annotations

import json
import re

from aiohttp import web

CONTENT = 2000
FIELDS, FIELD_NAME, FIELD_VALUE = 25, 256, 1024
TITLE, DESCRIPTION, EMBEDS, EMBED_TOTAL = 256, 4096, 10, 6000
ROWS, ROW_BUTTONS, LABEL, CUSTOM_ID = 5, 5, 80, 100
COMMAND_NAME = re.compile(r"[-_'\w]{1,32}")


class RefusedError(Exception):
    """An answer that is no success."""

    def __init__(self, status, code, message, errors=None):
        super().__init__(message)
        self.status = status
        self.body = {"code": code, "message": message} | ({"errors": errors} if errors else {})


def answered(data, status=200, headers=None):
    """JSON with exactly the content type that Discord gives it, which its clients compare."""
    body = json.dumps(data).encode()
    return web.Response(body=body, status=status, headers=headers, content_type="application/json")


def size(text):
    """UTF-16 units: the stricter of the two readings of Discord's limits."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def invalid(path, message):
    errors = {"_errors": [{"code": "BASE_TYPE_INVALID", "message": message}]}
    for part in reversed(path.split(".")):
        errors = {part: errors}
    return RefusedError(400, 50035, "Invalid Form Body", errors)


def limited(path, text, most, least=1):
    if not isinstance(text, str) or not least <= size(text) <= most:
        raise invalid(path, f"Must be between {least} and {most} in length.")


def check_message(payload, *, partial=False):
    """Refuse a message that Discord would refuse; ``partial`` for edits, which may leave parts out."""
    content = payload.get("content") or ""
    embeds = payload.get("embeds") or []
    limited("content", content, CONTENT, 0)
    if not partial and not content.strip() and not embeds:
        raise RefusedError(400, 50006, "Cannot send an empty message")
    if partial and "content" in payload and not content.strip() and "embeds" in payload and not embeds:
        raise RefusedError(400, 50006, "Cannot send an empty message")
    if len(embeds) > EMBEDS:
        raise invalid("embeds", "Must be 10 or fewer in length.")
    if sum(map(_embed, embeds)) > EMBED_TOTAL:
        raise invalid("embeds", "Embed size exceeds maximum size of 6000")
    check_components(payload.get("components") or [])


def _embed(embed):
    total = 0
    for name, most in (("title", TITLE), ("description", DESCRIPTION)):
        if name in embed:
            limited(f"embeds.{name}", embed[name], most)
            total += size(embed[name])
    fields = embed.get("fields", [])
    if len(fields) > FIELDS:
        raise invalid("embeds.fields", "Must be 25 or fewer in length.")
    for field in fields:
        for name, most in (("name", FIELD_NAME), ("value", FIELD_VALUE)):
            if not field[name].strip():
                raise invalid(f"embeds.fields.{name}", "This field is required")
            limited(f"embeds.fields.{name}", field[name], most)
            total += size(field[name])
    return total


def check_components(rows):
    if len(rows) > ROWS:
        raise invalid("components", "Must be 5 or fewer in length.")
    seen = set()
    for row in rows:
        if row["type"] != 1 or not 1 <= len(row["components"]) <= ROW_BUTTONS:
            raise invalid("components", "Must be between 1 and 5 in length.")
        for button in row["components"]:
            limited("components.label", button.get("label"), LABEL)
            limited("components.custom_id", button.get("custom_id"), CUSTOM_ID)
            if button["custom_id"] in seen:
                raise invalid("components", "Component custom id cannot be duplicated")
            seen.add(button["custom_id"])


def check_form(form):
    limited("title", form["title"], 45)
    limited("custom_id", form["custom_id"], CUSTOM_ID)
    for row in form["components"]:
        inner = row["components"] if row["type"] == 1 else [row["component"]]
        for field in inner:
            limited("components.custom_id", field["custom_id"], CUSTOM_ID)
            if field.get("placeholder"):
                limited("components.placeholder", field["placeholder"], 100)
            if row["type"] == 1:
                limited("components.label", field["label"], 45)
            else:
                limited("components.label", row["label"], 45)
                if row.get("description"):
                    limited("components.description", row["description"], 100)
            if not 1 <= (field.get("max_length") or 4000) <= 4000:
                raise invalid("components.max_length", "Must be between 1 and 4000.")


def check_commands(commands):
    for command in commands:
        if command["type"] == 1:
            if not COMMAND_NAME.fullmatch(command["name"]) or command["name"] != command["name"].lower():
                raise invalid("name", "Command name is invalid")
            limited("description", command["description"], 100)
            for option in command.get("options", []):
                limited("options.description", option["description"], 100)
                if len(option.get("choices") or []) > 25:
                    raise invalid("options.choices", "Must be 25 or fewer in length.")
        else:
            limited("name", command["name"], 32)


def check_choices(choices):
    if len(choices) > 25:
        raise invalid("data.choices", "Must be 25 or fewer in length.")
    for choice in choices:
        limited("data.choices.name", choice["name"], 100)
        limited("data.choices.value", choice["value"], 100)
