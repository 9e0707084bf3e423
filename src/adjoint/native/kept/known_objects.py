"""Object code that is found by the function that it was made of: no pass runs then.

An entry of the cache is named by all that decides the object code: the function, the kinds of its arguments, the
options of the compiler, the sources of Adjoint and the versions.
"""

from __future__ import annotations

import builtins
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.diagnostics import ComplexPower, InexactInteger
from adjoint.ir.fingerprint import Nameless
from adjoint.native.kept import files as cache
from adjoint.native.kept.versions import circumstances, digest
from adjoint.native.llvm.messages import Message
from adjoint.native.llvm.signatures import require_known_here
from adjoint.native.llvm.values import OBJECT, ArrayKind, Kind
from adjoint.native.options import Options
from adjoint.runtime.arithmetic.fused_loops import ExtentsDiffer
from adjoint.runtime.comparisons import UnknownItems
from adjoint.target import Target

if TYPE_CHECKING:
    from adjoint.native.compile.agreements import Agreement
    from adjoint.native.llvm.unit import Unit

_EXCEPTIONS: dict[str, type[BaseException]] = {
    kind.__name__: kind for kind in (ComplexPower, ExtentsDiffer, InexactInteger, np.linalg.LinAlgError, UnknownItems)
}


def entry_of(
    name: str,
    found: str | None,
    kinds: Sequence[Any],
    agreeing: Sequence[Agreement],
    options: Options,
    target: Target,
) -> str | None:
    """The name of the entry for a function of this name and fingerprint; None where there can be none."""
    if found is None or target.watch is not None:
        return None
    asked = (target.machine, repr(target.checked), target.threads, sorted(target.skipped), options)
    facts = (found, tuple(map(str, kinds)), agreeing, asked, *circumstances(), digest())
    return f"{name[:60]}_{hashlib.sha256(repr(facts).encode()).hexdigest()[:24]}{cache.OBJECT}"


def known_object(entry: str) -> Unit | None:
    """The object code that an entry holds, if it is there."""
    folder = cache.directory()
    content = None if folder is None else cache.read(folder / entry)
    if content is None:
        return None
    from adjoint.native.llvm.callbacks import of_plain  # lazy
    from adjoint.native.llvm.unit import Unit, seal_of  # lazy
    from adjoint.native.llvm.writing.program import Site  # lazy

    try:
        head, code = content.split(b"\n", 1)
        seal, name, symbols, sites, results, callbacks = json.loads(head)
        if seal != seal_of(code):
            return None
        found = tuple(Site(_exception(kind), _message(said)) for kind, said in sites)
        given = tuple([ArrayKind(*each) if isinstance(each, list) else each or OBJECT for each in results])
        return Unit(name, code, frozenset(symbols), found, given, tuple(map(of_plain, callbacks)))
    except (ValueError, TypeError, KeyError, AttributeError, ImportError):  # damaged
        return None


def kept_or_made(entry: str | None, make: Callable[[], Unit]) -> Unit:
    """The object code that an entry holds; what is made where there is none, and kept.

    Raises
    ------
    NotNative
        If there is none, and none can be made.
    """
    known = None if entry is None else known_object(entry)
    if known is not None:
        return known
    require_known_here()
    unit = make()
    if entry is not None:
        keep_object(entry, unit)
    return unit


def _exception(name: str) -> type[BaseException]:
    found: type[BaseException] = _EXCEPTIONS.get(name) or getattr(builtins, name)
    return found


def _plain(message: Any) -> Any:
    return {"parts": message.parts} if isinstance(message, Message) else message


def _plain_kind(kind: Kind) -> Any:
    """A kind of numbers or arrays as JSON has it; None for others."""
    if isinstance(kind, ArrayKind):
        return [kind.element, kind.rank, kind.by_rows, kind.read_only]
    return kind if isinstance(kind, str) else None


def _message(said: Any) -> Any:
    """A message as it was, tuples for lists."""
    if isinstance(said, dict):
        return Message(_message(said["parts"]))
    return tuple(map(_message, said)) if isinstance(said, list) else said


def keep_object(entry: str, unit: Unit) -> None:
    """Keeps object code for later processes."""
    from adjoint.native.llvm.unit import seal_of  # lazy

    sites = [(site.exception.__name__, _plain(site.message)) for site in unit.sites]
    results = list(map(_plain_kind, unit.results))
    try:
        callbacks = [callback.plain() for callback in unit.callbacks]
    except Nameless:  # it calls what only this process knows
        return
    head = json.dumps([seal_of(unit.code), unit.name, sorted(unit.symbols), sites, results, callbacks])
    cache.keep_bytes(entry, head.encode() + b"\n" + unit.code)
