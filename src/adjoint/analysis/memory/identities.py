"""Where it decides what a program means which of its values are one object, or lie in one memory."""

from __future__ import annotations

import bisect
import operator

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_in, statements_run, targets_of, terminators_in, vars_of
from adjoint.runtime import display, lists

_PLACE = "data"
"""The attribute of arrays that tells where their memory is."""
_ON_MEMORY = (id, np.shares_memory, np.may_share_memory)
_COMPARISONS = frozenset(map(id, (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)))
_SEARCHES = frozenset(
    map(
        id,
        (
            *(operator.contains, operator.countOf, operator.indexOf, display.make_set, set, frozenset),
            *(list.index, list.count, list.remove, tuple.index, tuple.count),
        ),
    )
)
"""What asks whether items are one object before it asks whether they are equal, as nan is not."""
_BY_KEY = frozenset(map(id, (operator.contains, dict.get, dict.pop, dict.setdefault)))
ORDERS = frozenset(
    map(id, (sorted, list.sort, min, max, lists.order_of_items, bisect.bisect_left, bisect.bisect_right))
)
"""What asks it of items of the items: a tuple is less than another where the first items that are not equal are."""
_HANDING_ON = frozenset(map(id, (operator.pos, float, complex, max, min)))
"""What may give the number that it is given."""

_COMPUTED = (ir.Array, ir.Number, ir.Scalar)


def asks_identities(function: ir.Function) -> bool:
    """Whether somebody asks whether two values are one object: what computes the same gives two."""
    return any(map(_compares_objects, statements_run(function)))


def told_apart(function: ir.Function) -> frozenset[ir.Var]:
    """What is not to be one object with another that is computed alike, as somebody may ask whether they are one.

    Containers ask it of their items. So numbers count that are put into one, or handed to where they may be.
    """
    if asks_identities(function):
        return frozenset([target for statement in statements_in(function.body) for target in targets_of(statement)])
    if not any(map(compares_items, statements_run(function))):
        return frozenset()
    handing = [*filter(_hands_on, statements_in(function.body)), *terminators_in(function.body)]
    return frozenset([atom for node in handing for atom in vars_of(operands(node)) if _is_computed(atom)])


def compares_items(statement: ir.Statement) -> bool:
    """Whether a statement asks whether items of containers are one object, or equal, and they may be nan."""
    if (key := key_asked_for(statement)) is not None:
        return _may_be_nan(type_of_atom(key))
    if not isinstance(statement, ir.Call):
        return False
    if id(statement.callee) in ORDERS:
        return any(map(_holds_containers, map(type_of_atom, operands(statement))))
    if statement.callee is display.make_dict:
        return len(statement.args) > 2 and any(map(_may_be_nan, map(type_of_atom, statement.args[::2])))
    is_search = id(statement.callee) in _SEARCHES
    if not is_search and id(statement.callee) not in _COMPARISONS:
        return False
    kinds = [type_of_atom(atom) for atom in operands(statement)]
    return any(is_search or not isinstance(kind, _COMPUTED) for kind in kinds) and all(map(_may_be_nan, kinds))


def key_asked_for(statement: ir.Statement) -> ir.Atom | None:
    """The key for which a statement asks a dict: whether it is one of its keys, or equal to one."""
    match statement:
        case ir.Load(base=base, key=ir.Subscript(items=(key,))):
            pass
        case ir.Store(base=base, key=ir.Subscript(items=(key,)), mode="set"):
            pass
        case ir.Call(callee=callee, args=(base, key, *_)) if id(callee) in _BY_KEY:
            pass
        case _:
            return None
    return key if isinstance(type_of_atom(base), ir.Dict) and not isinstance(key, ir.Slice) else None


def _holds_containers(type_: ir.Type | None) -> bool:
    """Whether a value holds containers whose items may be nan, or is a tuple of such items."""
    match type_:
        case ir.List(element=ir.List() | ir.Tuple() as element):
            return _may_be_nan(element)
        case ir.Tuple():
            return _may_be_nan(type_)
        case _:
            return False


def _may_be_nan(type_: ir.Type | None) -> bool:
    """Whether a value, or a part of it, may be what is not equal to itself: a number, or an array."""
    match type_:
        case ir.List(element=element):
            return _may_be_nan(element)
        case ir.Dict(value=value):
            return _may_be_nan(value)
        case ir.Tuple(items=items):
            return any(map(_may_be_nan, items))
        case _:
            return isinstance(type_, ir.Array) or ir.may_vary(type_)


def _hands_on(statement: ir.Statement) -> bool:
    """Whether a statement may put what it is given into a container, or give it."""
    match statement:
        case ir.Store(base=base, mode=mode):
            return mode == "set" and not isinstance(type_of_atom(base), ir.Array)
        case ir.Call(callee=callee, targets=targets):
            kinds = (*(target.type for target in targets), *map(type_of_atom, operands(statement)))
            return id(callee) in _HANDING_ON or not all(isinstance(kind, _COMPUTED) for kind in kinds)
        case _:
            return not isinstance(statement, ir.Load) or key_asked_for(statement) is not None


def _compares_objects(statement: ir.Statement) -> bool:
    match statement:
        case ir.Load(base=base, key=ir.Attribute(name=name)):
            return name == _PLACE and _is_computed(base)
        case ir.Call(callee=operator.is_ | operator.is_not, args=args):
            return all(isinstance(arg, ir.Var) for arg in args) and any(map(_is_computed, args))
        case ir.Call(callee=callee, args=args):  # what is written is never merged
            return callee in _ON_MEMORY and not all(ir.is_written_array(type_of_atom(arg)) for arg in args)
        case _:
            return False


def _is_computed(atom: ir.Atom) -> bool:
    return isinstance(type_of_atom(atom), _COMPUTED)
