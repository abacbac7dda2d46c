"""Addresses of remote ends that an operator sets: which are refused, and how they are shown. Pure.

An address may be private: language models and vector stores often are. What is refused is what nobody means: other
schemes than http and https, a key in the address, which would end up in logs, and the addresses at which clouds hand
out the credentials of the machine.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from urllib.parse import urlsplit

_SCHEMES = frozenset({"http", "https"})
_METADATA_NAMES = frozenset(
    ("metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal")
)
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        # Amazon (IPv6), Alibaba, Oracle's older one, Azure's wire server; link-local ones are refused as a whole.
        ("fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
    )
)
_CREDENTIALS = re.compile(r"(?P<scheme>\b[a-zA-Z][\w+.-]*://)[^\s/?#@]*(?:@[^\s/?#@]*)*@")
_SECRET_PARAMETER = re.compile(
    r"(?P<name>[?&;](?:[\w.-]*(?:key|token|secret|password|passwd|pwd|sig|signature|auth|code|credential)[\w.-]*)=)"
    r"[^\s&;#\"']+",
    re.IGNORECASE,
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def checked_address(value: str, secret: str = "", example: str = "") -> str:
    """An address as it was given, if it may be one; empty stays empty, for remote ends that are not used.

    Args:
        value: as it was given.
        secret: name of the secret in which a key for this remote end belongs; empty where there are several.
        example: an address such as is expected here.

    Raises:
        ValueError: it is refused; says why, without what is secret in it.
    """
    if not value:
        return value
    shown = masked(value)
    if value != value.strip() or any(ord(character) < 33 or ord(character) == 127 for character in value):  # noqa: PLR2004
        raise ValueError(f"{shown!r} holds white space or control characters")
    parts = urlsplit(value)
    if parts.scheme.lower() not in _SCHEMES or not parts.hostname:
        raise ValueError(
            f"{shown!r} cannot be used: an address such as {example} is expected"
            if example
            else f"{shown!r} is no address such as https://HOST/PATH"
        )
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        step = f"put it into {secret}" if secret else "give it as the secret that the documentation names"
        raise ValueError(f"a key in an address ends up in logs; {step}")
    if "\\" in value:
        raise ValueError(f"{shown!r} holds a backslash, which programs read differently")
    _ = parts.port  # raises ValueError for what is no port
    if reason := refused_host(parts.hostname):
        raise ValueError(f"{shown!r} {reason}")
    return value


def refused_host(host: str) -> str:
    """Why a host is not connected to; empty for a host that may be."""
    name = host.rstrip(".").lower()
    address = numeric_address(name)
    if address is None:
        return "is where clouds hand out credentials" if name in _METADATA_NAMES else ""
    if address in _METADATA or address.is_link_local:
        return "is a link-local address, where clouds hand out credentials"
    if address.is_multicast or (address.is_unspecified and address.version == 6):  # noqa: PLR2004 - the IP version
        return "is no address of a single machine"
    return ""


def numeric_address(host: str) -> Address | None:
    """The IP address that a host's name stands for without any look-up; None for a name.

    Every spelling that systems accept is read: decimal, octal and hexadecimal numbers, fewer than four of them, and
    IPv4 inside of IPv6 (mapped, compatible, 6to4, Teredo, NAT64).
    """
    name = host.partition("%")[0].strip("[]")
    try:
        return _unwrapped(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(_ascii_digits(name)))
    except (OSError, ValueError):
        return None


def masked(text: str) -> str:
    """A text without the credentials and secret parameters of the addresses in it."""
    return _SECRET_PARAMETER.sub(r"\g<name>***", _CREDENTIALS.sub(r"\g<scheme>***@", text))


def same_host(one: str, other: str) -> bool:
    """Whether two addresses have scheme, host and port in common."""
    first, second = urlsplit(one), urlsplit(other)
    return (first.scheme.lower(), first.hostname, _port(one)) == (second.scheme.lower(), second.hostname, _port(other))


def _port(address: str) -> int | None:
    parts = urlsplit(address)
    try:
        return parts.port or {"http": 80, "https": 443, "ws": 80, "wss": 443}.get(parts.scheme.lower())
    except ValueError:
        return None


def _unwrapped(address: Address) -> Address:
    """The IPv4 address inside of an IPv6 one, if that is what it stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    if inner is None and address in _NAT64:
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if inner is None and int(address) >> 32 == 0 and int(address) > 1:  # IPv4-compatible; not :: and ::1
        inner = ipaddress.IPv4Address(int(address))
    return inner or address


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def _ascii_digits(name: str) -> str:
    """Full-width and other digits and dots as the resolver's normalisation would give them."""
    return unicodedata.normalize("NFKC", name).replace("。", ".")
