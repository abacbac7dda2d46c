"""Clocks that stand still until a test moves them."""

from __future__ import annotations


class Seconds:
    """Seconds that only ever grow, as :func:`time.monotonic` counts them; move it with ``clock.now += 11``."""

    def __init__(self, now=100.0):
        self.now = now

    def __call__(self):
        return self.now
