"""A question goes the whole way on every database: ingest, answer, refusal, gap, log, re-ingest, reindex."""

from store.gaps import GapStore
from store.questions import QuestionStore
from store.records import Question, Status
from tests.fakes.installation import Installation


def test_the_whole_way_works_on_sqlite_and_postgresql(database, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "vpn.md").write_text(
        "---\ntags: [network]\n---\n# VPN\n\n## Reset\n\nThe VPN is reset with the blue button.\n"
    )
    (docs / "mail.md").write_text("# Mail\n\nThe mail quota is 5 GB.\n")
    here = Installation(tmp_path / "data", database=database)
    assert here.ingest(docs).added == 2
    engine = here.engine()

    answered = engine.ask(Question("How is the VPN reset with the button?", asker="a"))
    assert (answered.status, answered.citations[0].document) == (Status.ANSWERED, "vpn.md")
    refused = engine.ask(Question("Terraform module best practices", asker="a"))
    assert (refused.status, refused.gap is not None) == (Status.ABSTAINED, True)

    assert [gap.id for gap in GapStore(database).list()] == [refused.gap.id]
    assert QuestionStore(database).get(answered.question_id).status is Status.ANSWERED
    assert here.ingest(docs).unchanged == 2
    assert here.index.rebuild() == 2
    assert engine.ask(Question("How is the VPN reset with the button?")).status is Status.ANSWERED
    here.index.close()
