"""A reply as the fixed JSON contract of ``gaplight ask --json``. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from store.records import Reply

_TIMINGS = ("embed", "search", "gate", "answer", "total")


def reply_as_json(reply: Reply, request_id: object = None) -> dict[str, Any]:
    """The reply as plain values.

    Args:
        reply: any reply.
        request_id: the ``id`` of a batch line, of any JSON type; left out when None.
    """
    values: dict[str, Any] = {} if request_id is None else {"id": request_id}
    return values | {
        "question": reply.question,
        "status": reply.status.value,
        "reason": reply.reason.value if reply.reason else None,
        "answer": reply.answer,
        "citations": [asdict(citation) | {"score": round(citation.score, 4)} for citation in reply.citations],
        "passages": [
            {"document": p.document, "section": p.section, "score": round(p.score, 4), "rank": p.rank}
            for p in reply.passages
        ],
        "max_score": round(reply.max_score, 4),
        "support": round(reply.support, 6),
        "rules": [rule.value for rule in reply.rules],
        "gap": (
            {
                "id": reply.gap.id,
                "type": reply.gap.type.value,
                "reasons": [reason.value for reason in reply.gap.reasons],
            }
            if reply.gap
            else None
        ),
        "policy": reply.policy,
        "timings_ms": {name: round(reply.timings_ms.get(name, 0.0), 3) for name in _TIMINGS},
        "notes": list(reply.notes),
    }
