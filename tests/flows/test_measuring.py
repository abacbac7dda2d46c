"""Calibrate, probe, evaluate, rules and shadow from the command line, over real documents and the real model."""

from __future__ import annotations

import csv
import json

import pytest
from openpyxl import Workbook

from tests.bot.cli.test_commands import run

PAGES = {
    "travel.md": "# Travel\n\n## Per diem\n\nThe per diem for Germany is 28 euros a day.\n\n## Trains\n\nBook trains two "
    "weeks ahead through the travel desk.\n",
    "errors.md": "# Error codes\n\n## E202\n\nE202 means that the disk of the build agent is full. Delete old "
    "workspaces.\n\n## E303\n\nE303 means that the licence server does not answer. Wait a minute and retry.\n",
    "rota.md": "# On-call rota\n\n| week | primary | secondary |\n| --- | --- | --- |\n| 2024-W28 | Ana | Ben |\n"
    "| 2024-W29 | Ben | Carla |\n\nSwap shifts in the rota channel at least two days ahead.\n",
    "vpn.md": "# VPN\n\nTo reset the VPN client, open Settings, choose Network and press Reset. Then sign in with your "
    "badge number.\n",
    "leave.md": "# Leave\n\nYou have 28 days of paid leave a year. Ask your lead three weeks ahead.\n",
}
COVERED = [
    ("What is the per diem for Germany?", "travel.md"),
    ("How far ahead do I book trains?", "travel.md"),
    ("What does E202 mean?", "errors.md"),
    ("the licence server does not answer, what now?", "errors.md"),
    ("Who is on call in 2024-W28?", "rota.md"),
    ("how do I swap an on-call shift?", "rota.md"),
    ("How do I reset the VPN client?", "vpn.md"),
    ("How many days of paid leave do I have?", "leave.md"),
]
GAPS = [
    "What is the per diem for France?",
    "What does error E999 mean?",
    "Who is on call in 2024-W30?",
    "How do I order a new laptop?",
    "Which database do we use in production?",
    "How do I reset my badge PIN?",
    "How do I install the VPN on Linux?",
    "What is the wifi password?",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory, model_cache):
    folder = tmp_path_factory.mktemp("measuring")
    (folder / "docs").mkdir()
    for name, text in PAGES.items():
        (folder / "docs" / name).write_text(text)
    with (folder / "labelled.csv").open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["question", "answerable", "scenario", "gold_documents"])
        writer.writerows([question, 1, document.removesuffix(".md"), document] for question, document in COVERED)
        writer.writerows([question, 0, "missing", ""] for question in GAPS)
    assert run(folder, model_cache, "ingest", "docs").returncode == 0
    return folder


@pytest.fixture
def gaplight(home, model_cache):
    return lambda *words, **options: run(home, model_cache, *words, **options)


def data(done, code=0):
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_what_a_question_names_decides_in_a_few_pages(gaplight):
    """Values that no document names are refused, the same questions about values that one names are answered."""
    found = data(gaplight("probe", "labelled.csv", "--json"))
    wrong = [item["question"] for item in found["items"] if item["covered"] is (item["question"] in GAPS)]
    assert wrong == []


def test_calibrate_measures_keeps_and_applies(gaplight):
    found = data(gaplight("calibrate", "labelled.csv", "--json"))
    assert set(found) >= {
        "threshold", "separable", "false_accept_rate", "false_abstain_rate", "auroc", "covered", "gaps", "confidence",
        "method",
    }  # fmt: skip
    assert (found["method"], found["confidence"], found["separable"]) == ("labelled", "low", True)
    assert found["gaps"]["max"] < found["threshold"] < found["covered"]["min"]
    assert (found["false_accept_rate"], found["false_abstain_rate"]) == (0.0, 0.0)
    before = data(gaplight("ask", COVERED[0][0], "--json", "--no-log"))
    assert "Applied" in gaplight("calibrate", "labelled.csv", "--apply").stderr
    after = data(gaplight("ask", COVERED[0][0], "--json", "--no-log"))
    assert before["policy"] != after["policy"]
    assert data(gaplight("probe", "labelled.csv", "--json"))["threshold"] == pytest.approx(found["threshold"])
    assert "wins over it" in gaplight("calibrate", "labelled.csv", "--apply", GAPLIGHT_GATE__SUPPORT="0.9").stderr


def test_scores_measured_elsewhere_are_calibrated_but_never_applied(gaplight, home):
    """The worked example as a file."""
    rows = [f"q{n},1,{0.61 + n * 0.013:.3f}" for n in range(11)] + [f"g{n},0,{0.16 + n * 0.031:.3f}" for n in range(11)]
    (home / "scores.csv").write_text("question,answerable,score\n" + "\n".join(rows) + "\n")
    found = data(gaplight("calibrate", "scores.csv", "--json"))
    assert 0.47 <= found["threshold"] <= 0.61
    assert (found["separable"], found["false_accept_rate"], found["false_abstain_rate"]) == (True, 0.0, 0.0)
    assert gaplight("calibrate", "scores.csv", "--apply").returncode == 3


def test_calibrate_refuses_labels_of_one_kind_and_missing_ones(gaplight, home):
    (home / "one.csv").write_text("question,answerable\nHow do I reset the VPN?,1\nHow do I book trains?,1\n")
    (home / "none.csv").write_text("question\nWhy is that so?\n")
    for name, said in (("one.csv", "no question that the documents do not answer"), ("none.csv", "have no label")):
        done = gaplight("calibrate", name)
        assert done.returncode == 2
        assert said in " ".join(done.stderr.split())


def test_calibrate_without_a_file_asks_the_documents(gaplight):
    found = data(gaplight("calibrate", "--json"))
    assert (found["method"], found["confidence"]) == ("unlabelled", "low")


def test_a_probe_writes_a_report_and_compares_it_with_the_last_one(gaplight, home):
    first = data(gaplight("probe", "labelled.csv", "--report", "report", "--json"))
    assert (first["questions"], first["covered"] + first["gaps"]) == (16, 16)
    assert {one["name"] for one in first["scenarios"]} == {"travel", "errors", "rota", "vpn", "leave", "missing"}
    assert sorted(path.name for path in (home / "report").iterdir()) == ["index.html", "items.csv", "probe.json"]
    values = json.loads((home / "report" / "probe.json").read_text(encoding="utf-8"))
    for item in values["items"][:3]:
        item["covered"] = False
    values["items"][-1]["covered"] = True
    (home / "report" / "probe.json").write_text(json.dumps(values), encoding="utf-8")
    again = gaplight("probe", "labelled.csv", "--report", "report")
    assert "3 gaps closed, 1 new gap" in again.stdout
    assert "3 gaps closed, 1 new gap" in (home / "report" / "index.html").read_text(encoding="utf-8")


def test_a_probe_guards_documentation_in_ci(gaplight):
    assert gaplight("probe", "labelled.csv", "--min-coverage", "0.4").returncode == 0
    below = gaplight("probe", "labelled.csv", "--min-coverage", "0.9")
    assert below.returncode == 3
    assert "below 90%" in below.stderr
    assert gaplight("probe", "labelled.csv", "--min-coverage", "2").returncode == 2
    assert gaplight("probe", "missing.csv").returncode == 2


def test_a_probe_reads_excel_and_prints_on_any_terminal(gaplight, home):
    book = Workbook()
    book.active.append(["question", "scenario"])
    book.active.append(["How do I reset the VPN client? ✅ 東京", "ünï 東京 😀"])
    book.save(home / "probe.xlsx")
    done = gaplight("probe", "probe.xlsx", PYTHONIOENCODING="cp1252", COLUMNS="40", NO_COLOR="1")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert data(gaplight("probe", "probe.xlsx", "--json"))["scenarios"][0]["name"] == "ünï 東京 😀"


def test_evaluate_tells_the_stages_apart_and_compares_policies(gaplight, home):
    (home / "lax.toml").write_text("[gate]\nsupport = 0.0\n")
    found = data(gaplight("evaluate", "labelled.csv", "--against", "lax.toml", "--json"))
    assert found["retrieval"]["recall@3"]["value"] == 1.0
    assert found["gate"]["auroc_support"]["value"] > 0.95
    assert found["answer"]["citations_valid"]["value"] == 1.0
    assert found["end_to_end"]["correct"]["n"] == 16
    assert [row["name"] for row in found["slices"]["scenario"]]
    assert found["against"]["gate"]["false_accepts"]["value"] > 0.8
    assert found["difference"]["answered_gaps"]["value"] > 0.5
    assert "End to end" in gaplight("evaluate", "labelled.csv").stdout


def test_rules_and_shadow_read_the_log_and_leave_no_trace(gaplight):
    gaplight("ask", "Which database do we use in production?")
    gaplight("ask", COVERED[0][0])
    found = data(gaplight("rules", "--json"))
    assert found["questions"] == 2
    assert [one["rules"][0] for one in found["rules"]][:2] == ["no_relevant_chunks", "few_distinct_lessons"]
    labelled = data(gaplight("rules", "labelled.csv", "--json"))
    assert (labelled["questions"], labelled["judged"]) == (16, 16)
    assert data(gaplight("rules", "--json")) == found
    shadow = data(gaplight("shadow", "--json"))
    assert shadow["refused"]["of"] == 1
    assert "Nobody has voted" in gaplight("shadow").stderr
