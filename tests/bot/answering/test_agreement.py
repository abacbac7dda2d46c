"""Numbers and names of a sentence must stand in its source; how they are written does not matter."""

from __future__ import annotations

import pytest

from bot.answering.agreement import disagreements, numbers, read

SOURCE = read(
    "Backup\nThe database is backed up every night at two. Backups are kept for ten days, at most 1,000 of them, "
    "since version 3.11.2 of 2024-06-01. Set `max_keep` in backup.toml, or run `backup --keep 10`. "
    "On macOS the job runs with launchd. The limit is 5 GB."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The database is backed up every night.",
        "Backups are kept for 10 days.",
        "At most 1000 backups are kept.",
        "It needs version 3.11 or 3.11.2.",
        "This is so since June 1, 2024.",
        "Set `max_keep` in backup.toml.",
        "Run `backup --keep 10`.",
        "On macOS, launchd runs it.",
        "The limit is 5.0 GB.",
        "There is one limit.",
        "1. Set `max_keep`.\n2. Run `backup`.",
        "You need to 1) set `max_keep`, and 2) run `backup`.",
        "BACKUP.TOML holds it.",
    ],
)
def test_what_the_source_has_agrees(sentence):
    assert disagreements(sentence, SOURCE) == ()


@pytest.mark.parametrize(
    ("sentence", "foreign"),
    [
        ("Backups are kept for 30 days.", ("30",)),
        ("At most 10,000 backups are kept.", ("10000",)),
        ("It needs version 3.12.", ("3.12",)),
        ("It needs version 3.11.20.", ("3.11.20",)),
        ("Set `min_keep` in backup.toml.", ("min_keep",)),
        ("Set max_keep in config.toml.", ("config.toml",)),
        ("Run `backup --force`.", ("backup --force",)),
        ("Use the --force option.", ("--force",)),
        ("On Windows the job runs too.", ("Windows",)),
        ("On K8s it runs too.", ("Kubernetes",)),
        ("Ask the team of Marseille first.", ("Marseille",)),
        ("The limit is 5 TB.", ("TB",)),
        ("This is so since July 1, 2024.", ("7",)),
    ],
)
def test_what_the_source_does_not_have_is_named(sentence, foreign):
    assert set(foreign) <= set(disagreements(sentence, SOURCE))


def test_a_number_of_the_question_may_be_repeated_beside_one_of_the_source():
    assert disagreements("7 GB is above the limit of 5 GB.", SOURCE, "Can I store 7 GB?") == ()
    assert disagreements("Yes, 7 GB is fine.", SOURCE, "Can I store 7 GB?") == ("7",)


def test_a_platform_of_the_question_is_no_excuse_where_no_source_is_about_it():
    """What holds for macOS must not be told to somebody on Windows."""
    question = "How does the job run on Windows?"
    assert disagreements("On Windows the job runs with launchd.", SOURCE, question) == ("Windows",)
    both = read("On Windows and macOS there is a job.")
    assert disagreements("On Windows the job runs with launchd.", SOURCE, question, both) == ()


def test_a_name_of_the_question_may_be_repeated():
    assert disagreements("In Acmeville the job runs with launchd.", SOURCE, "And in Acmeville?") == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ten of 1,234.5 at 08:30", {"1234.5", "8", "30", "10"}),
        ("3.0 and 007", {"3", "7"}),
        ("二零年12月，两份", {"2", "0", "12"}),
        ("v2.10", {"2.10"}),
        ("PI89498", {"89498"}),
    ],
)
def test_numbers_have_one_spelling(text, found):
    assert set(numbers(text)) == found


def test_german_nouns_are_no_names():
    source = read("Die Sicherung läuft jede Nacht. Der Schlüssel ist blau.")
    assert disagreements("Das ist die Nacht und der Taster der Anlage, nicht ein Name.", source) == ()
