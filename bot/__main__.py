"""The ``gaplight`` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line (see :mod:`bot.cli`); the one place where its errors become words and exit codes."""
    # What reads our output may not know every character (cp1252, a plain C locale): replace rather than fail.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")
    # Set before any library reads them: nothing of ours phones home or asks a hub while questions are answered.
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    from bot.cli import app
    from bot.cli.output import show_error
    from store.errors import GaplightError

    try:
        app(prog_name="gaplight")
    except GaplightError as error:
        show_error(error)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
