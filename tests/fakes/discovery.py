"""The discovery loop over an installation, wired as :mod:`bot.app` does, with chosen finders."""

from __future__ import annotations

from bot.answering.corpus import CorpusWatch
from bot.answering.engine import Parts
from bot.answering.tryout import Tryout
from discovery.closure import Closure, ClosureParts
from discovery.decisions import DecisionParts, Decisions
from discovery.gap_log import GapLog
from discovery.notices import Notices
from discovery.ports import Fetched, Found
from discovery.preview import PreviewParts, Previews
from discovery.provenance import Place, Target
from discovery.regression import Regression
from discovery.updates import Updates
from store.audit import AuditLog
from store.candidates import CandidateStore, candidate_id
from store.errors import NotFoundError
from store.records import Candidate, Question, Source, Topic
from store.search import Searcher, SearchOptions
from store.source_ingest import SourceIngestor
from store.text import informative, terms
from tests.fakes.installation import POLICY


def topic_of(gap):
    """A gap as a topic of its own."""
    words = tuple(term.surface for term in informative(terms(gap.question)))
    return Topic(gap.id[:12], " ".join(words[:6]), gap.question, (gap.id,), words, askers=gap.askers, count=gap.count)


class ShelfFinder:
    """Finds what was put on its shelf: name → text; a new text is a new revision."""

    name = "shelf"

    def __init__(self, texts, licence="MIT"):
        self.texts = dict(texts)
        self.licence = licence
        self.fetches = 0
        self.error = None

    def find(self, topic, limit):
        return Found(tuple(self.source(name) for name in self.texts)[:limit])

    def fetch(self, source):
        self.fetches += 1
        if self.error:
            raise self.error
        name = source.location
        if name not in self.texts or source.revision != self._revision(name):
            raise NotFoundError(f"{name} is gone.", "Look for others.")
        return Fetched(name, self.texts[name].encode())

    def current(self, source):
        return self.source(source.location) if source.location in self.texts else None

    def source(self, name, **changes):
        values = {"title": name, "revision": self._revision(name), "licence": self.licence, "size": 10}
        return Source(key=f"shelf:{name}", finder=self.name, location=name, **values | changes)

    def _revision(self, name):
        return str(hash(self.texts[name]))


class Loop:
    """Everything between a gap and its closure, over one installation."""

    def __init__(self, here, *finders, collection="default", allowed=None, expire_days=30, most=6):
        self.here = here
        self.finders = {finder.name: finder for finder in finders}
        self.candidates = CandidateStore(here.database)
        self.audit = AuditLog(here.database)
        self.target = Target(collection)
        self.engine = here.engine()
        corpus = CorpusWatch(here.index, here.database)
        options = SearchOptions()
        parts = Parts(
            searcher=Searcher(here.index, options),
            gaps=GapLog(here.gaps, lambda: corpus.current().platforms),
            questions=here.questions,
            corpus=corpus.current,
            now=here.clock,
        )
        self.tryout = Tryout(here.index, parts, lambda: POLICY, options, corpus.current)
        self.closure = Closure(
            ClosureParts(
                gaps=here.gaps,
                questions=here.questions,
                audit=self.audit,
                asker=self.tryout.served,
                collections=here.documents.collections,
                now=here.clock,
            )
        )
        self.regression = Regression(self.closure, self.audit, here.documents, lambda: "policy")
        licences = {} if allowed is None else {"allowed": allowed}
        self.decisions = Decisions(
            DecisionParts(
                candidates=self.candidates,
                audit=self.audit,
                claims=here.questions,
                finders=self.finders,
                ingestor=lambda: SourceIngestor(here.index),
                closure=lambda: self.closure,
                regression=lambda: self.regression,
                collections=here.documents.collections,
                now=here.clock,
                expire_days=expire_days,
                **licences,
            )
        )
        self.fine = []
        self.previews = Previews(
            PreviewParts(
                trying=self.tryout,
                finders=self.finders,
                fine=lambda: self.fine,
                place=Place(self.target, here.documents.collections),
                most=most,
                **licences,
            )
        )
        self.notices = Notices(here.questions, here.gaps, self.audit, here.clock)
        self.updates = Updates(self.candidates, self.finders, here.clock)

    def ask(self, text, **values):
        return self.engine.ask(Question(text, **values))

    def gap(self, text, **values):
        """Ask a question that must open a gap; the gap."""
        reply = self.ask(text, **values)
        assert reply.gap, f"{text!r} opened no gap: {reply.status} with support {reply.support:.2f}"
        return self.here.gaps.get(reply.gap.id)

    def topic(self, *gaps, terms=(), platforms=()):
        first = gaps[0]
        ids = tuple(gap.id for gap in gaps)
        return Topic(f"topic-{first.id[:8]}", first.question, first.question, ids, terms, platforms)

    def suggested(self, *gaps, limit=10):
        """Find, try out and store sources for gaps; the candidates, best first."""
        topic = self.topic(*gaps)
        questions = [text for gap in gaps for text in (gap.question, *(one.text for one in gap.additional_questions))]
        found = [source for finder in self.finders.values() for source in finder.find(topic, limit).sources]
        return [self.suggest(topic, tried) for tried in self.previews.preview(topic, questions, found)]

    def suggest(self, topic, tried, **changes):
        values = {
            "topic_label": topic.label,
            "gap_ids": topic.gap_ids,
            "score": tried.score,
            "preview": tried.preview,
            "collection": self.target.collection,
            "created_at": self.here.clock(),
        }
        identity = candidate_id(topic.id, tried.source.key)
        return self.candidates.suggest(Candidate(identity, topic.id, source=tried.source, **values | changes))

    def actions(self, subject=""):
        """What was done, in order."""
        return [entry.action for entry in reversed(self.audit.entries(subject))]
