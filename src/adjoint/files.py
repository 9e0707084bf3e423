"""Files that are replaced at once: who reads one finds the old content or the new one, and never a part."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def replacing(path: str | os.PathLike[str], mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """A file beside ``path`` that takes its place, with its permissions, where the block ends well.

    The folder must exist. ``options`` are those of :func:`open`.
    """
    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:  # an interrupt, too
        os.unlink(temporary)
        raise


def _umask() -> int:
    """The permissions that new files do not get; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
