"""What the measuring commands share: asking many questions with a progress bar, and figures in words."""

from __future__ import annotations

from collections.abc import Sequence

from bot.app import App
from bot.cli.output import progress_bar
from discovery.measuring.asked import Asked, ask_all
from discovery.measuring.questions import Probe
from discovery.measuring.statistics import Interval, Share
from discovery.ports import Asker


def asked_with_progress(
    app: App, probes: Sequence[Probe], asker: Asker | None = None, collections: Sequence[str] = ()
) -> list[Asked]:
    """Every question asked as chat would ask it, its gate counting even where chat only watches it.

    Of these collections, or of all where none is named.
    """
    chosen = asker or strict_asker(app)
    with progress_bar() as bar:
        task = bar.add_task("Asking", total=len(probes))
        return ask_all(probes, chosen, lambda: bar.update(task, advance=1), collections)


def strict_asker(app: App, threshold: float | None = None) -> Asker:
    """The engine of chat, leaving no trace, with its gate enforced; with another threshold where one is given."""
    from dataclasses import replace

    from bot.answering.engine import Engine
    from bot.answering.tryout import SilentAsker

    policy = replace(app.policy, mode="enforce")
    if threshold is not None:
        policy = replace(policy, threshold=threshold, version=f"{policy.version}@{threshold:g}")
    return SilentAsker(Engine(app.engine_parts, policy))


def figure(value: float | None, interval: Interval) -> str:
    """A figure with its 95 % interval, such as ``0.93 (0.90 to 0.96)``."""
    return "no data" if value is None else f"{value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def with_interval(share: Share) -> str:
    """A share in per cent with its counts and its 95 % interval."""
    if share.value is None:
        return "no data"
    low, high = share.interval.low, share.interval.high
    return f"{share.value:.0%} ({share.hits} of {share.of}; {low:.0%} to {high:.0%})"
