"""Where compiled derivatives live between processes: a directory of files that only their owner can write.

A file is named by what went into it, so that it is never changed, only written where it is missing or damaged.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import stat
import tempfile
from pathlib import Path

OBJECT = ".code"
"""How names of entries end that are object code."""
CALL = ".call"
"""How names of entries end that say what a call needs besides its machine code."""
FURTHER = ".further"
"""How names of entries end that say what was made later of what a call found."""
_UNFINISHED = (f".{'[0-9a-f]' * 16}-*",)
"""What a process leaves that is killed while it writes."""


def directory() -> Path | None:
    """The directory for generated files, made where it is missing; None where no place can be written.

    :func:`place`, unless others could write there: such a place is not trusted, and a directory of this process alone
    is taken instead.
    """
    path = place()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_ours(path.stat()) and os.access(path, os.W_OK):
            return path.resolve()
    except OSError:
        pass
    return _private()


def place() -> Path:
    """Where generated files belong: ``ADJOINT_CACHE_DIR``, ``$XDG_CACHE_HOME/adjoint`` or ``~/.cache/adjoint``."""
    wanted = os.environ.get("ADJOINT_CACHE_DIR")
    if wanted:
        return Path(wanted)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path(os.path.expanduser("~"), ".cache")) / "adjoint"


@functools.cache
def _private() -> Path | None:
    """A directory that goes when the process ends."""
    try:
        path = tempfile.mkdtemp(prefix="adjoint-")
    except OSError:
        return None
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def _is_ours(found: os.stat_result) -> bool:
    """Whether it belongs to this user and nobody else can write it."""
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def keep(name: str, text: str) -> Path | None:
    """A file of this name with this text; None where none can be written.

    What lies there is left alone only if it is a plain file of this user with just this text.
    """
    return keep_bytes(name, text.encode())


def keep_bytes(name: str, content: bytes) -> Path | None:
    """As :func:`keep`, with this content."""
    folder = directory()
    if folder is None:
        return None
    path = folder / name
    if not _holds(path, content):
        try:
            _write(path, content)
        except OSError:
            return None
    return path


def read(path: Path) -> bytes | None:
    """What a file holds; None if it is no plain file of this user."""
    try:
        found = path.lstat()
        return path.read_bytes() if stat.S_ISREG(found.st_mode) and _is_ours(found) else None
    except OSError:
        return None


def _holds(path: Path, content: bytes) -> bool:
    return read(path) == content


def _write(path: Path, content: bytes) -> None:
    """Puts the whole file in place at once, so that no other process sees a part of it."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.stem[-16:]}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:  # an interrupt, too
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def entries() -> dict[str, int]:
    """The derivatives that are kept, by name, with the bytes that their machine code takes."""
    return {path.stem: path.stat().st_size for path in sorted(place().glob(f"*{OBJECT}"))}


def clear() -> int:
    """Removes all that is kept; the number of derivatives that it was. Other files stay."""
    folder = place()
    count = len(entries())
    for path in [
        path for pattern in (f"*{OBJECT}", f"*{CALL}", f"*{FURTHER}", *_UNFINISHED) for path in folder.glob(pattern)
    ]:
        with contextlib.suppress(OSError):
            path.unlink()
    return count
