"""Compiled derivatives, one for each kind of call; found again by what the call looks like."""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from adjoint.backend.native import Native, NativeFunction, flags_of
from adjoint.backend.python import Emitted, emit, load
from adjoint.diagnostics import Diagnostic, DifferentiationError, diagnostic, error
from adjoint.diagnostics.errors import warn
from adjoint.diagnostics.request import request_note
from adjoint.frontend.entry import Entry
from adjoint.frontend.inputs import Captured, Guard, fields_of, has_fields
from adjoint.ir.nodes import Function
from adjoint.ir.types import Array
from adjoint.transform.finish import finish

MOST_PER_KEY = 64


@dataclass(frozen=True, slots=True)
class Specialization:
    """A compiled derivative with the conditions under which it may be used.

    Attributes
    ----------
    call
        The compiled entry: arguments of the call, then captured data.
    emitted
        Its text.
    captured, captured_keys
        Data to read at each call, and what it must look like.
    guards
        Captured values that must be the same as when this was compiled.
    written
        Positions of array arguments that are written in place.
    adjoint, adjoint_emitted
        For a pullback: the second half.
    """

    call: Callable[..., Any]
    function: Function
    emitted: Emitted
    captured: tuple[Captured, ...]
    captured_keys: tuple[Any, ...]
    guards: tuple[Guard, ...]
    written: tuple[int, ...]
    argument_guards: tuple[tuple[tuple[Any, ...], int], ...] = ()
    seeds: tuple[tuple[Any, ...], ...] = ()
    adjoint: Callable[..., Any] | None = None
    adjoint_emitted: Emitted | None = None

    def fits(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether this may be used for such a call as the world is now."""
        for path, value in self.argument_guards:
            now = _part_at(path, args, kwargs)
            if (now if isinstance(now, int) else len(now)) != value:
                return False
        return all(guard.holds(function) for guard in self.guards) and all(
            key_of(item.read(function)) == key for item, key in zip(self.captured, self.captured_keys, strict=True)
        )

    def run(self, function: Any, arguments: Sequence[Any]) -> Any:
        """Calls the compiled entry."""
        if self.written:
            _check_overlap(self.written, arguments)
        return self.call(*arguments, *(item.read(function) for item in self.captured))


def _part_at(path: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A part of the arguments of a call."""
    _, place, *rest = path
    value = kwargs[place] if isinstance(place, str) else args[place]
    for key in rest:
        value = getattr(value, key) if hasattr(value, "__dict__") or not hasattr(value, "__getitem__") else value[key]
    return value


def _check_overlap(written: tuple[int, ...], arguments: Sequence[Any]) -> None:
    for place in written:
        for other, argument in enumerate(arguments):
            if other != place and isinstance(argument, np.ndarray) and np.shares_memory(arguments[place], argument):
                raise error(
                    "AD0303",
                    None,
                    f"arguments {min(place, other)} and {max(place, other)} share memory, and the function writes one",
                    helps=("pass a copy of one of them",),
                )


_lock = threading.RLock()
_tables: WeakKeyDictionary[Any, dict[Any, list[Specialization]]] = WeakKeyDictionary()


def specialization(
    function: Any,
    key: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    lower: Callable[[], Entry],
    native: Native = False,
) -> Specialization:
    """The compiled derivative for a call: an old one that fits, or a new one."""
    owner, identity = _owner(function)
    key = (key, native)
    full = (key, identity, tuple(map(key_of, args)), tuple((name, key_of(value)) for name, value in kwargs.items()))
    found = _find(owner, full, function, args, kwargs)
    if found is not None:
        return found
    with _lock:
        found = _find(owner, full, function, args, kwargs)
        if found is None:
            found, warnings = _compiled(lower, key[0], function, native)
            entries = _tables.setdefault(owner, {}).setdefault(full, [])
            entries.insert(0, found)
            del entries[MOST_PER_KEY:]
            for warning in warnings:
                warn(warning)
        return found


def _compiled(
    lower: Callable[[], Entry], operator: Any, function: Any, native: Native
) -> tuple[Specialization, tuple[Diagnostic, ...]]:
    """A new specialisation; whatever is in its way is told together with who asked for it."""
    try:
        entry = lower()
        return compile_entry(entry, function, native), entry.warnings
    except DifferentiationError as refusal:
        problems = refusal.diagnostics
        cause: BaseException | None = refusal.__cause__
    except Exception as failure:
        problems = (diagnostic("AD0901", None, f"{type(failure).__name__}: {failure}".splitlines()[0]),)
        cause = failure
    note = request_note(operator[0], function)
    notes = () if note is None else (note,)
    raise DifferentiationError(*(problem.with_notes(*notes) for problem in problems)) from cause


def _find(
    owner: Any, key: Any, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Specialization | None:
    for candidate in _tables.get(owner, {}).get(key, ()):
        if candidate.fits(function, args, kwargs):
            return candidate
    return None


def latest(function: Any, key: Any, native: Native = False) -> Specialization | None:
    """The specialisation that was compiled last for a derivative."""
    owner, identity = _owner(function)
    wanted = ((key, native), identity)
    found = [entries[0] for full, entries in _tables.get(owner, {}).items() if full[:2] == wanted]
    return found[-1] if found else None


def _owner(function: Any) -> tuple[Any, Any]:
    """What a table of specialisations hangs on, and what tells functions apart that share it."""
    if isinstance(function, types.FunctionType):
        return function.__code__, id(function.__globals__)
    try:
        hash(function)
        _tables.get(function)
    except TypeError:
        return type(function), id(function)
    return function, None


def compile_entry(entry: Entry, function: Any, native: Native = False) -> Specialization:
    """Prints and loads a lowered entry."""
    finished = finish(entry.function)
    emitted = emit(finished)
    adjoint = adjoint_emitted = None
    if entry.adjoint is not None:
        finished_adjoint = finish(entry.adjoint)
        adjoint_emitted = emit(finished_adjoint)
        adjoint = _loaded(adjoint_emitted, finished_adjoint, function, native)
    count = len(finished.params) - len(entry.captured)
    written = tuple(
        place
        for place, param in enumerate(finished.params[:count])
        if isinstance(param.type, Array) and param.type.storage.written
    )
    keys = tuple(key_of(item.read(function)) for item in entry.captured)
    call = _loaded(emitted, finished, function, native)
    return Specialization(
        call,
        finished,
        emitted,
        entry.captured,
        keys,
        entry.guards,
        written,
        entry.argument_guards,
        entry.seeds,
        adjoint,
        adjoint_emitted,
    )


def _loaded(emitted: Emitted, finished: Function, function: Any, native: Native) -> Callable[..., Any]:
    interpreted = load(emitted)
    if not native:
        return interpreted
    return NativeFunction(emitted, interpreted, finished, flags_of(function), native == "strict")


def key_of(value: Any) -> Any:
    """What a specialisation depends on of a run-time value."""
    cls = type(value)
    if cls is float:
        return "f"
    if cls is int:
        return "i"
    if cls is np.ndarray:
        return value.dtype, tuple(extent == 1 for extent in value.shape)
    if isinstance(value, np.generic):
        return cls
    if value is None or cls in (bool, str, bytes):
        return cls, value
    if isinstance(value, tuple):
        return cls, tuple(map(key_of, value))
    if cls is list:
        return _key_of_list(value)
    if cls is dict:
        return dict, tuple((key, key_of(item)) for key, item in value.items())
    if isinstance(value, types.FunctionType):
        return value
    if isinstance(value, types.MethodType):
        return value.__func__, key_of(value.__self__)
    if isinstance(value, functools.partial):
        return (
            functools.partial,
            key_of(value.func),
            tuple(map(key_of, value.args)),
            tuple((name, key_of(item)) for name, item in value.keywords.items()),
        )
    if has_fields(value) and getattr(value, "__adjoint_operator__", None) is None:
        return cls, tuple((name, key_of(item)) for name, item in fields_of(value).items())
    try:
        hash(value)
    except TypeError:
        return cls
    return value if callable(value) else cls


def _key_of_list(value: list[Any]) -> Any:
    """Lists of one kind of number or array have no length in the key; lists of structures do."""
    kinds = list(dict.fromkeys(map(key_of, value)))
    if len(kinds) <= 1 and not any(has_fields(item) or callable(item) or isinstance(item, (dict, str)) for item in value[:1]):
        return list, tuple(kinds)
    return list, tuple(map(key_of, value))
