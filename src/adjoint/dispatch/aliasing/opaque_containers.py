"""Objects that nobody looks into, and that hold others: deques, iterators, weak references, caches of functions.

What lies in them may be reached openly, too, where it is another thing to the compiler: that is right as long as
nobody writes it. Which objects a function reads in this way is found when it is compiled; what they hold is asked at
each call.
"""

from __future__ import annotations

import gc
import types
import weakref
from _thread import _local  # `threading` takes a while to import
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.reachable import may_keep_in
from adjoint.diagnostics import error
from adjoint.dispatch.aliasing.parameter_paths import Origins
from adjoint.dispatch.aliasing.parts import PLAIN, Way, at_way, is_of_objects, parts_of, share_memory
from adjoint.frontend.entry.captured import has_fields
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_in
from adjoint.records import dataclass
from adjoint.runtime import display
from adjoint.sources.library_folders import is_of_a_library
from adjoint.types.array_libraries import is_array
from adjoint.types.structure import DICTS, is_written_in_python

_OPEN = (
    types.FunctionType,
    types.MethodType,
    types.ModuleType,
    types.CodeType,
    types.FrameType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    np.dtype,
    type,
)
"""Classes of objects that are looked into when a function is compiled, or that hold what is no data of a program."""


_LOOKED_INTO = (list, dict, tuple)


@dataclass(frozen=True, slots=True)
class Holders:
    """The objects that a function reads, and nobody looks into.

    Attributes
    ----------
    ways
        The inputs that may be one or hold one, with the way to it.
    keepers
        Those of them in which the function may store what varies.
    constants
        Those that the function names itself.
    """

    ways: frozenset[tuple[int, Way]]
    keepers: frozenset[tuple[int, Way]]
    constants: tuple[Any, ...]
    keeps: bool
    keyed: frozenset[tuple[int, Way]] = frozenset()
    """The dicts of whose keys something is read."""

    def refuse(self, inputs: Sequence[Any], written: Mapping[str, Sequence[Any]]) -> None:
        """Raises for what may be written, and lies in an object that nobody looks into, too, or the other way round.

        What is ``written`` is given by the names of the inputs in which it lies.
        """
        holders = self.of(inputs)
        held = held_in(holders) if holders else []
        if not held:
            return
        for name, parts in written.items():
            if any_in_common(parts, held):
                label = f"{name} is written, and lies in an object that is not looked into, too"
                raise error("AD0303", None, label, helps=("read it from where it is written",))
        if self.keeps and any_in_common(reached_openly(inputs, holders), held):
            label = "what lies in an object that is not looked into, and may be written there, is reached openly, too"
            raise error("AD0303", None, label, helps=("reach it in one way only",))

    def of(self, inputs: Sequence[Any]) -> list[Any]:
        """These objects, as a call finds them."""
        found = [one for place, way in self.ways for one in at_way(inputs[place], way) if is_holder(one)]
        tables = [one for place, way in self.keyed for one in at_way(inputs[place], way) if isinstance(one, dict)]
        return [*self.constants, *found, *self._keepers(inputs), *map(list, tables)]

    def _keepers(self, inputs: Sequence[Any]) -> Iterator[Any]:
        for place, way in self.keepers:
            yield from (one for one in at_way(inputs[place], way) if type(one) not in _LOOKED_INTO)


def holders_of(function: ir.Function) -> Holders | None:
    """What a function reads and nobody looks into; None, where there is nothing of this kind."""
    used: list[ir.Atom] = []
    keepers: list[ir.Atom] = []
    constants: dict[int, Any] = {}
    keyed: list[ir.Atom] = []
    keeps = False
    for statement in statements_in(function.body):
        read = operands(statement)
        used += (atom for atom in read if _is_opaque(atom))
        named = [atom.value for atom in read if isinstance(atom, ir.Const)]
        if isinstance(statement, ir.Call) and statement.callee is display.keys_of:
            keyed += statement.args
        if isinstance(statement, ir.Call):
            named = [] if is_own(statement.callee) else [*named, statement.callee]
            kept = may_keep_in(statement)
            if kept and any(ir.may_vary(type_of_atom(atom)) for atom in read if atom not in kept):
                keepers += [atom for atom in kept if not _is_looked_into(atom)]
                keeps = True
        constants.update((id(value), value) for value in named if is_holder(value))
    if not used and not keepers and not constants:
        return None
    origins = Origins(function)
    ways, tables = origins.from_params(used), origins.from_params(keyed)
    if not ways and not constants and not tables:
        return None
    return Holders(ways, origins.from_params(keepers), tuple(constants.values()), keeps, tables)


def _is_looked_into(atom: ir.Atom) -> bool:
    """Whether the parts of a container are inputs of their own."""
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Opaque) and type_.cls in _LOOKED_INTO


def is_own(callee: Any) -> bool:
    """Whether it is a function of the runtime, or of the IR."""
    homes = getattr(callee, "__module__", None), type(callee).__module__
    return any(isinstance(home, str) and home.startswith("adjoint.") for home in homes)


def _is_opaque(atom: ir.Atom) -> bool:
    """Whether nobody may look into a value, as far as its type says."""
    if not isinstance(atom, ir.Var) or not isinstance(atom.type, ir.Opaque):
        return False
    cls = atom.type.cls
    return cls is None or (cls not in PLAIN and cls not in _LOOKED_INTO and _inherits_from_c(cls))


def is_holder(value: Any) -> bool:
    """Whether something is of a class in C, or inherits from one, and holds other objects."""
    cls = type(value)
    if cls in PLAIN or cls in _LOOKED_INTO or isinstance(value, _OPEN):
        return False
    if isinstance(value, (list, dict)):
        return True
    if is_array(value):
        return is_of_objects(value)
    if isinstance(value, types.BuiltinMethodType):
        return not (isinstance(value.__self__, (types.ModuleType, type)) or type(value.__self__) in PLAIN)
    if not gc.is_tracked(value):
        return False
    return not has_fields(value) or isinstance(value, weakref.ref) or (_inherits_from_c(cls) and _holds_more(value))


def _inherits_from_c(cls: type) -> bool:
    """Whether a class has what it holds from one in C."""
    return any(base not in _WITHOUT_DATA and _is_of_c(base) for base in cls.__mro__)


def _is_of_c(cls: type) -> bool:
    """Whether no statement made a class: nobody may change it, or its memory is that of a library."""
    return bool(cls.__flags__ & _IMMUTABLE) or not is_written_in_python(cls)


_IMMUTABLE = 1 << 8


def _holds_more(value: Any) -> bool:
    """Whether an object holds something else than its attributes."""
    parts = [part for _, part in parts_of(value)]
    own = {*map(id, parts), id(getattr(value, "__dict__", None)), id(type(value))}
    return any(type(one) not in PLAIN and id(one) not in own for one in gc.get_referents(value))


_WITHOUT_DATA = (object, tuple, BaseException, _local, *PLAIN)
"""Classes in C of objects that hold nothing but items of tuples, and attributes."""


def held_in(holders: Iterable[Any]) -> list[Any]:
    """The lists, dicts, arrays and objects that lie in such objects, in what lies there, and that functions name."""
    found: dict[int, Any] = {}
    pending: list[Any] = []
    for holder in holders:
        parts = _hidden_parts(holder)
        called = [getattr(holder, "__wrapped__", None)] if callable(holder) else parts
        pending += (*parts, *_named_by([each for each in called if isinstance(each, types.FunctionType)]))
    while pending:
        one = pending.pop()
        if type(one) in PLAIN or id(one) in found or isinstance(one, _NO_DATA):
            continue
        found[id(one)] = one
        pending += _hidden_parts(one)
    return [one for one in found.values() if _has_memory(one)]


def _named_by(functions: list[types.FunctionType]) -> list[Any]:
    """The global variables of users' functions, and of users' functions that these name."""
    found: dict[int, Any] = {}
    pending = list(functions)
    while pending:
        function = pending.pop()
        if is_of_a_library(function.__code__.co_filename):
            continue
        names = function.__code__.co_names
        named = [function.__globals__[name] for name in names if name in function.__globals__]
        pending += [one for one in named if isinstance(one, types.FunctionType) and id(one) not in found]
        found.update((id(one), one) for one in named)
    return list(found.values())


_NO_DATA = (types.ModuleType, type, types.CodeType, np.dtype)


def _has_memory(value: Any) -> bool:
    """Whether something may be written in a way that a derivative sees."""
    return isinstance(value, (list, dict)) or is_array(value) or has_fields(value)


def _hidden_parts(value: Any) -> list[Any]:
    """What an object holds by any name."""
    parts = [part for _, part in parts_of(value)]
    is_known = parts or is_array(value) or has_fields(value) or isinstance(value, types.FunctionType)
    return parts if is_known else gc.get_referents(value)


def reached_openly(inputs: Sequence[Any], holders: Sequence[Any]) -> list[Any]:
    """The lists, dicts, arrays and objects in inputs to which a way leads past these, and past others of their kind."""
    closed = set(map(id, holders))
    found: dict[int, Any] = {}
    pending = list(inputs)
    while pending:
        one = pending.pop()
        if type(one) in PLAIN or id(one) in found or id(one) in closed or (is_holder(one) and type(one) not in DICTS):
            continue
        found[id(one)] = one
        pending += [part for _, part in parts_of(one)]
    return [one for one in found.values() if _has_memory(one)]


def any_in_common(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two groups of lists, dicts, arrays and objects have one in common, or memory."""
    known = set(map(id, others))
    arrays = [one for one in others if is_array(one)]
    return any(
        id(one) in known or (is_array(one) and any(share_memory(one, other) for other in arrays)) for one in some
    )
