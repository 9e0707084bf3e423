"""Derivatives that a later process finds before anything is lowered: by the contents of all that lowering may read.

What is kept of one is little: the text of its boundary, what names its core, where it reads captured data, and what
must be as it was. Its machine code lies where it always does. Everything else, such as its text, is made when somebody
asks for it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided

from adjoint import ir
from adjoint.codegen.texts import Emitted
from adjoint.dispatch import targets
from adjoint.dispatch.contents import Contents, is_dispatcher, is_extended
from adjoint.dispatch.keys import Seen, key_of
from adjoint.dispatch.options import Native, in_background, is_strict, options_of
from adjoint.dispatch.specialize import Specialization
from adjoint.dispatch.speculative import Speculative
from adjoint.frontend.entry.captured import Captured, CodeGuard, Guard, code_guards, differentiated, reader
from adjoint.ir.addresses import address_of, imported
from adjoint.ir.checked import CHECKING
from adjoint.ir.fingerprint import Nameless
from adjoint.native.compile.core import Core
from adjoint.native.kept import files as cache
from adjoint.native.kept.known_functions import KnownCore, KnownFunction
from adjoint.native.kept.versions import circumstances, digest
from adjoint.target import Target

T = TypeVar("T")

MOST = 16
"""How many derivatives are kept of one call: with other whole numbers that were taken for constants."""
_NOT_OPTIONS = ("ADJOINT_CACHE_DIR",)


class Request:
    """A call of a derivative that is machine code.

    Parameters
    ----------
    key
        The operator and its options.
    function
        What it is applied to.
    native
        How it is compiled.
    args, kwargs
        The arguments.
    """

    def __init__(self, key: Any, function: Any, native: Native, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.function = function
        self.root = differentiated(function)
        self.native = native
        self.args = args
        self.kwargs = kwargs
        self.target = targets.target_of(function, native)
        self.contents = Contents()
        self.entry = self._entry(key)

    def _entry(self, key: Any) -> str | None:
        """The name under which such calls are kept; None where they are not."""
        is_function = type(self.root) is types.FunctionType or is_dispatcher(self.root)
        if is_extended() or not is_function or self.target.watch or self.target.threads > 1:
            return None
        contents = self.contents
        try:
            contents.constant(key)
            operators = self.function
            while operators is not self.root:
                kind, operators, options = operators.__adjoint_operator__
                contents.constant((kind, options))
            contents.function(self.root)
            for value in self.args:
                contents.data(value)
            for name, value in self.kwargs.items():
                contents.say(name)
                contents.data(value)
        except (Nameless, RecursionError):
            return None
        settings = sorted(item for item in os.environ.items() if item[0].startswith("ADJOINT_"))
        facts = (
            [item for item in settings if item[0] not in _NOT_OPTIONS],
            (repr(self.native), repr(self.target), options_of(self.root, self.native), sys.flags.optimize),
            (*circumstances(), digest()),
        )
        words = "\n".join([*contents.words, repr(facts)])
        return f"{self.root.__name__[:60]}_{hashlib.sha256(words.encode()).hexdigest()[:24]}{cache.CALL}"


# -- what is kept -----------------------------------------------------------------------------------------------------


def keep(request: Request, found: Specialization) -> None:
    """Keeps what a later process needs of a new specialisation, where all that it rests on was written down."""
    if request.entry is None or is_extended():
        return
    try:
        record = _record(request, found)
    except Nameless:
        return
    folder = cache.directory()
    if folder is None:
        return
    found.further = Further(request, record)
    others = [other for other in _records(folder / request.entry) if other["constants"] != record["constants"]]
    content = json.dumps([record, *others[: MOST - 1]])
    cache.keep(request.entry, json.dumps([_seal(content), content]))


class Further:
    """What was made of a kept derivative later on, such as sweeps of several directions.

    Parameters
    ----------
    request
        The call that the derivative is kept for.
    record
        What is kept of it.
    """

    def __init__(self, request: Request, record: dict[str, Any]) -> None:
        constants = hashlib.sha256(json.dumps([record["constants"], record["call"]]).encode()).hexdigest()[:16]
        self._name = f"{request.entry}.{constants}{cache.FURTHER}"

    def find(self, word: str) -> list[Any] | None:
        """What was kept under a word, in a list."""
        found = self._all().get(word)
        return None if found is None else [found]

    def keep(self, word: str, value: Any) -> None:
        """Keeps something that can be written as JSON."""
        content = json.dumps({**self._all(), word: value})
        cache.keep(self._name, json.dumps([_seal(content), content]))

    def _all(self) -> dict[str, Any]:
        folder = cache.directory()
        return {} if folder is None else _sealed(folder / self._name, {})


def _seal(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def _records(path: Path) -> list[dict[str, Any]]:
    nothing: list[dict[str, Any]] = []
    return _sealed(path, nothing)


def _sealed(path: Path, otherwise: T) -> T:
    """What a file holds that was written with its seal."""
    content = cache.read(path)
    if content is None:
        return otherwise
    try:
        seal, text = json.loads(content)
        found: T = json.loads(text) if seal == _seal(text) else otherwise
    except (ValueError, TypeError, AttributeError):  # damaged
        return otherwise
    return found


def _record(request: Request, found: Specialization) -> dict[str, Any]:
    if found.differential or found.checkpoints or found.component or not found.native:
        raise Nameless(found)
    if found.holders or found.unseen:
        raise Nameless(found)
    return {
        "constants": [[_plain_way(way), value] for way, value in found.argument_guards],
        "guards": [_place(request.contents, guard.path) for guard in found.guards if _is_written_down(guard)],
        "captured": [_place(request.contents, item.path) for item in found.captured],
        "lifted": [item.is_written for item in found.captured],
        "written": found.written,
        "draws": found.draws,
        "names": [param.hint for param in found.function.params],
        "objects": [place for place, param in enumerate(found.function.params) if isinstance(param.type, ir.Instance)],
        "speculates": isinstance(found.call, Speculative),
        "prints": isinstance(found.call, Speculative) and found.call.prints,
        "call": record_of(found.call.quick if isinstance(found.call, Speculative) else found.call),
        "adjoint": None if found.adjoint is None else record_of(found.adjoint),
        "seeds": [_plain_path(path) for path in found.seeds],
    }


def record_of(function: Any) -> list[Any]:
    """What is kept of machine code: what names its core, and its boundary.

    Raises
    ------
    Nameless
        If it cannot be found by that.
    """
    core = getattr(function, "_core", None)
    if type(core) is not Core or core._warning or core.fingerprint is None:
        raise Nameless(function)
    boundary = None if function.boundary is None else _written(function.boundary, core)
    return [core.__name__, core.fingerprint, core.lists, boundary]


def _is_written_down(guard: Guard) -> bool:
    """Whether a guard is kept: the code of functions is among the contents."""
    if type(guard) is CodeGuard:
        return False
    if type(guard) is not Guard or isinstance(guard.value, (np.ndarray, np.generic)):
        raise Nameless(guard)
    return True


def _plain_way(way: tuple[Any, ...]) -> list[Any]:
    if way[0] != "argument":
        raise Nameless(way)
    return _plain_path(way)


def _plain_path(path: tuple[Any, ...]) -> list[Any]:
    if not all(type(part) in (str, int) for part in path):
        raise Nameless(path)
    return list(path)


def _place(contents: Contents, path: tuple[Any, ...]) -> list[Any]:
    """Where something is read that was written down: objects by when they were met."""
    match path:
        case ("own_cell" | "own_default", str() | int()):
            return list(path)
        case ("global" | "attribute" as kind, owner, str(name)) if (id(owner), name) in contents.looked_up:
            return [kind, contents.number_of(owner), name]
        case ("global", dict() as table, str(name)) if _is_our_own(table):
            return ["library", table["__name__"], name]
        case ("cell", cell) if contents.number_of(cell) is not None:
            return ["cell", contents.number_of(cell)]
        case ("default", function, str() | int() as name) if contents.number_of(function) is not None:
            return ["default", contents.number_of(function), name]
    raise Nameless(path)


def _is_our_own(table: dict[str, Any]) -> bool:
    """Whether names are those of a module of Adjoint, for which its sources speak."""
    name = table.get("__name__", "")
    return name.startswith("adjoint.") and table is getattr(sys.modules.get(name), "__dict__", None)


def _path(contents: Contents, place: Sequence[Any]) -> tuple[Any, ...]:
    """The way that was written down."""
    match place:
        case ["own_cell" | "own_default", name]:
            return place[0], name
        case ["library", module, name]:
            return "global", vars(import_module(module)), name
        case [kind, number, *rest]:
            return kind, contents.met[number], *rest
    raise ValueError(place)


def _written(boundary: Emitted, core: Any) -> list[Any]:
    """The text of a boundary, and what it refers to."""
    if boundary.lines:  # exceptions tell the user's lines, which may be elsewhere by then
        raise Nameless(boundary)
    return [boundary.name, boundary.text, {name: _named(value, core) for name, value in boundary.namespace.items()}]


def _named(value: Any, core: Any) -> list[Any]:
    if value is core:
        return ["core"]
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return ["is", value]
    module, own = address_of(value)
    if module.partition(".")[0] not in ("adjoint", "numpy", "math", "builtins", "operator", "_operator"):
        raise Nameless(value)
    return ["at", module, own]


# -- what is found ----------------------------------------------------------------------------------------------------


def found(
    request: Request, seen: Seen, compile_: Callable[[Sequence[Any], Mapping[str, Any]], Specialization]
) -> Specialization | None:
    """What was kept for such a call; ``compile_`` makes the specialisation itself, for arguments of these kinds."""
    folder = None if request.entry is None else cache.directory()
    if folder is None or request.entry is None:
        return None
    for record in _records(folder / request.entry):
        made = _Later(_of_same_kind(request.args), _of_same_kind(request.kwargs), compile_)
        try:
            known = KnownSpecialization(record, request, seen, made)
        except (KeyError, AttributeError, ValueError, IndexError, TypeError, ImportError):  # of another kind of call
            continue
        if known.fits_arguments(request.args, request.kwargs):
            if CHECKING:
                _check(record, request, known)
            return known
    return None


def _check(record: dict[str, Any], request: Request, known: KnownSpecialization) -> None:
    made = json.loads(json.dumps(_record(request, known.made())))
    assert made == record, f"what was kept is not what is made:\n{record}\n{made}"


class _Later:
    """The specialisation itself, made when somebody asks."""

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        compile_: Callable[[Sequence[Any], Mapping[str, Any]], Specialization],
    ) -> None:
        self._make: Callable[[], Specialization] | None = lambda: compile_(args, kwargs)
        self._made: Specialization | None = None

    def __call__(self) -> Specialization:
        if self._make is not None:
            self._made, self._make = self._make(), None
        assert self._made is not None
        return self._made

    def native(self) -> Any:
        """The function for machine code."""
        call = self().call
        return call.quick if isinstance(call, Speculative) else call

    def exact(self) -> Specialization:
        """What takes over where a result is not a number."""
        return self().exact

    def silent(self) -> Specialization:
        """The same without what it prints."""
        found = self()
        return found.call.silent() if isinstance(found.call, Speculative) else found


def _of_same_kind(value: Any) -> Any:
    """A value that derivatives are compiled for as for this one, which may be gone by then; without its arrays."""
    if type(value) is np.ndarray:
        return as_strided(np.empty(1, value.dtype), value.shape, [0] * value.ndim)
    if type(value) in (tuple, list):
        return type(value)(map(_of_same_kind, value))
    if type(value) is dict:
        return {key: _of_same_kind(item) for key, item in value.items()}
    return value


class KnownSpecialization(Specialization):
    """A specialisation that was kept: what only tools ask for is made when they do."""

    __slots__ = ("_names", "_objects", "made")

    def __init__(self, record: dict[str, Any], request: Request, seen: Seen, made: _Later) -> None:
        root, native = request.root, request.native
        paths = [_path(request.contents, place) for place in record["captured"]]
        self.made = made
        self.captured = tuple(
            Captured(path, reader(path), ir.Var("captured", ir.Opaque()), is_written)
            for path, is_written in zip(paths, record["lifted"], strict=True)
        )
        seen = dict(seen)
        self.captured_keys = tuple([key_of(item.read(root), seen) for item in self.captured])
        read = [each for each in request.contents.met if type(each) is types.FunctionType and each is not root]
        guards = [_guard(_path(request.contents, place), root) for place in record["guards"]]
        self.guards = (*guards, *code_guards(read))
        self.argument_guards = tuple((tuple(way), value) for way, value in record["constants"])
        self.written = tuple(record["written"])
        self.draws = record["draws"]
        self.native = native
        self.target = request.target
        self._names, self._objects = record["names"], frozenset(record["objects"])
        self.seeds = tuple(map(tuple, record["seeds"]))
        self.differential = self.differential_emitted = self.linear = self.checkpoints = None
        self.component, self.in_place_of = (), None
        self.door = self.ways = self.holders = self.unseen = None
        self.tangents, self.door_checks_all, self.lanes = 0, False, {}
        self.further = Further(request, record)
        self.call = known_function(record["call"], root, native, request.target, made.native)
        self.adjoint = record["adjoint"] and known_function(
            record["adjoint"], root, native, request.target, lambda: made().adjoint
        )
        if record["speculates"]:
            self.call = Speculative(self.call, made.exact, made.silent if record["prints"] else None)

    @property
    def names(self) -> Sequence[str]:
        """What the inputs are called."""
        names: Sequence[str] = self._names
        return names

    def is_object(self, place: int) -> bool:
        """Whether an input is an object that is taken apart at run time."""
        return place in self._objects

    @property
    def function(self) -> ir.Function:  # type: ignore[override]
        """The derivative before it was printed."""
        return self.made().function

    @property
    def emitted(self) -> Emitted:  # type: ignore[override]
        """Its text."""
        return self.made().emitted

    @property
    def adjoint_function(self) -> ir.Function | None:  # type: ignore[override]
        """Its second half before it was printed."""
        return self.made().adjoint_function

    @property
    def adjoint_emitted(self) -> Emitted | None:  # type: ignore[override]
        """The text of that."""
        return self.made().adjoint_emitted


def known_function(
    record: Sequence[Any], root: Any, native: Native, target: Target, made: Callable[[], Any]
) -> KnownFunction:
    """Machine code that was kept.

    Parameters
    ----------
    record
        What :func:`record_of` gave.
    root
        The function of which it is a derivative.
    native, target
        How it is compiled, and for what.
    made
        Makes it.
    """
    name, fingerprint, lists, written = record
    options, strict, background = options_of(root, native), is_strict(native), in_background(native)
    core = KnownCore(name, fingerprint, lists, options, strict, target, lambda: made()._core, background)
    return KnownFunction(None if written is None else _read(written, core), core, made)


def _guard(path: tuple[Any, ...], root: Any) -> Guard:
    read = reader(path)
    return Guard(path, read, read(root))


def _read(written: Sequence[Any], core: KnownCore) -> Emitted:
    name, text, namespace = written
    return Emitted(text, {name: _value(place, core) for name, place in namespace.items()}, name)


def _value(place: Sequence[Any], core: KnownCore) -> Any:
    match place:
        case ["core"]:
            return core.__call__
        case ["is", value]:
            return value
        case ["at", module, own]:
            return imported(module, own)
    raise ValueError(place)
