"""The table ``[topics]``: how gaps are brought together, and how much of it is shown."""

from __future__ import annotations

from pydantic import Field

from bot.section import Section
from discovery.clustering import SAME_TOPIC


class TopicsSettings(Section):
    """``[topics]``.

    ``similarity`` is the mean cosine from which questions are one topic: lower makes fewer and wider topics. Sources
    are looked for for ``searched`` topics of a round; a digest shows ``shown`` of them, and ``weeks`` in its chart.
    """

    similarity: float = Field(default=SAME_TOPIC, ge=0, le=1)
    searched: int = Field(default=20, ge=0, le=1000)
    shown: int = Field(default=7, ge=1, le=30)
    weeks: int = Field(default=8, ge=2, le=26)
