"""Machine code that is kept beside its text, and nowhere else: places that Numba's settings name nobody has checked.

What cannot be kept is not: a full disk takes nothing from the derivative. What was not kept whole is made anew.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import uuid
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator


def keep_code(dispatcher: Any) -> None:
    """Lets machine code of a function be read from beside its file, or put there."""
    with contextlib.suppress(OSError):
        dispatcher._cache = _Cache(dispatcher.py_func)


class _Place(CompileResultCacheImpl):
    """Beside the file, whatever the settings say."""

    def __init__(self, function: Any) -> None:
        path = function.__code__.co_filename
        self._lineno = function.__code__.co_firstlineno
        self._locator = InTreeCacheLocator.from_function(function, path)
        if self._locator is None:
            raise OSError("machine code cannot be kept")
        self._filename_base = self.get_filename_base(f"{Path(path).stem}.{function.__qualname__}", sys.abiflags)


class _Files(IndexDataCacheFile):
    """Code with a digest, in files that appear whole or not at all."""

    def _save_data(self, name, data):
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(content).digest() + content)
        _log("saved to", self._data_path(name))

    def _load_data(self, name):
        content = Path(self._data_path(name)).read_bytes()
        digest, content = content[:32], content[32:]
        if hashlib.sha256(content).digest() != digest:
            raise OSError("the machine code that was kept is damaged")  # as if it were not there
        found = pickle.loads(content)
        _log("loaded from", self._data_path(name))
        return found

    @contextlib.contextmanager
    def _open_for_write(self, filepath):
        temporary = f"{filepath}.tmp.{uuid.uuid4().hex[:16]}"
        try:
            with open(temporary, "wb") as file:
                yield file
            os.replace(temporary, filepath)
        except BaseException:  # an interrupt, too
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


class _Cache(FunctionCache):
    _impl_class = _Place

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        known = self._cache_file
        self._cache_file = _Files(known._cache_path, self._impl.filename_base, known._source_stamp)

    def save_overload(self, sig, data):
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def _log(done: str, path: str) -> None:
    from numba.core import config

    if config.DEBUG_CACHE:  # type: ignore[attr-defined]
        print(f"[cache] data {done} {path!r}")
