"""Machine code that is kept beside its text, and nowhere else: places that Numba's settings name nobody has checked.

What cannot be kept is not: a full disk takes nothing from the derivative. What was not kept whole is made anew.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite import binding  # type: ignore[import-untyped]
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator
from numba.core.environment import Environment, _rebuild_env, lookup_environment
from numba.core.runtime import _nrt_python as _nrt  # type: ignore[attr-defined]

from adjoint.native.compile.private_functions import MODULES
from adjoint.native.runtime.linear_algebra_routines import bring_routines

_AUTHORS = ("numba.", "adjoint.native.")
"""How modules begin of which no function asks for names when it runs."""
_ROUTINES = ("numba_xx", "numba_ez")
"""How the names begin of what calls BLAS and LAPACK."""


def keep_code(dispatcher: Any, prepare: Callable[[], None]) -> None:
    """Lets machine code of a function be read from beside its file, or be put there.

    ``prepare`` is called before it is compiled, if it is not found.
    """
    try:
        dispatcher._cache = _Cache(dispatcher.py_func, prepare)
    except OSError:
        prepare()


class _Place(CompileResultCacheImpl):
    """Beside the file, whatever the settings say."""

    def __init__(self, function: Any) -> None:
        path = function.__code__.co_filename
        self._lineno = function.__code__.co_firstlineno
        self._locator = InTreeCacheLocator.from_function(function, path)
        if self._locator is None:
            raise OSError("machine code cannot be kept")
        self._filename_base = self.get_filename_base(f"{Path(path).stem}.{function.__qualname__}", sys.abiflags)

    def reduce(self, data):
        return _outside(data.library), super().reduce(data)

    def rebuild(self, target_context, data):
        """What the code calls must be there, or the process ends: some of it comes with Numba's registries."""
        names, data = data
        _add_runtime()
        if any(name.startswith(_ROUTINES) for name in names):
            bring_routines()
        if not all(map(binding.address_of_symbol, names)):
            target_context.refresh()
        return super().rebuild(target_context, data)


def _outside(library):
    """The names of what machine code needs besides itself."""
    module = library._final_module
    found = [each.name for each in (*module.functions, *module.global_variables) if each.is_declaration]
    return [name for name in found if not name.startswith("llvm.")]


def _add_runtime():
    """Lets machine code find Numba's functions for memory, as its runtime does before it compiles more of them."""
    for name, address in _nrt.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def _environment(module, constants, name):
    """What functions look up when they run: constants, and nothing of their modules, which stay unread.

    Functions of one name share what they look up: those that were compiled twice have all constants twice.
    """
    known = lookup_environment(name)
    if known is not None:
        if any(
            type(mine) is not type(other) or mine != other for mine, other in zip(known.consts, constants, strict=False)
        ):
            raise OSError("two functions go by one name")  # then it is compiled anew, under another
        known.consts.extend(constants[len(known.consts) :])
        return known
    if module in sys.modules or not module.startswith((*_AUTHORS, MODULES)):
        return _rebuild_env(module, constants, name)
    made = Environment({"__name__": module})
    made.consts[:] = constants
    made.env_name = name
    Environment._memo[name] = made
    return made


class Unpickler(pickle.Unpickler):
    """Reads compiled functions."""

    def find_class(self, module, name):
        if (module, name) == (Environment.__module__, _rebuild_env.__name__):
            return _environment
        return super().find_class(module, name)


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
        found = Unpickler(io.BytesIO(content)).load()
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

    def __init__(self, function: Any, prepare: Callable[[], None]) -> None:
        super().__init__(function)
        self._prepare = prepare
        known = self._cache_file
        self._cache_file = _Files(known._cache_path, self._impl.filename_base, known._source_stamp)

    def load_overload(self, sig, target_context):
        """Numba first reads all its registries, which takes longer than all else; only what compiles needs them."""
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
        if found is None:
            self._prepare()
            target_context.refresh()
        return found

    def save_overload(self, sig, data):
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def _log(done: str, path: str) -> None:
    from numba.core import config  # lazy

    if config.DEBUG_CACHE:  # type: ignore[attr-defined]
        print(f"[cache] data {done} {path!r}")
