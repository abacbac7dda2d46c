"""``topics``, ``round``, ``digest`` as a person calls them."""

import json

import pytest

from tests.bot.cli.test_commands import run

QUESTIONS = [
    "Kubernetes ingress with TLS",
    "How do I configure Kubernetes ingress?",
    "What is the parental leave policy?",
]


@pytest.fixture(scope="module")
def gaplight(tmp_path_factory, model_cache):
    """The command in a folder in which three questions were asked in vain, and one in private words only."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "docs").mkdir()
    (folder / "docs" / "vpn.md").write_text("# VPN\n\nTo reset the VPN, press the blue button.\n")

    def call(*words, **options):
        return run(folder, model_cache, *words, **options)

    assert call("ingest", "docs").returncode == 0
    for question in QUESTIONS:
        assert json.loads(call("ask", question, "--json").stdout)["gap"]
    call.folder = folder
    return call


def test_before_the_first_round_topics_are_shown_as_they_are_now_and_there_is_no_digest(gaplight):
    found = json.loads(gaplight("topics", "--json").stdout)
    assert found["round"] is None
    assert sorted(len(topic["gaps"]) for topic in found["topics"]) == [1, 2]
    assert "Kubernetes ingress" in gaplight("topics").stdout
    done = gaplight("digest")
    assert done.returncode == 1
    assert "There has been no round yet. `gaplight round` makes one." in " ".join(done.stderr.split())


def test_a_preview_is_kept_nowhere(gaplight):
    assert gaplight("digest", "--preview").stdout.startswith("# What the documents don't answer")
    assert gaplight("digest").returncode == 1


def test_a_round_shows_its_digest_and_the_next_one_has_no_news(gaplight):
    first = gaplight("round")
    assert (first.returncode, first.stderr) == (0, "")
    assert "- 3 questions asked in vain, 3 new gaps." in first.stdout
    values = json.loads(gaplight("digest", "--json").stdout)
    assert (values["round"], values["open_topics"], values["quiet"]) == (1, 2, False)
    ingress = next(topic for topic in values["topics"] if "ingress" in topic["label"])
    assert ingress["platforms"] == ["Kubernetes"]
    quiet = gaplight("round")
    assert quiet.stdout.startswith("Nothing new since")
    again = json.loads(gaplight("topics", "--json").stdout)
    assert {topic["id"] for topic in again["topics"]} == {topic["id"] for topic in values["topics"]}
    assert {topic["trend"] for topic in again["topics"]} == {"steady"}


def test_a_digest_is_written_as_the_name_of_the_file_says(gaplight):
    for name, beginning in (("d.html", b"<!DOCTYPE html>"), ("d.md", b""), ("d.png", b"\x89PNG")):
        assert gaplight("digest", "--output", name).returncode == 0
        assert (gaplight.folder / name).read_bytes().startswith(beginning)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("digest", "--output", "d.docx"), 2, "d.docx has no ending that says what to write."),
        (("digest", "--preview", "--post"), 2, "--preview and --post exclude each other."),
        (("digest", "--output", "missing/d.md"), 1, "missing/d.md cannot be written"),
        (("digest", "--post"), 2, "digest.channel is empty"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_next_step(gaplight, words, code, said):
    gaplight("round")
    done = gaplight(*words)
    assert done.returncode == code
    assert said in " ".join(done.stderr.split())


def test_a_zone_that_does_not_exist_is_named(gaplight):
    done = gaplight("digest", GAPLIGHT_DIGEST__TIMEZONE="Europe/Atlantis")
    assert done.returncode == 2
    assert "There is no time zone 'Europe/Atlantis'." in " ".join(done.stderr.split())
