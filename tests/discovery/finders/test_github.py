"""GitHub as a place where documents are found."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from discovery.finders.github import GithubFinder, GithubOptions
from discovery.finders.github_api import GithubApi
from store.errors import ConfigurationError, NotFoundError, UnavailableError
from store.records import Topic
from tests.fakes.github import TOKEN

GUIDE = "# Rotating keys\n\nRun `billing keys rotate` to rotate the signing key of the billing service.\n"
TOPIC = Topic(
    "t1",
    "rotate billing key",
    "How do I rotate the signing key of the billing service?",
    ("g1",),
    terms=("rotate", "signing key", "billing"),
)


class Clock:
    def __init__(self, github):
        self.github = github

    def __call__(self):
        return self.github.now


@pytest.fixture
def finder(github):
    return made(github)


def made(github, token=TOKEN, **options):
    values = {"organisations": ("acme",)} | options
    return GithubFinder(GithubApi(github.url, token, Clock(github)), GithubOptions(**values))


def places(found):
    return [source.location for source in found.sources]


def test_a_source_says_everything_that_a_decision_needs(github, finder):
    repository = github.add("acme/handbook", {"docs/keys.md": GUIDE})
    (source,) = finder.find(TOPIC, 5).sources
    commit = repository.history[-1]["sha"]
    assert source.key == f"github:{repository.id}:docs/keys.md"
    assert (source.finder, source.location, source.owner) == ("github", "acme/handbook:docs/keys.md", "acme")
    assert (source.revision, source.licence) == (commit, "MIT")
    assert source.url == f"https://github.test/acme/handbook/blob/{commit}/docs/keys.md"
    assert source.updated_at == datetime(2026, 5, 2, 9, 0, tzinfo=UTC)
    assert (source.archived, source.fork) == (False, False)
    assert "our own organisation acme" in source.reasons[0]


def test_ones_own_organisation_comes_first(github, finder):
    github.add("world/keys", {"README.md": GUIDE})
    github.add("acme/handbook", {"docs/keys.md": GUIDE})
    assert places(finder.find(TOPIC, 5)) == ["acme/handbook:docs/keys.md", "world/keys:README.md"]
    assert github.searches[0][1].endswith("extension:md org:acme")


def test_the_wider_world_is_left_alone_when_it_is_not_wanted(github):
    github.add("world/keys", {"README.md": GUIDE})
    assert made(github, wider=False).find(TOPIC, 5).sources == ()
    assert all("org:acme" in query for _, query in github.searches)


def test_fewer_words_are_tried_when_many_find_nothing(github, finder):
    github.add("acme/handbook", {"docs/keys.md": "# Keys\n\nTo rotate them, ask billing.\n"})
    assert "acme/handbook:docs/keys.md" in places(finder.find(replace(TOPIC, terms=("rotate", "keys", "sunflower")), 5))


def test_files_of_a_repository_are_chosen_by_their_paths(github, finder):
    files = {f"docs/page{number}.md": "# Nothing\n\nOther text.\n" for number in range(20)}
    files |= {"docs/rotate-key.md": "# Short\n\nSee billing.\n", "README.md": GUIDE, "src/key.py": "rotate signing key"}
    github.add("world/billing", files)
    found = made(github, organisations=()).find(TOPIC, 3)
    assert places(found) == ["world/billing:docs/rotate-key.md", "world/billing:README.md"]


# Fetching


def test_a_file_is_fetched_at_the_commit_that_it_is_pinned_to(github, finder):
    repository = github.add("acme/handbook", {"docs/keys.md": GUIDE})
    (source,) = finder.find(TOPIC, 5).sources
    repository.commit({"docs/keys.md": "# Gone\n\nNothing here.\n"}, github.now)
    fetched = finder.fetch(source)
    assert (fetched.name, fetched.content) == ("keys.md", GUIDE.encode())


def test_a_file_of_more_than_a_megabyte_is_fetched_whole(github, finder):
    large = GUIDE + "Filler text for the rest of the page.\n" * 40_000
    github.add("acme/handbook", {"docs/keys.md": GUIDE})
    (source,) = finder.find(TOPIC, 5).sources
    commit = github.repositories[0].commit({"docs/keys.md": large}, github.now)
    fetched = finder.fetch(replace(source, revision=commit))
    assert fetched.content == large.encode()
    assert any("/git/blobs/" in request for request in github.requests)


def test_a_file_beyond_the_limit_is_refused_with_its_size(github):
    finder = made(github, size_limit=1_000)
    github.add("acme/handbook", {"docs/keys.md": GUIDE})
    (source,) = finder.find(TOPIC, 5).sources
    commit = github.repositories[0].commit({"docs/keys.md": GUIDE * 100}, github.now)
    with pytest.raises(NotFoundError, match=r"the limit is 0\.0 MB"):
        finder.fetch(replace(source, revision=commit))


def test_a_large_file_pointer_is_no_text(github, finder):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:abc rotate signing key billing service\nsize 9\n"
    github.add("acme/handbook", {"docs/keys.md": pointer})
    (source,) = finder.find(TOPIC, 5).sources
    with pytest.raises(NotFoundError, match="Git LFS"):
        finder.fetch(source)


@pytest.mark.parametrize("kind", ["symlink", "submodule"])
def test_links_and_submodules_are_neither_suggested_nor_fetched(github, finder, kind):
    repository = github.add("acme/billing", {"README.md": GUIDE}, special={"rotate-signing-key.md": kind})
    found = finder.find(TOPIC, 5)
    assert places(found) == ["acme/billing:README.md"]
    linked = replace(found.sources[0], key=f"github:{repository.id}:rotate-signing-key.md")
    with pytest.raises(NotFoundError, match=kind):
        finder.fetch(linked)


def test_a_folder_is_not_fetched(github, finder):
    repository = github.add("acme/handbook", {"docs/keys.md": GUIDE})
    (source,) = finder.find(TOPIC, 5).sources
    with pytest.raises(NotFoundError, match="folder"):
        finder.fetch(replace(source, key=f"github:{repository.id}:docs"))


def test_a_cut_listing_is_said_to_be_cut_and_docs_are_looked_at_all_the_same(github):
    files = {"README.md": GUIDE} | {f"aa/{number}.txt": "x" for number in range(9)}
    github.add("world/billing", {**files, "docs/rotate-signing-key.md": GUIDE}, truncated_after=4)
    found = made(github, organisations=()).find(TOPIC, 5)
    assert "world/billing:docs/rotate-signing-key.md" in places(found)
    assert any("too large to be listed as a whole" in note for note in found.notes)


# What is special about a repository


def test_a_renamed_repository_stays_the_same_source(github, finder):
    repository = github.add("acme/handbook", {"docs/keys.md": GUIDE})
    (before,) = finder.find(TOPIC, 5).sources
    github.rename(repository, "acme/wiki")
    (after,) = finder.find(TOPIC, 5).sources
    assert after.key == before.key
    assert after.location == "acme/wiki:docs/keys.md"
    assert finder.fetch(before).content == GUIDE.encode()


def test_a_moved_address_is_followed(github):
    repository = github.add("acme/handbook", {"docs/keys.md": GUIDE})
    github.rename(repository, "acme/wiki")
    api = GithubApi(github.url, TOKEN, Clock(github))
    assert api.get("/repos/acme/handbook")["full_name"] == "acme/wiki"


def test_archived_forked_and_unlicensed_are_shown_as_such(github, finder):
    github.add("acme/handbook", {"docs/keys.md": GUIDE}, archived=True, license=None)
    (source,) = finder.find(TOPIC, 5).sources
    assert (source.archived, source.licence) == (True, "")
    github.repositories[0].facts["license"] = "NOASSERTION"
    (source,) = made(github).find(TOPIC, 5).sources
    assert source.licence == ""


def test_a_fork_gives_no_results_and_no_error(github, finder):
    github.add("acme/handbook", {"docs/keys.md": GUIDE}, fork=True)
    assert finder.find(TOPIC, 5).sources == ()


def test_a_private_repository_is_named_as_such(github, finder):
    github.add("acme/secret", {"docs/keys.md": GUIDE}, private=True)
    (source,) = finder.find(TOPIC, 5).sources
    assert "Its repository is private." in source.reasons


def test_a_private_repository_of_others_is_not_suggested_though_the_token_reads_it(github, finder):
    github.add("somebody/diary", {"README.md": GUIDE}, private=True)
    found = finder.find(TOPIC, 5)
    assert found.sources == ()
    assert "A private repository that is none of discovery.organisations was left out." in found.notes
    assert "diary" not in str(found.notes)


def test_a_blocked_repository_is_left_out_and_the_search_goes_on(github, finder):
    github.add("acme/blocked", {"docs/keys.md": GUIDE})
    github.add("acme/handbook", {"docs/keys.md": GUIDE})
    searched = finder._search.search

    def block(*arguments):
        page = searched(*arguments)
        github.repositories[0].blocked = True  # between the search and the look at it
        return page

    finder._search.search = block
    found = finder.find(TOPIC, 5)
    assert places(found) == ["acme/handbook:docs/keys.md"]
    assert any("blocked for legal reasons" in note for note in found.notes)


def test_an_empty_repository_is_left_out(github, finder):
    empty = github.add("acme/empty", {})
    with pytest.raises(NotFoundError, match="empty"):
        finder._api.get(f"/repos/{empty.full_name}/commits")


def test_without_a_token_repositories_are_searched_and_code_is_not(github):
    github.add("world/billing", {"README.md": GUIDE})
    found = made(github, token="").find(TOPIC, 5)
    assert places(found) == ["world/billing:README.md"]
    assert any("GITHUB_TOKEN" in note for note in found.notes)
    assert {kind for kind, _ in github.searches} == {"repositories"}


def test_a_wrong_token_is_named(github):
    with pytest.raises(ConfigurationError, match="GITHUB_TOKEN"):
        made(github, token="wrong").find(TOPIC, 5)


def test_where_a_source_stands_now_is_known(github, finder):
    repository = github.add("acme/handbook", {"docs/keys.md": GUIDE, "other.md": "x"})
    (source,) = finder.find(TOPIC, 5).sources
    repository.commit({"other.md": "y"}, github.now)
    assert finder.current(source).revision == source.revision  # commits that leave the file alone are none of it
    newer = repository.commit({"docs/keys.md": GUIDE + "More.\n"}, github.now)
    assert finder.current(source).revision == newer
    repository.commit({"docs/keys.md": None}, github.now)
    assert finder.current(source) is None
    github.repositories.clear()
    assert finder.current(source) is None


# Limits


def test_a_spent_search_limit_says_when_to_come_back_and_asks_no_more(github, finder):
    github.add("acme/handbook", {"docs/keys.md": GUIDE})
    github.limit("code_search", 0)
    github.limit("search", 0)
    found = finder.find(TOPIC, 5)
    assert found.sources == ()
    assert found.retry_at == github.reset + timedelta(seconds=1)
    spent = len(github.requests)
    assert finder.find(TOPIC, 5).retry_at == found.retry_at
    assert len(github.requests) == spent
    github.now = found.retry_at
    github.limit("code_search", 10)
    github.limit("search", 30)
    assert places(finder.find(TOPIC, 5)) == ["acme/handbook:docs/keys.md"]


def test_when_code_may_not_be_searched_any_more_repositories_still_are(github, finder):
    github.add("acme/billing", {"README.md": GUIDE})
    github.limit("code_search", 0)
    found = finder.find(TOPIC, 5)
    assert places(found) == ["acme/billing:README.md"]
    assert found.retry_at is not None


def test_the_last_request_of_a_limit_is_not_followed_by_one_too_many(github, finder):
    github.limit("code_search", 1)
    finder.find(TOPIC, 5)
    assert len([one for one in github.requests if "/search/code" in one]) == 1


@pytest.mark.parametrize(
    ("status", "message", "headers", "seconds"),
    [
        (403, "API rate limit exceeded for user ID 1.", {"X-RateLimit-Remaining": 0, "X-RateLimit-Reset": "855"}, 856),
        (403, "You have exceeded a secondary rate limit.", {"X-RateLimit-Remaining": 4990}, 60),
        (429, "Too many requests", {"Retry-After": 60}, 60),
        (403, "You have exceeded a secondary rate limit.", {"Retry-After": 120}, 120),
    ],
)
def test_every_kind_of_limit_is_told_apart_and_none_is_slept_through(github, finder, status, message, headers, seconds):
    if "X-RateLimit-Reset" in headers:
        headers = {**headers, "X-RateLimit-Reset": int(github.now.timestamp()) + 855}
    github.failures = [(status, message, headers)] * 9
    assert finder.find(TOPIC, 5).retry_at == github.now + timedelta(seconds=seconds)


def test_the_wait_after_secondary_limits_grows_and_has_an_end(github, finder):
    waits = []
    for _ in range(8):
        github.failures = [(403, "You have exceeded a secondary rate limit.", {"X-RateLimit-Remaining": 4990})]
        retry_at = finder.find(TOPIC, 5).retry_at
        waits.append((retry_at - github.now).total_seconds())
        github.now = retry_at
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]


def test_a_missing_permission_is_no_limit_and_names_the_permission(github, finder):
    refused = (403, "Resource not accessible by integration", {"X-Accepted-GitHub-Permissions": "contents=read"})
    github.failures = [refused]
    with pytest.raises(ConfigurationError, match="contents=read"):
        finder.find(TOPIC, 5)
    assert len(github.requests) == 1


def test_a_limit_while_fetching_is_temporary(github, finder):
    github.add("acme/handbook", {"docs/keys.md": GUIDE})
    (source,) = finder.find(TOPIC, 5).sources
    github.limit("core", 0)
    with pytest.raises(UnavailableError, match="request limit"):
        finder.fetch(replace(source, revision="f" * 40))


def test_the_searches_of_a_topic_have_a_budget(github):
    found = made(github, searches=3).find(TOPIC, 5)
    assert len(github.searches) == 3
    assert any("3 searches were spent" in note for note in found.notes)


def test_what_has_not_changed_costs_no_quota(github, finder):
    github.add("acme/handbook", {"docs/keys.md": GUIDE})
    first = finder.find(TOPIC, 5)
    left = dict(github.remaining)
    assert finder.find(TOPIC, 5).sources == first.sources
    assert github.remaining == left


def test_an_end_that_does_not_answer_is_named(github, finder):
    github.close()
    with pytest.raises(UnavailableError, match="does not answer"):
        finder.find(TOPIC, 5)


def test_an_address_that_is_none_is_refused():
    with pytest.raises(ConfigurationError, match=r"github\.api_url"):
        GithubApi("api.github.com", "", lambda: datetime.now(UTC))
