"""A digest as one HTML page that needs nothing else and runs nothing.

Everything that people or documents wrote is escaped by the template engine and never part of a template; addresses
become links only when they lead to the web.
"""

from __future__ import annotations

from functools import cache
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from discovery import digest_words
from discovery.charts import chart_svg
from discovery.digest import Digest
from store.records import Candidate


def digest_html(digest: Digest) -> str:
    """The whole digest as a page, its chart included."""
    page = _environment().get_template("digest.html")
    # The chart escapes its own words.
    chart = Markup(chart_svg(digest.chart))  # noqa: S704
    values = {"digest": digest, "title": digest_words.title(digest), "words": digest_words, "chart": chart}
    return page.render(**values, address=_address)


@cache
def _environment() -> Environment:
    return Environment(loader=PackageLoader("discovery"), autoescape=True, undefined=StrictUndefined)


def _address(candidate: Candidate) -> str:
    """The address of a source on the web; empty for anything else."""
    url = candidate.source.url
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in {"http", "https"} and parts.netloc else ""
