"""What the C library does with memory that a derivative is done with.

A derivative that keeps arrays on its way forward takes the same memory at every call, and frees it. glibc hands the end
of its heap back to the system as soon as 128 KiB are free there, and at the next call every page is new again: that
may take several times as long as the derivative. Once it has seen a large block come and go it keeps twice as much.
"""

from __future__ import annotations

import functools

import numpy as np

_LARGE = (32 << 20) - (64 << 10)
"""The largest block that glibc learns from, less what a page and its own notes take. It is never written to."""


@functools.cache
def keep_freed_memory() -> None:
    """Lets glibc keep up to 64 MiB of freed memory for later, unless it was told otherwise; others do as they do."""
    np.empty(_LARGE, np.uint8)
