"""A text for Numba as it is written to a file, and the function that it becomes: kept machine code, or new."""

from __future__ import annotations

import hashlib
import linecache
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from adjoint.gc_pause import Lasting, Uncollected
from adjoint.native.compile.linked_functions import linked_functions
from adjoint.native.compile.private_functions import MODULES, private_functions
from adjoint.native.kept import files as cache
from adjoint.native.loops.short_loops import made_for_short_loops
from adjoint.native.runtime.linear_algebra_routines import bring_routines
from adjoint.records import dataclass
from adjoint.runtime.freed_memory import keep_freed_memory


@dataclass(frozen=True)
class Loaded:
    """A unit that can be called.

    Attributes
    ----------
    call
        The function of all arguments.
    dispatcher
        Numba's function, of the arguments that the unit takes.
    """

    call: Callable[..., Any]
    dispatcher: Any


class NothingKept(Exception):
    """There is no machine code of a unit in the cache."""


@dataclass(frozen=True)
class Written:
    """The text of a unit.

    Attributes
    ----------
    text
        The whole file.
    name
        The name of its function.
    places
        Which arguments the function takes; None if it takes them all.
    """

    text: str
    name: str
    places: tuple[int, ...] | None

    @property
    def digest(self) -> str:
        """What tells texts apart."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:24]

    @property
    def stem(self) -> str:
        """The name of the file, without its ending."""
        return f"{self.name[:60]}_{self.digest}"

    def compiled(self, signature: Sequence[Any]) -> Loaded:
        """The machine code for arguments of these types; none is kept."""
        filename = f"<adjoint native {self.stem}>"
        linecache.cache[filename] = (len(self.text), None, self.text.splitlines(keepends=True), filename)
        return self._load(filename, signature, lambda _: self._declare())

    def kept(self, signature: Sequence[Any]) -> Loaded | None:
        """The machine code from the cache, or new machine code that is kept there; None where nothing can be kept."""
        from numba.core.errors import NumbaError  # lazy

        path = cache.keep(f"{self.stem}.py", self.text)
        if path is None:
            return None
        for _ in range(2):
            try:
                return self._from(path, signature, self._declare)
            except NumbaError:
                raise
            except Exception:  # machine code that was kept is damaged: reading it raises anything
                cache.forget(path.parent / "__pycache__", self.stem)
        return None

    def known(self, path: Path, signature: Sequence[Any]) -> Loaded | None:
        """The machine code that was kept for the text at this path; None if there is none that can be read."""
        try:
            return self._from(path, signature, _refuse)
        except Exception:  # as above; it is made anew where its text is
            return None

    def _from(self, path: Path, signature: Sequence[Any], prepare: Callable[[], None]) -> Loaded:
        from adjoint.native.kept.machine_code import keep_code  # lazy

        return self._load(str(path), signature, lambda dispatcher: keep_code(dispatcher, prepare))

    def _declare(self) -> None:
        """Tells Numba of the functions that the text may refer to."""
        declare_runtime()
        if "bundle" in self.text:
            import adjoint.native.simd.declarations  # noqa: F401  # lazy

    def _load(self, filename: str, signature: Sequence[Any], prepare: Callable[[Any], None]) -> Loaded:
        from numba.core.errors import NumbaWarning  # lazy

        keep_freed_memory()
        module = types.ModuleType(f"{MODULES}{self.digest}")
        sys.modules[module.__name__] = module  # what is read from the cache looks for it there
        exec(compile(self.text, filename, "exec"), vars(module))
        dispatcher = vars(module)[self.name]
        prepare(dispatcher)
        with (
            Uncollected(),
            warnings.catch_warnings(),
            made_for_short_loops(),
            private_functions(),
            linked_functions(),
        ):
            warnings.simplefilter("ignore", NumbaWarning)  # about a text that the user did not write
            dispatcher.compile(tuple(signature))
        dispatcher.disable_compile()
        return Loaded(self._of_all_arguments(dispatcher), dispatcher)

    def _of_all_arguments(self, dispatcher: Any) -> Callable[..., Any]:
        if self.places is None:
            return dispatcher  # type: ignore[no-any-return]
        if not self.places:
            return lambda *_: dispatcher()
        if len(self.places) == 1:
            (place,) = self.places
            return lambda *args: dispatcher(args[place])
        taken = itemgetter(*self.places)
        return lambda *args: dispatcher(*taken(args))


def declare_runtime() -> None:
    """Imports what Numba is told of the runtime."""
    if "adjoint.native.runtime.declarations" not in sys.modules:
        with Lasting():
            bring_routines()
            import adjoint.native.runtime.declarations  # noqa: F401  # lazy


def _refuse() -> None:
    raise NothingKept
