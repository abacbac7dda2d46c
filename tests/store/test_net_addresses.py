"""Addresses of remote ends: private ones are meant, those that hand out credentials never are, in no spelling."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.net_addresses import checked_address, masked, numeric_address, refused_host, same_host


@pytest.mark.parametrize(
    "address",
    [
        "",
        "http://127.0.0.1:11434/v1",
        "http://localhost:8000",
        "http://10.1.2.3/api",
        "https://[fd12::1]:8443/v1",
        "http://0.0.0.0:8000",
        "https://api.example.com/v1?version=2",
        "https://slack.com/api/",
        "HTTPS://GITHUB.example/api/v3",
    ],
)
def test_what_operators_mean_stays_as_it_is(address):
    assert checked_address(address) == address


METADATA = [
    "169.254.169.254",
    "169.254.0.1",
    "2852039166",
    "0xA9FEA9FE",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "169.254.169.254.",
    "１６９.254.169.254",
    "169。254。169。254",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[::169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
    "[fd00:ec2::254]",
    "[fd00:0ec2:0:0:0:0:0:254]",
    "[fe80::1]",
    "100.100.100.200",
    "168.63.129.16",
    "metadata.google.internal",
    "METADATA.google.internal.",
]


@pytest.mark.parametrize("host", METADATA)
def test_addresses_that_hand_out_credentials_are_refused_in_every_spelling(host):
    with pytest.raises(ValueError, match=r"hand out credentials|no address such as|does not appear"):
        checked_address(f"http://{host}/latest/meta-data/")


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ftp://x.example/v1", "no address such as"),
        ("file:///etc/passwd", "no address such as"),
        ("gopher://127.0.0.1:6379/_x", "no address such as"),
        ("javascript:alert(1)", "no address such as"),
        ("//x.example/v1", "no address such as"),
        ("127.0.0.1:11434", "no address such as"),
        ("http://", "no address such as"),
        ("https://user:key@x.example/v1", "ends up in logs"),
        ("https://key@x.example/v1", "ends up in logs"),
        ("https://@x.example/v1", "ends up in logs"),
        ("http://x.example\\@169.254.169.254/", "ends up in logs|backslash"),
        ("http://x.example\\y/", "backslash"),
        (" http://x.example", "white space"),
        ("http://x.example/\nHost: y", "white space"),
        ("http://x.example:99999/", "[Pp]ort"),
        ("http://[::]/", "no address of a single machine"),
        ("http://224.0.0.1/", "no address of a single machine"),
    ],
)
def test_what_nobody_means_is_refused_with_the_reason(address, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        checked_address(address)
    assert "key" not in str(caught.value) or "ends up in logs" in str(caught.value)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**16 - 1), st.sampled_from(["decimal", "hex", "octal", "short", "mapped", "nat64"]))
def test_no_link_local_address_passes(tail, spelling):
    number = (169 << 24) | (254 << 16) | tail
    host = {
        "decimal": str(number),
        "hex": hex(number),
        "octal": f"0{number:o}",
        "short": f"169.{number & 0xFFFFFF}",
        "mapped": f"::ffff:{ipaddress.IPv4Address(number)}",
        "nat64": f"64:ff9b::{number >> 16:x}:{number & 0xFFFF:x}",
    }[spelling]
    assert numeric_address(host) == ipaddress.IPv4Address(number)
    assert refused_host(host)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused_in_words(text):
    try:
        taken = checked_address(text)
    except ValueError as refused:
        taken = None
        words = str(refused)
    else:
        words = text
    assert words if taken is None else taken == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://u:p@x.example/a", "https://***@x.example/a"),
        ("at postgresql+psycopg://me:pa@ss@db/x now", "at postgresql+psycopg://***@db/x now"),
        ("https://x.example/a?api_key=abc&q=1", "https://x.example/a?api_key=***&q=1"),
        ("https://x.example/a?X-Amz-Signature=abc", "https://x.example/a?X-Amz-Signature=***"),
        ("https://x.example/a?q=keys", "https://x.example/a?q=keys"),
        ("mail me@x.example", "mail me@x.example"),
    ],
)
def test_what_is_secret_in_an_address_is_masked(text, shown):
    assert masked(text) == shown


def test_the_same_host_has_scheme_host_and_port_in_common():
    assert same_host("https://x.example/a", "https://X.example:443/b")
    assert not same_host("https://x.example/a", "http://x.example/a")
    assert not same_host("https://x.example/a", "https://x.example.evil.example/a")
    assert not same_host("http://127.0.0.1:1/", "http://127.0.0.1:2/")
