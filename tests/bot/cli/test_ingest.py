"""What an ingest says of itself, and what programs read of it."""

from bot.cli.ingest import _show
from store.ingest_summary import IngestSummary


def test_the_fields_for_programs_are_fixed():
    names = "added updated unchanged removed failed partial skipped documents chunks seconds"
    assert list(IngestSummary(elsewhere=1).as_json()) == names.split()


def test_people_are_told_what_another_run_brought_in(capsys):
    _show(IngestSummary(added=1, unchanged=3, elsewhere=2, documents=4))
    assert "3 unchanged (2 brought in by another run meanwhile)," in " ".join(capsys.readouterr().out.split())
    _show(IngestSummary(unchanged=3))
    assert "meanwhile" not in capsys.readouterr().out
