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
from typing import Any

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
from adjoint.frontend.entry.captured import Captured, Guard, differentiated, reader
from adjoint.ir.addresses import address_of, imported
from adjoint.ir.checked import CHECKING
from adjoint.ir.fingerprint import Nameless
from adjoint.native.compile.core import Core
from adjoint.native.kept import files as cache
from adjoint.native.kept.known_functions import KnownCore, KnownFunction
from adjoint.native.kept.versions import circumstances, digest

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
    others = [other for other in _records(folder / request.entry) if other["constants"] != record["constants"]]
    content = json.dumps([record, *others[: MOST - 1]])
    cache.keep(request.entry, json.dumps([_seal(content), content]))


def _seal(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def _records(path: Path) -> list[dict[str, Any]]:
    content = cache.read(path)
    if content is None:
        return []
    try:
        seal, text = json.loads(content)
        found: list[dict[str, Any]] = json.loads(text) if seal == _seal(text) else []
    except (ValueError, TypeError, AttributeError):  # damaged
        return []
    return found


def _record(request: Request, found: Specialization) -> dict[str, Any]:
    quick: Any = found.call.quick if isinstance(found.call, Speculative) else found.call
    core = getattr(quick, "_core", None)
    plain = (found.adjoint, found.differential, found.checkpoints) == (None, None, None) and not found.component
    if not plain or not found.native or type(core) is not Core or core._warning or core.fingerprint is None:
        raise Nameless(found)
    return {
        "constants": [[_plain_way(way), value] for way, value in found.argument_guards],
        "guards": [_place(request.contents, guard.path) for guard in found.guards if _is_plain(guard)],
        "captured": [_place(request.contents, item.path) for item in found.captured],
        "written": found.written,
        "names": [param.hint for param in found.function.params],
        "objects": [place for place, param in enumerate(found.function.params) if isinstance(param.type, ir.Instance)],
        "speculates": isinstance(found.call, Speculative),
        "core": [core.__name__, core.fingerprint, core.lists],
        "boundary": None if quick.boundary is None else _written(quick.boundary, core),
    }


def _is_plain(guard: Guard) -> bool:
    if type(guard) is not Guard or isinstance(guard.value, (np.ndarray, np.generic)):
        raise Nameless(guard)
    return True


def _plain_way(way: tuple[Any, ...]) -> list[Any]:
    if way[0] != "argument" or not all(isinstance(part, (str, int)) for part in way):
        raise Nameless(way)
    return list(way)


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

    def core(self) -> Any:
        """Its core."""
        return self.native()._core

    def exact(self) -> Specialization:
        """What takes over where a result is not a number."""
        return self().exact


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
        self.captured = tuple(Captured(path, reader(path), ir.Var("captured", ir.Opaque())) for path in paths)
        seen = dict(seen)
        self.captured_keys = tuple([key_of(item.read(root), seen) for item in self.captured])
        self.guards = tuple([_guard(_path(request.contents, place), root) for place in record["guards"]])
        self.argument_guards = tuple((tuple(way), value) for way, value in record["constants"])
        self.written = tuple(record["written"])
        self.native = native
        self.target = request.target
        self._names, self._objects = record["names"], frozenset(record["objects"])
        self.adjoint = self.adjoint_emitted = self.adjoint_function = None
        self.differential = self.differential_emitted = self.linear = self.checkpoints = None
        self.seeds = self.component = ()
        self.door = self.ways = None
        self.tangents, self.door_checks_all, self.lanes = 0, False, {}
        name, fingerprint, lists = record["core"]
        options = options_of(root, native)
        strict, background = is_strict(native), in_background(native)
        core = KnownCore(name, fingerprint, lists, options, strict, request.target, made.core, background)
        boundary = None if record["boundary"] is None else _read(record["boundary"], core)
        self.call = KnownFunction(boundary, core, made.native)
        if record["speculates"]:
            self.call = Speculative(self.call, made.exact)

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
