"""How often the loop finds the document that was withheld, and closes the gap with it.

    python -m tests.benchmarks.closed_loop DATA [--work DIR] [--json]

``DATA`` is a folder with ``SET/corpus.jsonl`` (id, title, text), ``SET/questions.jsonl`` (id, question, answerable) and
``SET/withheld.jsonl``, and further sets and folders of Markdown files to hide the withheld documents among. The corpus is
ingested, every question without an answer is asked, and the withheld documents are offered, among at least 300 others,
through the folder finder. Reported are, of the gaps that were detected, the shares for which a right document is
suggested first and among the first three, and the share that approving the first suggestion closes.

Which withheld documents are right for a question is a judgement of ours, made by reading both; see ``RIGHT``.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
import time
from pathlib import Path

from bot.app import opened
from bot.settings import Settings
from store.records import CandidateState, GapState, Question
from store.sources import IngestRequest
from tests.benchmarks.ingesting import MODEL_CACHE
from tests.fakes.discovery import topic_of

SET = "anthropic_docs"
FEWEST_OTHERS = 300
AIMS = {"first": 0.80, "among_three": 0.90, "closed": 0.80}

RIGHT = {
    "1305ea00": ("embeddings#how-to-get-embeddings-with-anthropic", "embeddings#before-implementing-embeddings"),
    "1811c10d": ("classification#evaluation-metrics", "reduce-latency#1-choose-the-right-model"),
    "1d6210b8": ("claude-for-sheets#why-use-claude-for-sheets", "chain-prompts#how-to-chain-prompts"),
    "5590f280": ("chain-of-thought#why-not-let-claude-think", "chain-of-thought#before-implementing-cot"),
    "bc701a6a": ("ticket-routing#evaluation-methodology", "ticket-routing#evaluating-the-performance"),
    "cbde7951": ("ticket-routing#evaluation-methodology", "ticket-routing#evaluating-the-performance"),
    "b01ae76d": ("system-prompts#example-2-financial-analysis",),
    "3e0b683d": ("define-success#building-strong-criteria", "develop-tests#example-evals"),
    "84eaf6d1": ("models#legacy-models", "models#model-comparison", "models#legacy-model-comparison"),
    "ac6df7d9": ("multishot-prompting#why-use-examples",),
    "1be7fb77": ("sheets#claude-for-sheets-workbook-template", "sheets#get-started-with-claude-for-sheets"),
    "e97019e7": ("glossary#ttft", "glossary#latency", "reduce-latency#how-to-measure-latency"),
    "012db0c7": ("ticket-routing#adapting-to-common-scenarios",),
    "9a11efff": ("api#june-20th-2024", "api#may-30th-2024"),
    "89903ad7": ("claude-apps#june-5th-2024", "claude-apps#may-13th-2024"),
    "8372a611": ("develop-tests#example-evals",),
    "9761e499": ("reduce-latency#1-choose-the-right-model", "intro-to-claude#model-options"),
    "c417a6d5": ("#why-chain-prompts", "#chain-prompts-for-complex-tasks", "#how-to-chain-prompts"),
    "9aca7b76": ("models#get-started-with-claude",),
    "6c0f4d5c": ("#chain-prompts-for-complex-tasks", "#why-chain-prompts"),
    "e3d79e9c": ("claude-apps#june-5th-2024", "claude-apps#may-13th-2024"),
    "c4595f69": ("ticket-routing#integrate-claude-into-your-support-workflow",),
    "c832aa3f": ("multishot-prompting#why-use-examples",),
    "d4450a54": ("text-generation#text-capabilities-and-use-cases",),
    "e2aa4790": ("messages-streaming#raw-http-stream-response", "messages-streaming#event-types"),
    "0a4078a0": ("bedrock#list-available-models", "bedrock#subscribe-to-anthropic-models"),
    "f6c21a30": ("intro-to-claude#model-options", "reduce-latency#1-choose-the-right-model"),
    "86d2a94c": ("embeddings#available-voyage-models",),
    "fdb1a88a": ("models#model-comparison", "models#legacy-model-comparison"),
    "4d389de9": ("system-prompts#example-1-legal-contract-analysis",),
    "8019b9f5": ("ticket-routing#additional-considerations",),
    "2c3d41c0": ("ticket-routing#evaluating-the-performance", "ticket-routing#evaluation-methodology"),
    "618c064a": ("vertex-ai#making-requests",),
    "dee02469": ("claude-apps#june-20th-2024", "api#june-20th-2024"),
    "feb91b26": ("ip-addresses#ipv6",),
}


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, help="keep everything in this folder")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gaplight-loop-") as name:
        result = measure(options.data, options.work or Path(name))
    if options.json:
        print(json.dumps(result, ensure_ascii=False))
        return
    for line in result["gaps"]:
        print(f"{line['place'] or '-':>3}  {'closed' if line['closed'] else 'open  '}  {line['question'][:100]}")
    print(f"{result['offered']} files offered, {result['others']} of them others")
    print(f"{result['detected']} of {result['questions']} gaps detected")
    for share, aim in AIMS.items():
        print(f"{share.replace('_', ' '):<12} {result[share]:.2f}  (aim {aim:.2f})")
    print(f"{result['seconds_a_topic']:.1f} s a topic for finding and trying out")


def measure(data: Path, work: Path) -> dict[str, object]:
    """Run the whole loop; figures and one line for each detected gap."""
    docs, pool = work / "docs", work / "pool"
    write(rows(data / SET / "corpus.jsonl"), docs)
    withheld = write(rows(data / SET / "withheld.jsonl"), pool / "withheld")
    others = add_others(data, pool)
    questions = [one for one in rows(data / SET / "questions.jsonl") if not one["answerable"]]
    settings = Settings(
        data=work / "data",
        embedding={"cache": MODEL_CACHE},
        discovery={"folders": (pool,), "limits": {"found": 12, "previews": 6, "candidates": 3}},
    )
    with opened(settings) as app:
        app.ingestor.run(IngestRequest(paths=(docs,)))
        detected = [
            (one, reply.gap.id) for one in questions if (reply := app.engine.ask(Question(one["question"]))).gap
        ]
        found = [detected_gap(app, question, gap_id, withheld) for question, gap_id in detected]
        closed = [close(app, gap) for gap in found]
        in_the_end = [app.gaps.get(gap["gap"]).state is GapState.CLOSED for gap in found]
    return {
        "questions": len(questions),
        "detected": len(detected),
        "offered": len(withheld) + others,
        "others": others,
        "first": share(gap["place"] == 1 for gap in found),
        "among_three": share(gap["place"] is not None and gap["place"] <= 3 for gap in found),
        "closed": share(closed),
        "closed_in_the_end": share(in_the_end),
        "seconds_a_topic": sum(gap["seconds"] for gap in found) / max(1, len(found)),
        "gaps": [{**gap, "closed": so} for gap, so in zip(found, closed, strict=True)],
    }


def detected_gap(app, question, gap_id, withheld):
    """What is suggested for one gap, while nothing has been ingested yet for another."""
    started = time.perf_counter()
    gap = app.gaps.get(gap_id)
    suggested = app.discovery.suggesting.suggest(topic_of(gap))
    seconds = time.perf_counter() - started
    names = [withheld.get(Path(one.source.location).name, "") for one in suggested.candidates]
    right = RIGHT[question["id"]]
    place = next((at for at, name in enumerate(names, 1) if name and any(part in name for part in right)), None)
    first = suggested.candidates[0].id if suggested.candidates else None
    return {"question": gap.question, "gap": gap_id, "place": place, "first": first, "seconds": round(seconds, 2)}


def close(app, gap):
    """Whether the gap is closed once its first suggestion is approved, by this or by an earlier approval."""
    if gap["first"] is None:
        return False
    if app.candidates.get(gap["first"]).state is CandidateState.PENDING:
        app.discovery.decisions.approve(gap["first"], "benchmark")
    else:
        app.discovery.closure.verify([gap["gap"]])
    return app.gaps.get(gap["gap"]).state is GapState.CLOSED


def add_others(data, pool):
    """Copy Markdown folders and write other sets beside the withheld documents; how many files that makes."""
    count = 0
    for folder in sorted(path for path in data.iterdir() if path.is_dir() and path.name != SET):
        if list(folder.rglob("*.md")):
            shutil.copytree(folder, pool / folder.name, dirs_exist_ok=True)
            count += len(list((pool / folder.name).rglob("*.md")))
    for folder in sorted(path for path in data.iterdir() if path.is_dir() and path.name != SET):
        if count < FEWEST_OTHERS and (folder / "corpus.jsonl").exists():
            documents = rows(folder / "corpus.jsonl")
            if sum(len(one["text"]) for one in documents) / len(documents) > 500:  # documents, not one-line examples
                count += len(write(documents, pool / folder.name))
    if count < FEWEST_OTHERS:
        raise SystemExit(f"Only {count} other files are in {data}; at least {FEWEST_OTHERS} are needed.")
    return count


def write(documents, folder):
    """One Markdown file for each document; file name → id."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {}
    for number, one in enumerate(documents):
        place = re.sub(r"[^\w-]+", "_", one["id"])[-80:]
        name = f"{number:05d}_{place}.md"
        title = (one.get("title") or "").strip()
        (folder / name).write_text((f"# {title}\n\n" if title else "") + one["text"], encoding="utf-8")
        names[name] = one["id"]
    return names


def rows(path):
    """The records of a JSON Lines file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def share(hits):
    """Part of the truth values that are true, in [0, 1]."""
    known = list(hits)
    return round(sum(known) / len(known), 3) if known else 0.0


if __name__ == "__main__":
    main()
