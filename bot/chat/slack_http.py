"""Slack's deliveries over HTTP: nothing is read before its signature was checked over the raw bytes."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

logger = logging.getLogger(__name__)

ALLOWED_SKEW = 300
"""Seconds that a delivery's time may differ from ours, in both directions."""


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What Slack writes into ``X-Slack-Signature``."""
    signed = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def problem_with(secret: str, body: bytes, timestamp: str | None, given: str | None, now: float) -> str:
    """Why a delivery is not Slack's; empty when it is.

    Args:
        secret: the app's signing secret.
        body: the request's body as it arrived.
        timestamp: Slack's header; None where missing.
        given: the signature in Slack's header; None where missing.
        now: seconds since the epoch.
    """
    if not timestamp or not given:
        return "it is not signed"
    try:
        skew = now - int(timestamp)
    except ValueError:
        return "its timestamp is no number"
    if abs(skew) > ALLOWED_SKEW:
        return (
            f"its time differs from ours by {skew:.0f} seconds: somebody sends it again, or the clock of this machine "
            "is wrong (compare it with a time server)"
        )
    expected = signature(secret, timestamp, body)
    # As bytes: a header may hold characters that the comparison of texts does not take.
    if not hmac.compare_digest(expected.encode(), given.encode(errors="replace")):
        return "its signature is wrong: SLACK_SIGNING_SECRET is not that of the app, or it is not from Slack"
    return ""


class Door:
    """Lets Slack's deliveries in, and nobody else's.

    Args:
        app: what handles them.
        secret: the app's signing secret.
        is_open: whether deliveries are taken at the moment.
        clock: seconds since the epoch.
    """

    def __init__(
        self, app: AsyncApp, secret: str, is_open: Callable[[], bool], clock: Callable[[], float] = time.time
    ) -> None:
        self._app = app
        self._secret = secret
        self._is_open = is_open
        self._clock = clock

    async def enter(self, request: web.Request) -> web.Response:
        """Handle one delivery: 401 unless it is Slack's, 503 while none are taken, so that Slack sends it again."""
        body = await request.read()
        headers = request.headers
        problem = problem_with(
            self._secret,
            body,
            headers.get("X-Slack-Request-Timestamp"),
            headers.get("X-Slack-Signature"),
            self._clock(),
        )
        if problem:
            logger.warning("A delivery to %s was refused: %s", request.path, problem)
            return web.json_response({"error": "invalid request"}, status=401)
        if not self._is_open():
            return web.json_response({"error": "not ready"}, status=503)
        try:
            delivery = AsyncBoltRequest(
                body=body.decode(errors="replace"),
                query=request.query_string,
                headers={name: str(value) for name, value in headers.items()},
            )
        except (json.JSONDecodeError, ValueError, TypeError, AttributeError) as error:
            logger.warning("A signed delivery could not be read: %s", error)
            return web.json_response({"error": "unreadable"}, status=400)
        return await to_aiohttp_response(await self._app.async_dispatch(delivery))
