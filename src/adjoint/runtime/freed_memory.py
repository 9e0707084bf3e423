"""What the C library does with memory that a derivative is done with.

A derivative that keeps arrays on its way forward takes the same memory at every call, and frees it. glibc hands the end
of its heap back to the system as soon as 128 KiB are free there, and at the next call every page is new again: that
may take several times as long as the derivative.
"""

from __future__ import annotations

import ctypes
import functools
import os

_SHARE, _LARGEST_SHARE = 32, 1 << 30
"""What part of the machine's memory is kept at most, and how many bytes."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # malloc.h
_LARGEST_ON_HEAP = 32 << 20
"""The largest threshold that glibc takes: what is larger is mapped anew each time."""


def most_kept() -> int:
    """How many bytes of freed memory are kept at most."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _LARGEST_SHARE // _SHARE
    return min(memory // _SHARE, _LARGEST_SHARE)


@functools.cache
def keep_freed_memory() -> None:
    """Lets glibc keep a share of freed memory for later, unless it was told otherwise; others do as they do."""
    told = [os.environ.get("GLIBC_TUNABLES", ""), *(name for name in os.environ if name.startswith("MALLOC_"))]
    if any(word in each.lower() for each in told for word in ("trim_threshold", "mmap_threshold")):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_MMAP_THRESHOLD, _LARGEST_ON_HEAP)
    mallopt(_TRIM_THRESHOLD, most_kept())
