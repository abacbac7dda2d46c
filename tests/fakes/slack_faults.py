"""What goes wrong with Slack: limits, errors, silence. Planned one by one, or by a seeded die."""

import random
from dataclasses import dataclass, field


@dataclass
class Fault:
    """One failure of a Web API call.

    Attributes:
        kind: ``429``, ``ratelimited`` (in a 200), ``500``, ``html500``, ``error`` (``value`` names it), ``timeout``,
            ``drop`` (the connection breaks), ``truncate`` (the text is cut at ``value`` characters).
        value: see ``kind``; seconds for rate limits and time-outs.
        after: the call has its effect before it fails.
    """

    kind: str
    value: object = 0
    after: bool = False


@dataclass
class Faults:
    """Faults that wait for their calls."""

    planned: dict[str, list] = field(default_factory=dict)
    rate: float = 0.0
    die: random.Random = field(default_factory=lambda: random.Random(7))
    methods: frozenset = frozenset()
    happened: list = field(default_factory=list)
    wait: float = 0.05

    def plan(self, method, *faults):
        """The next calls of a method fail like this; None lets one pass."""
        self.planned.setdefault(method, []).extend(faults)

    def next(self, method):
        """The fault of this call; None for none."""
        queue = self.planned.get(method)
        fault = queue.pop(0) if queue else None
        if fault is None and self.rate and method in self.methods and self.die.random() < self.rate:
            fault = self.die.choice(
                [
                    Fault("429", self.wait),
                    Fault("ratelimited", self.wait),
                    Fault("500"),
                    Fault("500", after=True),
                    Fault("html500"),
                    Fault("drop", after=True),
                    Fault("drop"),
                ]
            )
        if fault is not None:
            self.happened.append((method, fault.kind))
        return fault
