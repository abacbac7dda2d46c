"""Speed, as ratios to what cannot be avoided: ``make bench``, or ``python -m tests.benchmarks [FOLDER...]``.

The folders (default: the descriptions of the installed packages) are ingested with the real model. Asking is measured
in an index of 50,000 chunks whose texts are drawn from the same documents and whose vectors are hashed words: the
search works on the full size, and nobody has to wait for 50,000 embeddings.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from bot.demo_corpus import write_package_descriptions
from tests.benchmarks import asking, chatting, filtering, ingesting


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--chunks", type=int, default=50_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument(
        "--chat", type=int, default=0, metavar="N", help="measure a burst of N questions in chat instead"
    )
    parser.add_argument(
        "--filters", action="store_true", help="measure scopes and many collections in --chunks chunks instead"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gaplight-bench-") as name:
        work = Path(name)
        folders = options.folders
        if not folders:
            write_package_descriptions(work / "packages")
            folders = [work / "packages"]
        if options.chat:
            rows = chatting.measure(work / "chat", folders, options.chat)
        elif options.filters:
            rows = filtering.measure(work / "filters", options.chunks)
        else:
            rows = ingesting.measure(work / "ingest", folders)
            rows += asking.measure(work / "ask", folders, options.chunks, options.questions)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for label, value, wanted in rows:
        print(f"{label:<68} {value:>12}  {wanted}")


if __name__ == "__main__":
    main()
