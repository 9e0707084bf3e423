"""Compiled derivatives, one for each kind of call; found again by what the call looks like."""

from __future__ import annotations

import functools
import sys
import types
from _thread import RLock  # `threading` takes a while to import
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from adjoint.codegen.python import Emitted, emit, load
from adjoint.diagnostics import Diagnostic, DifferentiationError, diagnostic, error
from adjoint.diagnostics.errors import warn
from adjoint.differentiation.finish import finish
from adjoint.dispatch.argument_aliasing import arrays_in, ways_to_written, written_and_shared
from adjoint.dispatch.keys import Door, Seen, key_of, keys_of
from adjoint.dispatch.options import Native, checked_of, flags_of, is_strict, threads_of
from adjoint.dispatch.speculative import Speculative
from adjoint.frontend.calls.levels import as_deep_as_needed
from adjoint.frontend.data.captured_by_rules import noting
from adjoint.frontend.entry.entry import Entry, with_definition
from adjoint.frontend.entry.inputs import Captured, Guard, differentiated, has_fields
from adjoint.gc_pause import Compilation
from adjoint.ir.nodes import Atom, Call, Function, Load, Store
from adjoint.ir.types import Array, Dict, Instance, List
from adjoint.ir.walk import statements_in
from adjoint.pipeline import EXPAND, SPECULATE, SPECULATING, TOUCH_UP, Context, run
from adjoint.records import dataclass, field, replace
from adjoint.rules.declarations import counts_by_identity
from adjoint.rules.registry import is_of_users, on_change
from adjoint.runtime.objects import Checkpoints, put_attribute
from adjoint.target import ALL_INLINED, PYTHON, Target

if TYPE_CHECKING:
    from adjoint.frontend.differentiation.linear_maps import Differential

MOST_PER_KEY = 64
MOST_KEYS = 1024
"""How many specialisations are kept: of one key, and keys of one function. The oldest go first."""


@dataclass(eq=False, slots=True)
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
        Positions of arguments and captured data that are written in place.
    adjoint, adjoint_emitted
        For a pullback: the second half.
    door
        The fast path: takes the function and the arguments of a call, and calls it where it fits. It is written when
        the specialization is used again.
    tangents
        How many of the last arguments are tangents of the others, where there is a door.
    door_checks_all
        Whether the door lets in tangents only that belong to their values; else these have to be looked at before.
    native
        Whether and how it is compiled.
    adjoint_function
        The second half, before it was printed.
    differential, differential_emitted, linear
        For a pullback that comes with the differential: that, its text, and what it takes.
    component, checkpoints
        For an adjoint that takes checkpoints: the way to the part of the value that its seed is a cotangent of, and
        the class of the checkpoints.
    lanes
        What was made of it for several directions in one sweep.
    target
        What it was made for.
    ways
        The ways from arguments to the arrays in them that are written, once somebody has asked for them.
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
    door: Door | None = None
    tangents: int = 0
    door_checks_all: bool = False
    native: Native = None
    adjoint_function: Function | None = None
    differential: Callable[..., Any] | None = None
    differential_emitted: Emitted | None = None
    linear: Differential | None = None
    component: tuple[Any, ...] = ()
    checkpoints: type[Checkpoints] | None = None
    lanes: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    target: Target = PYTHON
    ways: dict[int, Any] | None = field(default=None, compare=False, repr=False)

    def fits(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], seen: Seen) -> bool:
        """Whether this may be used for such a call as the world is now."""
        if not self.fits_arguments(args, kwargs) or not all(guard.holds(function) for guard in self.guards):
            return False
        if not self.captured:
            return True
        seen = dict(seen)
        try:
            return all(
                key_of(item.read(function), seen) == key
                for item, key in zip(self.captured, self.captured_keys, strict=True)
            )
        except (KeyError, AttributeError, ValueError):  # what was captured is no longer there
            return False

    def fits_arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether lengths and whole numbers that were taken for constants are what they were."""
        for path, value in self.argument_guards:
            now = _part_at(path, args, kwargs)
            if (now if isinstance(now, int) else len(now)) != value:
                return False
        return True

    @property
    def exact(self) -> Specialization:
        """The same with supports, where it was compiled without them until a result is not a number."""
        return self.call.exact() if isinstance(self.call, Speculative) else self

    def run(self, function: Any, arguments: Sequence[Any]) -> Any:
        """Calls the compiled entry."""
        return self.call(*self.inputs(function, arguments))

    def inputs(self, function: Any, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """What the compiled entry takes: the arguments, then what was captured."""
        inputs = (*arguments, *[item.read(function) for item in self.captured])
        if self.written:
            self.check_overlap(inputs)
        return inputs

    def door_to_inputs(self, function: Any, args: Sequence[Any]) -> Door:
        """As the door, made for such arguments: gives the inputs of the compiled entry and does not call it."""
        from adjoint.dispatch.fast_path import write_door  # lazy

        return write_door(self, function, args, is_called=False)

    def has_written_and_shared(self, place: int, value: Any) -> bool:
        """Whether an argument holds arrays that share memory, of which one may be written."""
        if self.ways is None:
            self.ways = ways_to_written(self.function, self.written)
        return written_and_shared(value, self.ways[place])

    def check_overlap(self, inputs: Sequence[Any]) -> None:
        """Refuses arguments and captured data that share memory with an argument that is written."""
        for place in self.written:
            if not isinstance(inputs[place], np.ndarray) and self.has_written_and_shared(place, inputs[place]):
                label = f"arrays in {self._named(place)} share memory, and the function writes one"
                raise error("AD0303", None, label, helps=("put a copy of one of them there",))
            for other, value in enumerate(inputs):
                if other == place or (self._is_captured_object(place) and self._is_captured(other)):
                    continue
                if _share_memory(inputs[place], value):
                    first, last = sorted((place, other))
                    pair = f"{self._named(first)} and {self._named(last)}"
                    if not self._is_captured(last):
                        pair = f"arguments {first} and {last}"
                    label = f"{pair} share memory, and the function writes one"
                    raise error("AD0303", None, label, helps=("pass a copy of one of them",))

    def _is_captured_object(self, place: int) -> bool:
        """Objects of libraries are full of arrays that these might write for all we know, and share them freely."""
        return self._is_captured(place) and isinstance(self.function.params[place].type, Instance)

    def _is_captured(self, place: int) -> bool:
        return place >= len(self.function.params) - len(self.captured)

    def _named(self, place: int) -> str:
        """What messages call one of the inputs."""
        return f"the captured {self.function.params[place].hint!r}" if self._is_captured(place) else f"argument {place}"


def _part_at(path: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A part of the arguments of a call."""
    _, place, *rest = path
    value = kwargs[place] if isinstance(place, str) else args[place]
    for key in rest:
        value = getattr(value, key) if hasattr(value, "__dict__") or not hasattr(value, "__getitem__") else value[key]
    return value


def _share_memory(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.shares_memory(a, b)
    if a is b:
        return isinstance(a, (list, dict)) or has_fields(a)
    others = [array for _, array in arrays_in(b)]
    return bool(others) and any(np.shares_memory(one, other) for _, one in arrays_in(a) for other in others)


_FORWARD = ("jvp", "jvps")
"""The operators that need no cotangent."""
_lock = RLock()
_tables: WeakKeyDictionary[Any, dict[Any, list[Specialization]]] = WeakKeyDictionary()


def specialization(
    function: Any,
    key: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    lower: Callable[[Target], Entry],
    native: Native = False,
) -> Specialization:
    """The compiled derivative for a call: an old one that fits, or a new one."""
    root = differentiated(function)
    owner, identity = _owner(function, root)
    seen: Seen = {}
    try:
        given = tuple([key_of(value, seen) for value in args])
        named = tuple([(name, key_of(value, seen)) for name, value in kwargs.items()]) if kwargs else ()
    except RecursionError:
        raise error("AD0404", None, "an argument contains itself, or is nested too deeply") from None
    full = (key, native, identity, given, named)
    found = _find(owner, full, root, args, kwargs, seen)
    if found is not None:
        if found.door is None and not kwargs:
            from adjoint.dispatch.fast_path import are_plain, write_door  # lazy

            found.tangents = len(args) // 2 if key[0] in ("jvp", "hvp") else 0
            found.door_checks_all = found.tangents == 0 or are_plain(args)
            found.door = write_door(found, root, args)
        return found
    with _lock:
        found = _find(owner, full, root, args, kwargs, seen)
        if found is None:
            with Compilation():
                found, warnings = _compiled(lower, key, function, native, seen)
            _keep(owner, full, found)
            for warning in warnings:
                warn(warning)
        return found


def forget() -> None:
    """Forgets all specialisations: something was declared, after which they may be others."""
    with _lock:
        _tables.clear()
    doors = sys.modules.get("adjoint.dispatch.fast_path")
    if doors is not None:
        doors.close_all()


on_change(forget)


def _keep(owner: Any, key: Any, found: Specialization) -> None:
    table = _tables.setdefault(owner, {})
    entries = table.setdefault(key, [])
    entries.insert(0, found)
    del entries[MOST_PER_KEY:]
    while len(table) > MOST_KEYS:
        del table[next(iter(table))]


def _compiled(
    lower: Callable[[Target], Entry], operator: Any, function: Any, native: Native, seen: Seen
) -> tuple[Specialization, tuple[Diagnostic, ...]]:
    """A new specialisation; whatever is in its way is told together with who asked for it."""
    try:
        return as_deep_as_needed(
            lambda: _made(lower, operator, function, native, seen), forward=operator[0] in _FORWARD
        )
    except DifferentiationError as refusal:
        problems = refusal.diagnostics
        cause: BaseException | None = refusal.__cause__
    except RecursionError as failure:
        problems = (diagnostic("AD0902", None),)
        cause = failure
    except Exception as failure:
        if native and not is_strict(native):
            return _interpreted(lower, operator, function, failure, seen)
        problems = (diagnostic("AD0901", None, f"{type(failure).__name__}: {failure}".splitlines()[0]),)
        cause = failure
    from adjoint.diagnostics.request import request_note  # lazy

    note = request_note(operator[0], function)
    notes = () if note is None else (note,)
    raise DifferentiationError(*(problem.with_notes(*notes) for problem in problems)) from cause


def _made(
    lower: Callable[[Target], Entry], operator: Any, function: Any, native: Native, seen: Seen
) -> tuple[Specialization, tuple[Diagnostic, ...]]:
    found: Specialization | None
    with noting() as captured_by_rules:
        target, speculates = target_of(function, native), operator[0] in SPECULATING
        entry = lower(target)
        try:
            if entry.kept:
                found = _with_calls(lower, entry, function, native, seen, target, speculates)
            else:
                found = compile_entry(entry, function, native, seen, target, speculates=speculates)
            if found is None:
                target = replace(target, inlined=ALL_INLINED)
                entry = lower(target)
                found = compile_entry(entry, function, native, seen, target, speculates=speculates)
        except DifferentiationError as refusal:
            problems = (with_definition(entry.definitions, problem) for problem in refusal.diagnostics)
            raise DifferentiationError(*problems) from refusal.__cause__
    found.guards += tuple(captured_by_rules.values())
    return found, entry.warnings


def _with_calls(
    lower: Callable[[Target], Entry],
    entry: Entry,
    function: Any,
    native: Native,
    seen: Seen,
    target: Target,
    speculates: bool,
) -> Specialization | None:
    """A derivative in which functions stay functions; None where only inlining them makes one.

    Across calls it is not known what a selection left out. Where that matters a result is not a number, and is computed
    again with everything inlined; where it cannot be computed again, it must not matter.
    """
    from adjoint.differentiation.zeros.speculation import has_singular_slopes, is_noticed_through_calls  # lazy

    try:
        found = compile_entry(entry, function, native, seen, target)
    except DifferentiationError:
        return None
    if not speculates or is_noticed_through_calls(found.function):
        halves = (found.function, found.adjoint_function)
        return None if any(half is not None and has_singular_slopes(half) for half in halves) else found
    found.call = Speculative(found.call, functools.partial(_inlined, replace(found), lower, function, native, target))
    return found


def _inlined(
    calling: Specialization, lower: Callable[[Target], Entry], function: Any, native: Native, target: Target
) -> Specialization:
    """What stands for a derivative with calls where inlining them matters; it takes the same inputs."""
    with _lock, Compilation():
        target = replace(target, inlined=ALL_INLINED)
        other = compile_entry(lower(target), function, native, None, target)
        before = [item.path for item in calling.captured]
        root, first = differentiated(function), len(calling.function.params) - len(before)

        def call(*inputs: Any) -> Any:
            own = dict(zip(before, inputs[first:], strict=True))
            captured = [own[item.path] if item.path in own else item.read(root) for item in other.captured]
            return other.call(*inputs[:first], *captured)

        same = before == [item.path for item in other.captured]
        return _standing_in(calling, other.call if same else call, other.function, other.emitted)


def _interpreted(
    lower: Callable[[Target], Entry], operator: Any, function: Any, failure: Exception, seen: Seen
) -> tuple[Specialization, tuple[Diagnostic, ...]]:
    """What stands for a specialisation for machine code that a fault of the compiler prevents."""
    from adjoint.native.compile.not_native import NotNative, reason_of_fault  # lazy

    found, warnings = _compiled(lower, operator, function, False, seen)
    return found, (*warnings, NotNative(reason_of_fault(failure)).problem)


def _find(
    owner: Any, key: Any, root: Any, args: Sequence[Any], kwargs: Mapping[str, Any], seen: Seen
) -> Specialization | None:
    for candidate in _tables.get(owner, {}).get(key, ()):
        if candidate.fits(root, args, kwargs, seen):
            return candidate
    return None


def latest(function: Any, key: Any, native: Native = False) -> Specialization | None:
    """The specialisation that was compiled last for a derivative."""
    owner, identity = _owner(function, differentiated(function))
    wanted = (key, native, identity)
    found = [entries[0] for full, entries in _tables.get(owner, {}).items() if full[:3] == wanted]
    return found[-1] if found else None


def _owner(function: Any, root: Any) -> tuple[Any, Any]:
    """What a table of specialisations hangs on, and what tells functions apart that share it.

    What is made anew for each call, such as a bound method, a partial or a lambda, shares the table of its code.
    """
    owner, identity = _owner_of_root(root)
    return owner, (_operators(function, root), identity) if function is not root else identity


def _operators(function: Any, root: Any) -> tuple[Any, ...]:
    """The operators between a function and what it differentiates at last."""
    chain = []
    while function is not root:
        kind, function, options = function.__adjoint_operator__
        chain.append((kind, options))
    return tuple(chain)


def _owner_of_root(root: Any) -> tuple[Any, Any]:
    if isinstance(root, types.FunctionType):
        return root.__code__, (id(root.__globals__), id(root) if is_of_users(root) else 0)
    if isinstance(root, types.MethodType) and isinstance(root.__func__, types.FunctionType):
        return root.__func__.__code__, (ref(root.__func__), keys_of((root.__self__,)))
    if isinstance(root, functools.partial):
        return _owner_of_root(root.func)[0], keys_of((root,))
    if has_fields(root):
        return type(root), id(root) if counts_by_identity(root) else None
    try:
        hash(root)
        _tables.get(root)
    except TypeError:
        return type(root), id(root)
    return root, None


def target_of(function: Any, native: Native) -> Target:
    """What a derivative of a function is made for, as users say it."""
    return Target(True, checked_of(differentiated(function), native), threads_of(native)) if native else PYTHON


def compile_entry(
    entry: Entry,
    function: Any,
    native: Native = False,
    seen: Seen | None = None,
    target: Target = PYTHON,
    *,
    speculates: bool = False,
) -> Specialization:
    """Prints and loads a lowered entry; where it ``speculates``, without supports as long as results are numbers."""
    context = Context(target)
    whole = run(EXPAND, entry.function, context)
    quick = run(SPECULATE, whole, context) if speculates and entry.adjoint is None else whole
    finished = run(TOUCH_UP, quick, context)
    emitted = emit(finished)
    adjoint = adjoint_emitted = finished_adjoint = None
    if entry.adjoint is not None:
        finished_adjoint = finish(entry.adjoint, target=target)
        native = _native_halves(finished, finished_adjoint, native)
        adjoint_emitted = emit(finished_adjoint)
        adjoint = load_for(function, finished_adjoint, adjoint_emitted, native)
    differential = differential_emitted = None
    if entry.differential is not None:
        from adjoint.frontend.differentiation.linear_maps import finished as finished_differential_of  # lazy

        finished_differential = finished_differential_of(entry.differential.function, target)
        differential_emitted = emit(finished_differential)
        differential = load_for(function, finished_differential, differential_emitted, native)
    changed = _changed(finished)
    written = tuple(
        place
        for place, param in enumerate(finished.params)
        if param in changed or (isinstance(param.type, (Array, List, Dict)) and param.type.storage.written)
    )
    root = differentiated(function)
    seen = dict(seen or {})
    keys = tuple([key_of(item.read(root), seen) for item in entry.captured])
    found = Specialization(
        load_for(function, finished, emitted, native),
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
        native=native,
        adjoint_function=finished_adjoint,
        differential=differential,
        differential_emitted=differential_emitted,
        linear=entry.differential,
        component=entry.component,
        checkpoints=entry.checkpoints,
        target=target,
    )
    if quick is not whole:
        found.call = Speculative(found.call, functools.partial(_with_supports, replace(found), whole, function, target))
    return found


def _with_supports(quick: Specialization, whole: Function, function: Any, target: Target) -> Specialization:
    """What stands for a derivative without supports where they matter."""
    with _lock, Compilation():
        finished = run(TOUCH_UP, whole, Context(target))
        emitted = emit(finished)
        return _standing_in(quick, load_for(function, finished, emitted, quick.native), finished, emitted)


def _standing_in(
    quick: Specialization, call: Callable[..., Any], function: Function, emitted: Emitted
) -> Specialization:
    """What takes the place of a derivative whose results are not numbers."""
    return replace(quick, call=call, function=function, emitted=emitted, door=None, lanes={}, ways=None)


def _native_halves(primal: Function, adjoint: Function, native: Native) -> Native:
    """Whether the halves of a derivative are compiled: both or neither, where one relies on what the other keeps."""
    if not native:
        return native
    from adjoint.native.compile.pullbacks import parted  # lazy

    reason = parted(primal, adjoint)
    if reason is None:
        return native
    if is_strict(native):
        raise DifferentiationError(reason.problem)
    warn(reason.problem)
    return False


def _changed(function: Function) -> set[Atom]:
    """What a function writes to, itself or in something that it holds."""
    found: set[Atom] = set()
    holders: dict[Atom, Atom] = {}
    for statement in statements_in(function.body):
        if type(statement) is Call:
            if statement.callee is put_attribute:
                found.add(statement.args[0])
        elif isinstance(statement, Load):
            holders[statement.target] = statement.base
            type_ = statement.target.type
            if isinstance(type_, (Array, List, Dict)) and type_.storage.written:
                found.add(statement.target)
        elif isinstance(statement, Store):
            found.add(statement.base)
    for atom in list(found):
        while atom in holders:
            atom = holders[atom]
            found.add(atom)
    return found


def load_for(function: Any, finished: Function, emitted: Emitted | None, native: Native) -> Callable[..., Any]:
    """A finished derivative of a function as a callable; ``emitted`` is its text, where it was printed."""
    if not native:
        return load(emitted or emit(finished))
    from adjoint.native.backend import NativeFunction  # lazy

    flags = flags_of(differentiated(function), native)
    return NativeFunction(finished, flags, is_strict(native), target_of(function, native))
