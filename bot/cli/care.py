"""Set-up and care: ``init``, ``doctor``, ``reindex``, ``model prepare``, ``forget``."""

from __future__ import annotations

from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.app import opened
from bot.cli.output import console, print_json, progress_bar, report
from bot.cli.state import State
from bot.settings import DEFAULT_CONFIG
from store.errors import ConflictError, UnavailableError, UsageError

if TYPE_CHECKING:
    from bot.finding import Finding

model_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The embedding model.")

_MARKS = {"ok": ("ok", "green"), "warning": ("note", "yellow"), "failed": ("FAIL", "bold red")}
_Json = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: gaplight init --docs wiki/")(init)
    app.command(epilog="Example: gaplight doctor --json")(doctor)
    app.command(epilog="Example: gaplight reindex")(reindex)
    app.command(epilog="Example: gaplight forget slack:U012AB3CD")(forget)
    app.add_typer(model_app, name="model")


def init(
    context: typer.Context,
    docs: Annotated[Path | None, typer.Option(help="Folder of documents to note in the settings.")] = None,
) -> None:
    """Write a settings file with every key explained, and say what to do next."""
    state = context.ensure_object(State)
    target = state.config or DEFAULT_CONFIG
    if target.exists():
        raise ConflictError(
            f"{target} exists already and was left as it is.", "Edit it, or name another with --config."
        )
    text = files("bot").joinpath("data", "gaplight.toml").read_text(encoding="utf-8")
    if docs is not None:
        text = text.replace("# paths = []", f"paths = [{_quoted(docs)}]")
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        _leave_nothing_half_written(target)
        raise UnavailableError(
            f"{target} cannot be written: {error.strerror}.", "Name another with --config."
        ) from error
    path = docs or "docs/"
    console().print(f"{target} written. Next: gaplight ingest {path}, then: gaplight ask 'How do I ...?'", markup=False)


def _leave_nothing_half_written(target: Path) -> None:
    """The next attempt would take it for settings that somebody has edited."""
    if target.is_file():
        target.unlink(missing_ok=True)


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def doctor(context: typer.Context, as_json: _Json = False) -> None:
    """Check everything that can be wrong, and say the step that mends it."""
    from bot.checks import examine
    from bot.finding import Verdict

    with opened(context.ensure_object(State).settings, report) as app:
        findings = list(examine(app))
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            _show(finding)
    if any(finding.verdict is Verdict.FAILED for finding in findings):
        raise typer.Exit(1)


def _show(finding: Finding) -> None:
    mark, style = _MARKS[finding.verdict.value]
    target = console()
    target.print(f"{mark:<5}", style=style, end="")
    target.print(f"{finding.check}: {finding.text}", markup=False)
    if finding.advice:
        target.print(f"     {finding.advice}", markup=False)


def reindex(context: typer.Context, as_json: _Json = False) -> None:
    """Rebuild vectors and lexical index from the database, with the configured model."""
    with opened(context.ensure_object(State).settings, report) as app, progress_bar() as bar:
        task = bar.add_task("Indexing", total=None)
        chunks = app.index.rebuild(lambda done, total: bar.update(task, completed=done, total=total))
    if as_json:
        print_json({"chunks": chunks})
    else:
        console().print(f"{chunks} chunks indexed.")


def forget(
    context: typer.Context,
    asker: Annotated[str, typer.Argument(help="The person's id with platform, such as slack:U012AB3CD.")],
    as_json: _Json = False,
) -> None:
    """Delete a person's questions and votes; gaps keep their wording but not who asked."""
    platform, _, person = asker.strip().partition(":")
    # Without a name it would be everybody without one; without a platform nobody, who then seems to be forgotten.
    if not (platform and person):
        raise UsageError(
            f"{asker!r} is no id of a person.", "Give it with its platform, such as slack:U012AB3CD or discord:112233."
        )
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        counts = asdict(app.questions.forget(asker.strip()))
    if as_json:
        print_json(counts)
    else:
        console().print(", ".join(f"{name}: {count}" for name, count in counts.items()) + " deleted", markup=False)


@model_app.command(epilog="Example: gaplight model prepare sentence-transformers/all-MiniLM-L6-v2 --precision fp32")
def prepare(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Model name or folder. Default: embedding.model.")] = None,
    precision: Annotated[Literal["auto", "fp32", "int8"] | None, typer.Option(help="Of the weights.")] = None,
    as_json: _Json = False,
) -> None:
    """Export a sentence-transformers model once, and check that it gives the same vectors."""
    from store.models import prepare as prepare_model

    settings = context.ensure_object(State).settings
    prepared = prepare_model(
        name or settings.embedding.model,
        cache=settings.model_cache,
        precision=precision or settings.embedding.precision,
        progress=report,
    )
    identity = prepared.identity
    if as_json:
        print_json({**identity.as_json(), "folder": str(prepared.folder), "figures": dict(prepared.figures)})
        return
    figures = ", ".join(f"{name}: {value:.5f}" for name, value in prepared.figures.items())
    console().print(
        f"{identity.name}: {identity.precision}, {identity.dimension} dimensions, {identity.max_tokens} tokens, "
        f"run by {identity.engine}. {prepared.fallback_reason}\n{figures}\nIn {prepared.folder}",
        markup=False,
    )
