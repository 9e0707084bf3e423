"""Which tests of a corpus run each time, and which only when all are asked for (``make thorough``).

The choice is by name: the same each time, on each machine, and for each program whatever stands beside it.
"""

from __future__ import annotations

import os
import zlib

THOROUGH = os.environ.get("ADJOINT_THOROUGH", "") not in ("", "0")
"""Whether nothing is left out."""


def is_chosen(name: str, shares: int) -> bool:
    """Whether something runs now, where one of so many does each time."""
    return THOROUGH or zlib.crc32(name.encode()) % shares == 0
