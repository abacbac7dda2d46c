"""Threads share heaps, as the C library itself counts them."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

COUNTED = """
import ctypes, re, threading
from bot.memory import keep_memory_together
{told}
libc = ctypes.CDLL(None)
ready = threading.Barrier(9)
def work():
    held = [libc.malloc(1000) for _ in range(100)]
    ready.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
ready.wait()
libc.fopen.restype = libc.malloc_info.restype = ctypes.c_void_p
libc.fopen.argtypes, libc.malloc_info.argtypes = [ctypes.c_char_p] * 2, [ctypes.c_int, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
stream = libc.fopen(b"{path}", b"w")
libc.malloc_info(0, stream)
libc.fclose(stream)
"""


def heaps(told, path):
    subprocess.run([sys.executable, "-c", COUNTED.format(told=told, path=path)], check=True, timeout=60)
    return path.read_text(encoding="ascii").count("<heap nr=")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="Only glibc gives threads heaps of their own.")
def test_eight_threads_share_two_heaps(tmp_path):
    assert heaps("assert keep_memory_together()", tmp_path / "told.xml") <= 2
    assert heaps("", tmp_path / "untold.xml") > 2
