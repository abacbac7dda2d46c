"""Messages that the bot has posted, and what each stands for: so clicks and redraws work after a restart."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, RowMapping, delete, select, update

from store.columns import index_key
from store.database import Database
from store.statements import upsert
from store.tables import candidates, posts

ANSWER = "answer"
"""Kind of a post whose subject is a question."""
CANDIDATE = "candidate"
"""Kind of a post whose subject is a candidate; redrawn when its version changes."""


@dataclass(frozen=True, slots=True)
class Post:
    """One message of ours.

    Attributes:
        kind: what it shows, such as :data:`ANSWER` or :data:`CANDIDATE`.
        subject: id of what it shows.
        conversation: the thread it stands in, ``channel:thread``.
        asker: whom it answers; empty for cards.
        version: which state of the subject it shows.
    """

    platform: str
    channel: str
    message: str
    kind: str
    subject: str
    conversation: str = ""
    asker: str = ""
    version: int = 0


class PostStore:
    """Our messages; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, *new: Post, now: datetime | None = None) -> None:
        """Remember messages; one that is known is replaced."""
        if not new:
            return
        moment = now or datetime.now(UTC)
        statement = upsert(self._database.dialect, posts, ("platform", "channel", "message"))
        with self._database.begin() as connection:
            connection.execute(statement, [_values(post, moment) for post in new])

    def get(self, platform: str, channel: str, message: str) -> Post | None:
        """What a message stands for; None for a message that is not ours."""
        found = self._select(_this(platform, channel, message))
        return found[0] if found else None

    def showing(self, kind: str, subject: str) -> list[Post]:
        """All messages that show something, oldest first."""
        return self._select((posts.c.kind == kind) & (posts.c.subject == subject))

    def askers_in(self, conversation: str) -> frozenset[str]:
        """The people whom the bot has answered in a conversation; empty when it has not spoken there."""
        query = select(posts.c.asker).where(posts.c.conversation == index_key(conversation), posts.c.kind == ANSWER)
        with self._database.connect() as connection:
            return frozenset(connection.scalars(query))

    def outdated_candidates(self, platform: str) -> list[Post]:
        """Candidate cards that show an older state than the present one, whoever changed it."""
        query = (
            select(posts)
            .join(candidates, candidates.c.id == posts.c.subject)
            .where(posts.c.platform == platform, posts.c.kind == CANDIDATE, posts.c.version < candidates.c.version)
            .order_by(posts.c.posted_at)
        )
        with self._database.connect() as connection:
            return [_post(row._mapping) for row in connection.execute(query)]  # noqa: SLF001 - SQLAlchemy's public way

    def drawn(self, platform: str, channel: str, message: str, version: int) -> None:
        """Note which state a message shows now."""
        with self._database.begin() as connection:
            connection.execute(update(posts).where(_this(platform, channel, message)).values(version=version))

    def remove(self, platform: str, channel: str, message: str) -> None:
        """Forget a message that is gone."""
        with self._database.begin() as connection:
            connection.execute(delete(posts).where(_this(platform, channel, message)))

    def delete_before(self, moment: datetime) -> int:
        """Forget old messages; their buttons say so from then on. Returns how many."""
        with self._database.begin() as connection:
            return connection.execute(delete(posts).where(posts.c.posted_at < moment)).rowcount

    def _select(self, condition: ColumnElement[bool]) -> list[Post]:
        query = select(posts).where(condition).order_by(posts.c.posted_at, posts.c.message)
        with self._database.connect() as connection:
            return [_post(row._mapping) for row in connection.execute(query)]  # noqa: SLF001 - SQLAlchemy's public way


def _values(post: Post, moment: datetime) -> dict[str, object]:
    return {
        "platform": post.platform,
        "channel": post.channel,
        "message": post.message,
        "kind": post.kind,
        "subject": post.subject,
        "conversation": index_key(post.conversation),
        "asker": index_key(post.asker),
        "version": post.version,
        "posted_at": moment,
    }


def _this(platform: str, channel: str, message: str) -> ColumnElement[bool]:
    return (posts.c.platform == platform) & (posts.c.channel == channel) & (posts.c.message == message)


def _post(row: RowMapping) -> Post:
    return Post(**{name: row[name] for name in Post.__slots__})
