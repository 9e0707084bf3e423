"""Compiled derivatives, one for each kind of call; found again by what the call looks like."""

from __future__ import annotations

import functools
import sys
import types
from _thread import RLock  # `threading` takes a while to import
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from adjoint import ir
from adjoint.diagnostics import Diagnostic, error
from adjoint.diagnostics.errors import warn
from adjoint.dispatch.aliasing.parts import (
    arrays_in,
    containers_in,
    objects_in,
    overlaps_itself,
    share_memory,
    shares_written,
    written_and_shared,
    written_containers,
    written_parts,
)
from adjoint.dispatch.as_found import keep_as_found
from adjoint.dispatch.drawn_numbers import keep_generators
from adjoint.dispatch.keys import Door, Seen, key_of, keys_of
from adjoint.dispatch.options import Native
from adjoint.dispatch.speculative import Speculative
from adjoint.frontend.entry.captured import Captured, Guard, differentiated, has_fields, part_at
from adjoint.gc_pause import Compilation
from adjoint.progress import differentiating
from adjoint.records import dataclass, field
from adjoint.rules.declarations import counts_by_identity
from adjoint.rules.registry import is_of_users, on_change
from adjoint.runtime.objects import Checkpoints
from adjoint.runtime.outside import is_one_of_several
from adjoint.self_check.versions import ensure_understood
from adjoint.target import PYTHON, Target
from adjoint.types.array_libraries import is_array

if TYPE_CHECKING:
    from adjoint.codegen.texts import Emitted
    from adjoint.dispatch.aliasing.opaque_calls import UnseenCalls
    from adjoint.dispatch.aliasing.opaque_containers import Holders
    from adjoint.dispatch.persistent_cache import Further
    from adjoint.frontend.differentiation.linear_maps import Differential
    from adjoint.frontend.entry.restarts import Entry

Lower = Callable[[Sequence[Any], Mapping[str, Any], Target], "Entry"]
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
    further
        Where that is kept between processes, if it is.
    target
        What it was made for.
    in_place_of
        For one that takes the place of another, and captures other data: what takes the inputs of that.
    ways
        The ways from arguments to the arrays in them that are written, to the lists and dicts, and to the objects, once
        somebody has asked for them.
    holders
        The objects that the function reads and nobody looks into, if there are any.
    unseen
        The calls of what nobody looks into, if there are any.
    draws
        Whether it may draw random numbers.
    """

    call: Callable[..., Any]
    function: ir.Function
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
    adjoint_function: ir.Function | None = None
    differential: Callable[..., Any] | None = None
    differential_emitted: Emitted | None = None
    linear: Differential | None = None
    component: tuple[Any, ...] = ()
    checkpoints: type[Checkpoints] | None = None
    lanes: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    further: Further | None = field(default=None, compare=False, repr=False)
    target: Target = PYTHON
    in_place_of: Callable[..., Any] | None = None
    ways: tuple[dict[int, Any], ...] | None = field(default=None, compare=False, repr=False)
    draws: bool = False
    holders: Holders | None = None
    unseen: UnseenCalls | None = None

    def fits(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], seen: Seen) -> bool:
        """Whether this may be used for such a call as the world is now."""
        if self.argument_guards and not self.fits_arguments(args, kwargs):
            return False
        for guard in self.guards:  # a generator would take half as long again
            if not guard.holds(function):
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
    def names(self) -> Sequence[str]:
        """What the inputs are called."""
        return [param.hint for param in self.function.params]

    def is_object(self, place: int) -> bool:
        """Whether an input is an object that is taken apart at run time."""
        return isinstance(self.function.params[place].type, ir.Instance)

    @property
    def writes_containers(self) -> bool:
        """Whether arguments other than arrays are written: their parts may be others behind a call."""
        return any(not isinstance(self.function.params[place].type, ir.Array) for place in self.written)

    @property
    def exact(self) -> Specialization:
        """The same with supports, where it was compiled without them until a result is not a number."""
        return self.call.exact() if isinstance(self.call, Speculative) else self

    def only_for_numpy(self, tool: str) -> None:
        """Raises where the arrays are of another library, for a tool that runs the text with NumPy."""
        if self.target.library is not None:
            label = f"{tool} takes arrays of NumPy, and these are of {self.target.library}"
            raise error("AD0603", None, label, name=tool)

    def run(self, function: Any, arguments: Sequence[Any]) -> Any:
        """Calls the compiled entry."""
        return self.call(*self.inputs(function, arguments))

    def inputs(self, function: Any, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """What the compiled entry takes: the arguments, then what was captured."""
        inputs = (*arguments, *[item.read(function) for item in self.captured])
        for item, value in zip(self.captured, inputs[len(arguments) :], strict=True):
            if item.is_written:
                keep_as_found(value)
        if self.draws and is_one_of_several():
            keep_generators(inputs[len(arguments) :])
        if self.may_collide:
            self.check_overlap(inputs)
        return inputs

    def door_to_inputs(self, function: Any, args: Sequence[Any]) -> Door:
        """As the door, made for such arguments: gives the inputs of the compiled entry and does not call it."""
        from adjoint.dispatch.fast_path import write_door  # lazy

        return write_door(self, function, args, is_called=False)

    def has_written_and_shared(self, place: int, value: Any) -> bool:
        """Whether an argument holds arrays that share memory, of which one may be written."""
        return written_and_shared(value, self._ways()[0][place])

    def _ways(self) -> tuple[dict[int, Any], ...]:
        if self.ways is None:
            from adjoint.dispatch.written_arguments import KINDS, ways_to_written  # lazy

            self.ways = tuple([ways_to_written(self.function, self.written, kinds) for kinds in KINDS])
        return self.ways

    def _check_containers(self, place: int, inputs: Sequence[Any]) -> None:
        """Refuses lists and dicts in an argument that are written, and reached in another way, too."""
        written = {id(one) for one in written_containers(inputs[place], self._ways()[1][place])}
        distinct = {id(value): value for value in inputs if has_fields(value)}.values()
        others = [*distinct, *(value for value in inputs if not has_fields(value))] if written else []
        reached = Counter(id(one) for value in others for one in containers_in(value))
        if any(reached[one] > 1 for one in written):
            label = f"a list or dict in {self._named(place)} is reached in two ways, and the function writes it"
            raise error("AD0303", None, label, helps=("put a copy of it there",))

    def check_overlap(self, inputs: Sequence[Any]) -> None:
        """Refuses arguments and captured data that share memory with an argument that is written."""
        if is_one_of_several():
            self.refuse_two_names(inputs)
        for place in self.written:
            if not is_array(inputs[place]) and self.has_written_and_shared(place, inputs[place]):
                label = f"arrays in {self._named(place)} share memory, and the function writes one"
                raise error("AD0303", None, label, helps=("put a copy of one of them there",))
            if overlaps_itself(inputs[place]):
                label = f"elements of {self._named(place)} share memory, and the function writes them"
                raise error("AD0303", None, label, helps=("pass a copy of it",))
            for other, value in enumerate(inputs):
                if other == place or (self._may_be_shared(place) and self._is_captured(other)):
                    continue
                if self._is_written_in(place, inputs[place], value):
                    first, last = sorted((place, other))
                    pair = f"{self._named(first)} and {self._named(last)}"
                    if not self._is_captured(last):
                        pair = f"arguments {first} and {last}"
                    label = f"{pair} share memory, and the function writes one"
                    helps = ("let one of them be a copy",) if self._is_captured(first) else _COPIED
                    raise error("AD0303", None, label, helps=helps)
            if not is_array(inputs[place]) and not self._may_be_shared(place):
                self._check_containers(place, inputs)
        if self.holders is None and self.unseen is None:
            return
        written = {place: self._written_in(place, inputs[place]) for place in self.written}
        if self.holders is not None:
            self.holders.refuse(inputs, {self._named(place): parts for place, parts in written.items()})
        if self.unseen is not None:
            self.unseen.refuse(inputs, [one for parts in written.values() for one in parts], self._paths)

    def _written_in(self, place: int, value: Any) -> list[Any]:
        return [value] if is_array(value) else written_parts(value, [ways[place] for ways in self._ways()])

    @property
    def _paths(self) -> list[Any]:
        return [*(item.path for item in self.captured), *(guard.path for guard in self.guards)]

    @property
    def _keeps(self) -> bool:
        return self.holders is not None and self.holders.keeps

    @property
    def may_collide(self) -> bool:
        """Whether inputs that have memory in common may be wrong."""
        return bool(self.written) or self._keeps or self.unseen is not None

    def refuse_two_names(self, inputs: Sequence[Any]) -> None:
        """Refuses objects that are captured and lie in an argument, too, where further runs get copies of arguments."""
        if self.has_two_names(inputs):
            label = "an object in an argument is captured, too, and the function, which runs several times, writes"
            raise error("AD0303", None, label, helps=_COPIED)

    def has_two_names(self, inputs: Sequence[Any]) -> bool:
        """Whether an object is reached from an argument and from what is captured."""
        first = len(inputs) - len(self.captured)
        given = {id(one) for one in objects_in(inputs[:first])} if self.captured else set()
        return bool(given) and any(id(one) in given for one in objects_in(inputs[first:]))

    def _is_written_in(self, place: int, written: Any, other: Any) -> bool:
        """Whether an input has memory of another one that is written, in which arrays in it may lie."""
        if is_array(written):
            return any(share_memory(written, array) for array in arrays_in(other))
        if written is other:  # an object is known as one by all of its names
            return isinstance(written, (list, dict))
        return shares_written(written, other, self._ways()[0][place])

    def _may_be_shared(self, place: int) -> bool:
        """Objects of libraries are full of arrays that these might write for all we know, and share them freely."""
        return self._is_captured(place) and self.is_object(place) and not self._is_lifted(place)

    def _is_lifted(self, place: int) -> bool:
        """Whether it is captured, and the function writes what varies there: it is treated as an argument."""
        return self._is_captured(place) and self.captured[place - len(self.names)].is_written

    def _is_captured(self, place: int) -> bool:
        return place >= len(self.names) - len(self.captured)

    def _named(self, place: int) -> str:
        """What messages call one of the inputs."""
        return f"the captured {self.names[place]!r}" if self._is_captured(place) else f"argument {place}"


_COPIED = ("pass a copy of one of them",)


def _part_at(path: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A part of the arguments of a call."""
    _, place, *rest = path
    return part_at(kwargs[place] if isinstance(place, str) else args[place], rest)


lock = RLock()
_tables: WeakKeyDictionary[Any, dict[Any, list[Specialization]]] = WeakKeyDictionary()


def specialization(
    function: Any,
    key: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    lower: Callable[[Target], Entry] | None,
    native: Native = False,
    again: Lower | None = None,
) -> Specialization:
    """The compiled derivative for a call: an old one that fits, or a new one.

    Parameters
    ----------
    function
        What is differentiated.
    key
        The operator and its options.
    args, kwargs
        The arguments.
    lower
        Lowers the call; None where ``again`` does.
    native
        Whether and how it is compiled.
    again
        Lowers a call with other arguments, which are given. Where it is there, machine code may be found without that.
    """
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
    with lock:
        found = _find(owner, full, root, args, kwargs, seen)
        if found is None:
            with Compilation():
                if native and again is not None:
                    found, warnings = _found_or_made(function, key, args, kwargs, again, native, seen)
                else:
                    if lower is None:
                        assert again is not None
                        lower = functools.partial(again, args, kwargs)
                    found, warnings = _made(lower, key, function, native, seen)
            _keep(owner, full, found)
            for warning in warnings:
                warn(warning)
            if found.written:
                from adjoint.dispatch import written_arguments  # lazy

                written_arguments.tell(found, key, root, args)
        return found


def _made(
    lower: Callable[[Target], Entry], key: Any, function: Any, native: Native, seen: Seen
) -> tuple[Specialization, tuple[Diagnostic, ...]]:
    from adjoint.dispatch.compiling import compiled  # lazy

    ensure_understood()
    with differentiating(function):
        return compiled(lower, key, function, native, seen)


def _found_or_made(
    function: Any, key: Any, args: Sequence[Any], kwargs: Mapping[str, Any], again: Lower, native: Native, seen: Seen
) -> tuple[Specialization, tuple[Diagnostic, ...]]:
    """What another process kept for such a call, or a new derivative, which is kept."""
    from adjoint.dispatch import persistent_cache  # lazy

    def make(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Specialization:
        with lock, Compilation():
            return _made(functools.partial(again, args, kwargs), key, function, native, {})[0]

    request = persistent_cache.Request(key, function, native, args, kwargs)
    kept = persistent_cache.found(request, seen, make)
    if kept is not None:
        return kept, ()
    found, warnings = _made(functools.partial(again, args, kwargs), key, function, native, seen)
    if not warnings:
        persistent_cache.keep(request, found)
    return found, warnings


def forget() -> None:
    """Forgets all specialisations: something was declared, after which they may be others."""
    with lock:
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
