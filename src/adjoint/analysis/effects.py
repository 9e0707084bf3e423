"""What a call does besides computing its results: which memory it writes, what its results share, whether it may go.

A callee's rule tells; for Python's own functions a table does; for functions of the IR their bodies do. What nobody
vouches for is taken to do anything.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Collection, Iterable
from functools import lru_cache
from types import BuiltinMethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import ir
from adjoint.analysis.called_functions import calls_in, calls_of_functions, function_behind, functions_run
from adjoint.analysis.memory.results_of_functions import results_of_their_own
from adjoint.analysis.operand_types import are_numbers, may_be_overloaded
from adjoint.ir.join import type_of_atom
from adjoint.ir.raising import NEVER_OF_FLOATS, always_raises
from adjoint.ir.walk import leaves, operands, statements_in, terminators_in
from adjoint.records import dataclass, field, replace
from adjoint.rules.registry import declaration_for, on_change, rule_for
from adjoint.runtime import tangents
from adjoint.runtime.copies import fresh_shadows
from adjoint.runtime.objects import Checkpoints
from adjoint.types.classes.safe_lookups import asked
from adjoint.types.vectors import TangentVector

if TYPE_CHECKING:
    from adjoint.rules.kinds import Rule

from adjoint.analysis.known_effects import (
    ACTS,
    DISPLAYS,
    FACT,
    FRESH,
    KNOWN,
    KNOWN_BY_NAME,
    PART,
    PURE,
    UNKNOWN,
    VALUES,
    WRITES_FIRST,
    Effects,
    of_ufunc,
)

_SIZES = (len, np.shape, np.ndim, np.size)
_OF_SLOTS = (fresh_shadows, tangents.shadow, tangents.shadow_like, tangents.shadow_of_values)
"""Functions that look at the slots of objects, and call no operator that a class may have declared."""
_WITH_MEMO: dict[Any, int] = {tangents.to_shadow: 2, tangents.finish: 2, tangents.zero_tangent: 1}
"""Functions that may be given what earlier calls made, and after how many other arguments."""


def _known_by_name(callee: Any) -> Effects | None:
    functions = KNOWN_BY_NAME.get(getattr(callee, "__module__", None) or "")
    return None if functions is None else functions.get(callee.__name__)


def effects(callee: Any) -> Effects:
    """What a call of ``callee`` does, whatever it is called with."""
    try:
        found = KNOWN.get(callee) or _known_by_name(callee)
    except TypeError:  # not hashable
        return UNKNOWN
    return _declared(callee) if found is None else found


def _declared(callee: Any) -> Effects:
    """The effects of what the table does not know."""
    if isinstance(callee, (ir.Function, ir.Definition, ir.Derived)):
        return _of_function(callee, _Query())
    if isinstance(callee, (ir.Declared, ir.Requested)):
        return PURE
    if isinstance(callee, ir.Applied):
        return VALUES
    if declaration_for(callee) is not None:
        return ACTS
    if isinstance(callee, np.ufunc):
        return of_ufunc(callee)
    rule = rule_for(callee)
    return _by_kind(callee) if rule is None else _by_rule(rule)


@lru_cache(maxsize=1024)
def _by_rule(rule: Rule) -> Effects:
    return Effects(
        pure=rule.pure and not rule.writes,
        writes=rule.writes,
        view_of=rule.view_of,
        confined=rule.pure,
        **({"fresh": rule.fresh} | _display_facts(rule.fn)),
    )


_MOST_CALLS = 1 << 16
_of_calls: dict[int, tuple[ir.Call, Effects]] = {}
"""What calls do that were asked about lately, by identity: passes ask of each some ten times."""
on_change(_of_calls.clear)


def effects_of(call: ir.Call) -> Effects:
    """What a call does, its arguments considered."""
    known = _of_calls.get(id(call))
    if known is not None:
        return known[1]
    found = _effects_of(call)
    if not isinstance(call.callee, (ir.Function, ir.Definition, ir.Derived)):  # behind which more may be known later
        if len(_of_calls) >= _MOST_CALLS:
            _of_calls.clear()
        _of_calls[id(call)] = call, found
    return found


def _effects_of(call: ir.Call) -> Effects:
    callee = call.callee
    try:
        known = KNOWN.get(callee) or _known_by_name(callee)
    except TypeError:  # not hashable
        return UNKNOWN
    numbers = are_numbers(call.args) and not call.kwargs
    if numbers and known is not None and callee not in NEVER_OF_FLOATS:
        return known  # which most calls are
    found = _declared(callee) if known is None else known
    if found is UNKNOWN:
        return found
    if found.confined and (not numbers or callee in NEVER_OF_FLOATS) and always_raises(call):
        return _impure(found)
    if found.fresh and callee in _WITH_MEMO and len(call.args) > _WITH_MEMO[callee]:
        return UNKNOWN  # it writes to what earlier calls made
    if call.kwargs and any(name == "out" and value != ir.Const(None) for name, value in call.kwargs):
        return UNKNOWN
    if isinstance(callee, ir.Declared) and _hands_on(call):
        return PART
    if known is None:
        return UNKNOWN if isinstance(callee, np.ufunc) and len(call.args) > callee.nin else found
    if found.pure and found is not FACT and callee not in _OF_SLOTS and may_be_overloaded(call.args):
        return _impure(found)
    if found is FACT and callee in _SIZES and any(_may_grow(type_of_atom(arg)) for arg in call.args):
        return PURE
    return found


def _may_grow(type_: ir.Type | None) -> bool:
    """Whether the size of a value may be another one later."""
    match type_:
        case ir.List() | ir.Dict() | ir.Instance():
            return True
        case ir.Opaque(cls=cls):
            return cls is None or not issubclass(cls, (np.ndarray, tuple, str, bytes, range))
        case _:
            return False


@lru_cache(maxsize=64)
def _impure(found: Effects) -> Effects:
    return replace(found, pure=False, confined=False)


def _display_facts(callee: Any) -> dict[str, Any]:
    display = _display(callee)
    return {} if display is None else {"fresh": display.fresh, "hands_on": display.hands_on}


def _display(callee: Any) -> Effects | None:
    if getattr(callee, "__module__", None) != "adjoint.runtime.display":
        return None
    return DISPLAYS.get(getattr(callee, "__name__", ""))


def _by_kind(callee: Any) -> Effects:
    display = _display(callee)
    if display is not None:
        return display
    if isinstance(callee, np.ufunc):
        return of_ufunc(callee)
    if isinstance(callee, type) and issubclass(callee, np.generic):
        return PURE
    if isinstance(callee, type) and issubclass(callee, (TangentVector, Checkpoints)):
        return FRESH
    if (
        isinstance(callee, type)
        and issubclass(callee, BaseException)
        and getattr(builtins, callee.__name__, 0) is callee
    ):
        return FRESH
    owner = type(callee.__self__) if isinstance(callee, BuiltinMethodType) else asked(callee, "__objclass__")
    return PURE if owner in (str, bytes, int, float, complex, tuple, range) else UNKNOWN


# Functions of the IR

_MOST_REMEMBERED = 1024
_Behind = tuple[tuple[ir.Definition, ir.Function | None], ...]
_judged: dict[ir.Function, tuple[Effects, _Behind]] = {}
"""What functions do, and what was behind the definitions that this was seen from: passes ask of the same few."""
on_change(_judged.clear)


def _of_function(callee: ir.Function | ir.Definition | ir.Derived, query: _Query) -> Effects:
    """The effects of a body, as far as they are easy to see; a function that calls itself is judged by the rest."""
    if isinstance(callee, ir.Derived):
        places = written_places(callee.function)
        return Effects(pure=False, writes=places, confined=False, fresh=True, hands_on=True)
    if isinstance(callee, ir.Definition):
        query.definitions[callee] = callee.function
    function = callee.function if isinstance(callee, ir.Definition) else callee
    if function is None:
        return UNKNOWN
    if function in query.judged:
        judged = query.judged[function]
        query.crossed |= judged is None or function in query.crossing
        return judged or PART
    known = _judged.get(function)
    if known is not None and all(definition.function is behind for definition, behind in known[1]):
        query.definitions.update(known[1])
        return known[0]
    return _judge(function, query)


def _judge(function: ir.Function, query: _Query) -> Effects:
    """Looks at a body. What is seen of it is final where nothing hung on a function that is being looked at."""
    is_first = not query.judged
    around, crossed = query.definitions, query.crossed
    query.definitions, query.crossed = {}, False
    query.judged[function] = None
    query.judged[function] = found = _Body(function, query).effects()
    if is_first or not query.crossed:
        if len(_judged) >= _MOST_REMEMBERED:
            _judged.clear()
        _judged[function] = found, tuple(query.definitions.items())
    else:
        query.crossing.add(function)
    around.update(query.definitions)
    query.definitions, query.crossed = around, crossed or query.crossed
    return found


@dataclass(slots=True)
class _Query:
    """What is known of the functions that were met on the way.

    Attributes
    ----------
    definitions
        What is behind the definitions that were met in the function at hand.
    crossed
        Whether one was met there again that is being looked at, or one of ``crossing``.
    crossing
        The functions of which this was so.
    """

    judged: dict[ir.Function, Effects | None] = field(default_factory=dict)
    definitions: dict[ir.Definition, ir.Function | None] = field(default_factory=dict)
    crossed: bool = False
    crossing: set[ir.Function] = field(default_factory=set)


class _Body:
    """What a function does to memory: to what it makes itself anything, to arrays that it is given stores."""

    def __init__(self, function: ir.Function, query: _Query) -> None:
        self.function = function
        self.query = query
        self.own: set[ir.Atom] = set()
        self.given: dict[ir.Atom, int] = {
            param: place for place, param in enumerate(function.params) if isinstance(param.type, ir.Array)
        }
        self.added: set[int] = set()
        self.stored: set[int] = set()
        """The places of arrays that it is given, and into which it stores."""
        self.read: set[int] = set()
        self.handed_on: list[tuple[int, int]] = []
        self.known = True
        self.facts: dict[int, Effects] = {}
        """What its calls do, by their identities."""
        self.acts = any(isinstance(end, ir.Raise) for end in terminators_in(function.body))
        """Whether it does something besides that must not be left out: raises, prints."""
        for statement in statements_in(function.body):
            self.known &= self.statement(statement)
        self.note_read(atom for end in terminators_in(function.body) for atom in operands(end))

    def effects(self) -> Effects:
        changed = True
        while changed:
            changed = False
            for outer, inner in self.handed_on:
                for places in (self.added, self.stored, self.read):
                    if inner in places and outer not in places:
                        places.add(outer)
                        changed = True
        written = self.added | self.stored
        if not self.known or (written and self.query.crossed):
            return UNKNOWN
        returned = [enumerate(operands(end)) for end in leaves(self.function.body)]
        own = results_of_their_own(self.function, lambda call: self.facts.get(id(call), PART))
        known = all(type(type_of_atom(atom)) is ir.Scalar or at in own for end in returned for at, atom in end)
        if not written and not self.acts:
            return Effects(hands_on=not known, own=own) if own else PURE if known else PART
        adds = tuple(sorted(self.added - self.stored - self.read))
        writes = tuple(sorted(written))
        return Effects(pure=False, writes=writes, confined=not self.acts, hands_on=not known, adds=adds, own=own)

    def statement(self, statement: ir.Statement) -> bool:
        """Takes down what a statement does itself; whether that is known."""
        match statement:
            case ir.Call(callee=callee) if self.is_itself(callee):
                self.handed_on += [(self.given[arg], at) for at, arg in enumerate(statement.args) if arg in self.given]
                return True
            case ir.Call():
                return self.call(statement)
            case ir.Load(base=base):
                return self.load(statement, base)
            case ir.Store(base=base, mode=mode, value=value):
                self.note_read((value,))
                if base in self.given:
                    (self.stored if mode == "set" else self.added).add(self.given[base])
                    return True
                return base in self.own
            case _:
                self.note_read(operands(statement))
                return True

    def is_itself(self, callee: object) -> bool:
        if isinstance(callee, ir.Definition):
            self.query.definitions[callee] = callee.function
            return callee.function is self.function
        return callee is self.function

    def call(self, call: ir.Call) -> bool:
        nested = isinstance(call.callee, (ir.Function, ir.Definition, ir.Derived))
        found = self.facts[id(call)] = _of_function(call.callee, self.query) if nested else effects_of(call)
        args = operands(call)
        adds = [self.given.get(args[place]) for place in found.adds]
        self.added.update(place for place in adds if place is not None)
        stores = [place for place in found.writes if place not in found.adds or args[place] not in self.given]
        self.stored.update(self.given[args[place]] for place in stores if args[place] in self.given)
        if not found.known or not all(args[place] in self.own or args[place] in self.given for place in stores):
            return False
        self.acts |= not found.confined
        self.note_read(
            arg
            for place, arg in enumerate(args)
            if place not in found.adds and (found.reads is None or place in found.reads)
        )
        if found.fresh or _repeats_a_list(call):
            self.own.update(call.targets)
        return True

    def load(self, load: ir.Load, base: ir.Atom) -> bool:
        part = isinstance(load.target.type, ir.Array) and isinstance(type_of_atom(base), ir.Array)
        if part and base in self.own:
            self.own.add(load.target)
        elif part and base in self.given and _is_plain(load.key):
            self.given[load.target] = self.given[base]
        elif not isinstance(load.key, ir.Attribute):
            self.note_read((base,))
        type_ = type_of_atom(base)
        return isinstance(type_, ir.Pack) or not isinstance(type_, (ir.Opaque, ir.Instance))

    def note_read(self, atoms: Iterable[ir.Atom]) -> None:
        self.read.update(self.given[atom] for atom in atoms if atom in self.given)


def _repeats_a_list(call: ir.Call) -> bool:
    return call.callee is operator.mul and any(isinstance(target.type, ir.List) for target in call.targets)


def _is_plain(key: ir.Key) -> bool:
    """Whether an index of numbers and slices gives a view."""
    items = key.items if isinstance(key, ir.Subscript) else ()
    return bool(items) and all(
        isinstance(item, ir.Slice) or isinstance(type_of_atom(item), ir.Scalar) for item in items
    )


Written = frozenset[tuple[ir.Storage, str | None]]
"""Slots that a function may write: of which memory, and which field of it; None for any."""


def written_places(function: ir.Function) -> tuple[int, ...]:
    """Which parameters of a function refer to memory that its body may write."""
    return places_of(function, written_slots(function))


def written_args(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The arguments of a call that lead to memory that it may write."""
    values, inner = operands(call), function_behind(call.callee)
    if inner is not None:
        return tuple(values[place] for place in written_places(inner))
    found = effects_of(call)
    return tuple(found.written(values)) if found.known else values


def written_slots(function: ir.Function) -> Written:
    """What the body of a function may write of memory that it has not made itself: a fixed point over its calls."""
    order = functions_run(function)
    known = {each: {(storage.find(), name) for storage, name in _written_itself(each)} for each in order}
    is_settled = False
    while not is_settled:
        is_settled = True
        for each in order:
            before = len(known[each])
            for call in calls_of_functions(each):
                inner = function_behind(call.callee)
                if inner is None:
                    continue
                values = (*call.args, *(value for _, value in call.kwargs))
                for place in places_of(inner, known[inner]):
                    known[each].update((storage, None) for storage in ir.storages(type_of_atom(values[place])))
            is_settled &= len(known[each]) == before
    return frozenset(known[function])


@lru_cache(maxsize=_MOST_REMEMBERED)
def _written_itself(function: ir.Function) -> Written:
    """What a function may write by its own statements, without the functions that it calls."""
    own = made_here(function)
    written: set[tuple[ir.Storage, str | None]] = set()
    for statement in statements_in(function.body):
        match statement:
            case ir.Store(base=ir.Var(type=type_) as base, key=key):
                name = key.name if isinstance(key, ir.Attribute) else None
                written.update(() if base in own else ((storage, name) for storage in _own_storage(type_)))
            case ir.Call(callee=ir.Function() | ir.Definition() | ir.Derived()):
                pass
            case ir.Call(args=(base, *_)) if base in own and _writes_only_slots(statement):
                pass
            case ir.Call():
                values = (*statement.args, *(value for _, value in statement.kwargs))
                for place in _places_written_by(statement, len(values)):
                    value = type_of_atom(values[place])
                    memory = _own_storage(value) if _writes_only_slots(statement) else ir.storages(value)
                    written.update((storage, None) for storage in memory)
    return frozenset(written)


on_change(_written_itself.cache_clear)


def places_of(function: ir.Function, written: Collection[tuple[ir.Storage, str | None]]) -> tuple[int, ...]:
    """Which parameters of a function lead to slots that are written."""
    memory = {storage for storage, _ in written}
    return tuple(place for place, param in enumerate(function.params) if not memory.isdisjoint(ir.storages(param.type)))


def made_here(function: ir.Function) -> set[ir.Atom]:
    """The variables that a function binds to memory which it has just made."""
    made = [
        call for call in calls_in(function) if not isinstance(call.callee, (ir.Function, ir.Definition, ir.Derived))
    ]
    return {target for call in made if effects(call.callee).fresh for target in call.targets}


def _places_written_by(call: ir.Call, count: int) -> tuple[int, ...]:
    found = effects_of(call)
    return tuple(place for place in found.writes if place < count) if found.known else tuple(range(count))


def _writes_only_slots(call: ir.Call) -> bool:
    """Whether what a call writes is the first argument's own memory, not that of what lies in it."""
    return effects(call.callee) is WRITES_FIRST


def _own_storage(type_: ir.Type | None) -> tuple[ir.Storage, ...]:
    storage = ir.storage_of(type_)
    return () if storage is None else (storage,)


def _hands_on(call: ir.Call) -> bool:
    """Whether results of a declared function may be memory that others have, too."""
    given = set[ir.Storage]().union(*(ir.storages(type_of_atom(arg)) for arg in call.args))
    return bool(given) and any(not given.isdisjoint(ir.storages(target.type)) for target in call.targets)


def is_shared_and_written(call: ir.Call) -> bool:
    """Whether a result of a declared function is memory that others have, too, and somebody writes it."""
    pairs = zip(call.targets, call.callee.values_of(call), strict=True)
    shared = [target for target, value in pairs if _own_storage(target.type) == _own_storage(type_of_atom(value))]
    return any(storage.written for target in shared for storage in _own_storage(target.type))
