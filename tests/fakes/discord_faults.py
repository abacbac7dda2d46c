"""Everything that can go wrong on the way to Discord and back."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import defaultdict
from dataclasses import dataclass

from tests.fakes.discord_limits import RefusedError, answered


@dataclass
class Fault:
    """Something that goes wrong with the next calls that fit.

    Attributes:
        kind: ``429``, ``500``, ``503``, ``hang``, ``drop``, or ``refuse`` with a code of Discord's.
        done: the call had its effect nevertheless; only its answer is lost.
    """

    kind: str
    method: str
    path: str
    times: int
    done: bool
    retry_after: float
    refusal: RefusedError | None


class Faults:
    """What goes wrong, on purpose or by chance."""

    def __init__(self):
        self._planned = []
        self._closing = asyncio.Event()
        self.rate = 0.0
        self.kinds = ("429", "500", "drop")
        self.random = random.Random(1)
        self.happened = 0

    def plan(self, kind, path, *, method="POST", times=1, done=False, retry_after=0.05, refusal=None):
        self._planned.append(Fault(kind, method, path, times, done, retry_after, refusal))

    def next(self, request):
        for fault in self._planned:
            if fault.times and fault.method == request.method and re.search(fault.path, request.path):
                fault.times -= 1
                return fault
        if self.rate and self.random.random() < self.rate:
            return Fault(self.random.choice(self.kinds), "", "", 0, self.random.random() < 0.5, 0.05, None)
        return None

    async def befall(self, fault, request, handler):
        self.happened += 1
        if fault.done and fault.kind in {"500", "drop", "hang"}:
            await handler(request)
        match fault.kind:
            case "429":
                body = {"message": "You are being rate limited.", "retry_after": fault.retry_after, "global": False}
                headers = {"Via": "1.1 google", "Retry-After": str(fault.retry_after)}
                return answered(body, status=429, headers=headers)
            case "refuse":
                return answered(fault.refusal.body, status=fault.refusal.status)
            case "hang":
                await self._closing.wait()
            case "drop":
                request.transport.abort()
        return answered({"message": "Internal Server Error", "code": 0}, status=int_or(fault.kind, 500))

    def close(self):
        self._closing.set()


def int_or(text, otherwise):
    return int(text) if text.isdigit() else otherwise


class Buckets:
    """Rate limits by route and channel, told in headers as Discord tells them; none before a limit is set."""

    def __init__(self):
        self.count = 0
        self.seconds = 0.0
        self._started = defaultdict(lambda: (0.0, 0))

    async def limited(self, request, handler):
        """Answer a request, or refuse it because there were too many."""
        match = re.search(r"/channels/(\d+)/messages$", request.path)
        if not self.count or request.method != "POST" or match is None:
            return await handler(request)
        now = time.monotonic()
        began, used = self._started[match[1]]
        if now - began >= self.seconds:
            began, used = now, 0
        rest = began + self.seconds - now
        self._started[match[1]] = began, used + 1
        headers = {
            "X-RateLimit-Limit": str(self.count),
            "X-RateLimit-Remaining": str(max(0, self.count - used - 1)),
            "X-RateLimit-Reset-After": f"{rest:.3f}",
            "X-RateLimit-Bucket": "messages",
            "Via": "1.1 google",
        }
        if used >= self.count:
            body = {"message": "You are being rate limited.", "retry_after": rest, "global": False}
            return answered(body, 429, headers)
        response = await handler(request)
        response.headers.update(headers)
        return response
