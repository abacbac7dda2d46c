"""Platforms are recognised under every spelling; ordinary words are left alone."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.platforms import PlatformNames, learn_platforms, load_platforms, parse_platforms
from store.errors import ConfigurationError

NAMES = load_platforms()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Terraform module best practices", {"Terraform"}),
        ("how do i deploy to k8s", {"Kubernetes"}),
        ("Amazon Web Services and aws", {"AWS"}),
        ("Postgres or postgresql?", {"PostgreSQL"}),
        ("GCP billing", {"Google Cloud"}),
        ("JS bundles", {"JavaScript"}),
        ("C++ vs C#", {"C++", "C#"}),
        ("ASP.NET on .NET 8", {".NET"}),
        ("NodeJS, node js and Node.js", {"Node.js"}),
        ("github-actions cache", {"GitHub Actions"}),
        ("sqlserver and SQL Server", {"SQL Server"}),
        ("AWS/GCP", {"AWS", "Google Cloud"}),
        ("Visual Studio Code", {"VS Code"}),
        ("ＡＷＳ", {"AWS"}),
        ("aws_s3_bucket", {"Amazon S3"}),
        ("在Kubernetes上部署", {"Kubernetes"}),
        ("是否支持微信支付和企业微信", {"WeChat Pay", "WeCom"}),
        ("微信登录", {"WeChat"}),
        ("钉钉和飞书", {"DingTalk", "Feishu"}),
        ("Docker's network", {"Docker"}),
    ],
)
def test_a_platform_is_found_under_each_of_its_spellings(text, expected):
    assert NAMES.mentioned(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How do I deploy a Go service?", {"Go"}),
        ("Go modules in a monorepo", {"Go"}),
        ("written in rust", {"Rust"}),
        ("Helm chart values", {"Helm"}),
        ("helm upgrade fails", {"Helm"}),
        ("# Helm", {"Helm"}),
        ("Install Helm first", {"Helm"}),
        ("Restart Consul now", {"Consul"}),
        ("Does Go scale?", {"Go"}),
        ("post to slack", {"Slack"}),
        ("Slack workspace rules", {"Slack"}),
        ("VPN on windows", {"Windows"}),
        ("Windows install fails", {"Windows"}),
        ("Teams meeting link", {"Microsoft Teams"}),
        ("Does it work in Chrome?", {"Chrome"}),
        ("Vault secrets rotation", {"Vault"}),
        ("Spark job on the cluster", {"Spark"}),
        ("an extension in C", {"C"}),
        ("Flask app", {"Flask"}),
        ("our Oracle database", {"Oracle Database"}),
    ],
)
def test_an_ambiguous_name_counts_where_context_shows_the_product(text, expected):
    assert NAMES.mentioned(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Go to the settings page",
        "let's go",
        "express yourself",
        "Express your gratitude",
        "open the windows",
        "React to a message",
        "Render the template",
        "cut some slack",
        "the chef cooks",
        "a spark of joy",
        "Segment users by region",
        "Teams that are on call",
        "Edge cases",
        "vitamin C",
        "Node metrics",
        "Exchange tokens for a session",
        "rust on the pipe",
        "How To Express Your Gratitude Today",
        "swift answer",
        "the vault at the bank",
        "notion of time",
        "linear growth",
        "salt and pepper",
        "go-live checklist",
        "a puppet theatre",
        "Zoom into the picture",
        "Excel at your work",
        "heap of sand",
        "MAC address",
        "Can I pay with American Express?",
        "American Express cards",
    ],
)
def test_an_ordinary_word_is_no_platform(text):
    assert NAMES.mentioned(text) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "see https://github.com/x/y",
        "mail me@slack.com",
        "app.js",
        "example.net",
        "awsome",
        "kubernetesish",
        "javascripting",
        "",
        "   ",
    ],
)
def test_parts_of_words_addresses_and_file_names_are_no_platform(text):
    assert NAMES.mentioned(text) == frozenset()


def test_a_longer_name_hides_the_shorter_one_but_touches_it():
    assert NAMES.mentioned("GitHub Actions cache") == {"GitHub Actions"}
    assert NAMES.touched("GitHub Actions cache") == {"GitHub Actions", "GitHub"}


def test_splitting_gives_names_in_order_and_the_rest():
    names, rest = NAMES.split("move k8s logs from AWS to Azure")
    assert names == ("Kubernetes", "AWS", "Azure")
    assert rest.split() == ["move", "logs", "from", "to"]


def test_no_spelling_belongs_to_two_platforms():
    seen = {}
    for platform in NAMES.platforms:
        for spelling in (platform.name, *platform.aliases, *platform.ambiguous_aliases):
            assert seen.setdefault(spelling.casefold(), platform.name) == platform.name, spelling
    assert len(NAMES.platforms) >= 200


def test_every_unambiguous_spelling_is_recognised_as_its_platform():
    for platform in NAMES.platforms:
        for spelling in platform.aliases if platform.ambiguous else (platform.name, *platform.aliases):
            assert NAMES.mentioned(f"how about {spelling} here") == {platform.name}, spelling


def test_a_passage_is_matched_quickly():
    """A passage of 1,500 characters takes well under a millisecond of processor time, so that ten of them cost nothing."""
    sentence = "Restart the ingress controller of the cluster after the change was applied, then check Grafana for errors on each node. "
    text = (sentence * 20)[:1500]
    started = time.process_time()
    for _ in range(200):
        NAMES.mentioned(text)
    assert (time.process_time() - started) / 200 < 0.001


def test_learned_names_are_added_without_changing_the_old_ones():
    learned = NAMES.with_learned({"OrbitDesk", "Apollo", "aws", " ", "k8s"})
    assert learned.mentioned("How do I install orbitdesk?") == {"OrbitDesk"}
    assert learned.mentioned("Deploys with Apollo fail") == {"Apollo"}
    assert learned.mentioned("an apollo story") == frozenset()
    assert learned.mentioned("aws") == {"AWS"}
    assert NAMES.mentioned("OrbitDesk") == frozenset()
    assert learned.with_learned({"OrbitDesk"}).platforms == learned.platforms


def test_names_that_recur_in_headings_are_learned():
    headings = [
        "Backups with Borgmatic\nRestoring a single file",
        "How we schedule Borgmatic jobs\nOrbitDesk tickets",
        "Closing OrbitDesk tickets\nVPN setup\nUse SSO",
        "What to do when a VPN fails\nFixing SSO",
    ]
    assert learn_platforms(headings, [], NAMES) == {"Borgmatic", "OrbitDesk"}


def test_a_tag_confirms_a_heading():
    assert learn_platforms(["Running nanoWidget locally"], ["nanowidget"], NAMES) == {"nanoWidget"}
    assert learn_platforms(["Running nanoWidget locally"], ["howto", "howto"], NAMES) == frozenset()


@pytest.mark.parametrize(
    "headings",
    [
        ["Configure The Backup Job", "Restore The Backup Job"],
        ["Fix the Backup now", "Take a backup"],
        ["Restart in December", "Freeze in December"],
        ["Using IPv6 and OAuth2", "Why IPv6 and OAuth2"],
        ["Deploys on Kubernetes", "Upgrade of Kubernetes"],
        ["Call `getElementById`", "Why `getElementById` fails"],
        ["Upgrade to v2", "Notes on v2"],
        ["Catch StaleConnectionException", "Log StaleConnectionException"],
        ["Only OrbitDesk\nOnly OrbitDesk again"],
        [],
        ["", "\n\n"],
    ],
)
def test_common_words_known_names_and_single_sightings_are_not_learned(headings):
    assert learn_platforms(headings, [], NAMES) == frozenset()


@pytest.mark.parametrize("entry", ["alias", {"alias": []}, [1], 5])
def test_a_malformed_entry_is_refused_by_name(entry):
    with pytest.raises(ConfigurationError) as refused:
        parse_platforms({"tools": {"Widget": entry}})
    assert "'Widget'" in refused.value.problem


def test_an_empty_list_names_nothing():
    assert PlatformNames().mentioned("Terraform on AWS") == frozenset()


@settings(max_examples=300, deadline=None)
@given(
    st.text()
    | st.lists(
        st.sampled_from(["Go", "helm", "AWS", "İ", "ß", ".NET", "C++", "微信", "://", "\n", " ", ".", "Slack", "@"]),
        max_size=20,
    ).map("".join)
)
def test_any_text_is_matched_without_an_error(text):
    assert NAMES.mentioned(text) <= NAMES.names
    assert NAMES.mentioned(text) <= NAMES.touched(text)
    names, rest = NAMES.split(text)
    assert set(names) == NAMES.mentioned(text)
    assert isinstance(rest, str)
    learn_platforms([text, text], [text], NAMES)
