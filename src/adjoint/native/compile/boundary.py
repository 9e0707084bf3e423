"""A derivative in two: what takes structures apart and puts them together, and what computes with numbers and arrays.

Only the second half, the core, is for a compiler. The first runs as Python: it reads the fields of objects and the
items of tuples and dicts, calls the core with what they hold, and makes of its results what the user is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.known_effects import ACTS, UNKNOWN, VALUES
from adjoint.ir.join import is_array, reads_metadata
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import blocks_of, free_vars, leaves, operands, statements_in, targets_of, terminators_in, vars_used
from adjoint.native.legalize.numbers.arithmetic_checks import refuses_something
from adjoint.records import dataclass
from adjoint.runtime import display, objects, stacks, tangents
from adjoint.runtime.objects import Checkpoints
from adjoint.types.vectors import TangentVector

_READERS = (stacks.field_of_all, tangents.zero_tangent, tangents.to_shadow)
_PACKERS = (display.make_tuple, display.make_list, display.make_dict, objects.make_object, stacks.shadow_of_all)
_WRITERS = (objects.put_attribute, objects.put_item, stacks.put_field_of_all)


@dataclass(frozen=True, slots=True)
class Halves:
    """A function in two.

    Attributes
    ----------
    whole
        Takes what the function takes, calls the core, and returns what the function returns.
    core
        A function of numbers, arrays and lists of them. Its one value, or its values as a tuple, are results.
    """

    whole: ir.Function
    core: ir.Function

    def boundary(self, core: Any) -> ir.Function:
        """The function that calls ``core`` in place of the core."""
        body = self.whole.body
        statements = [
            ir.Call(part.targets, core, part.args, (), part.span)
            if isinstance(part, ir.Call) and part.callee is self.core
            else part
            for part in body.statements
        ]
        return ir.Function(
            self.whole.name, self.whole.params, ir.Block(tuple(statements), body.terminator), self.whole.doc
        )


def halves(function: ir.Function) -> Halves | None:
    """The two halves of a function; None where it is but one."""
    end = function.body.terminator
    if not isinstance(end, ir.Return):
        return None
    statements = list(function.body.statements)
    head = _head(function)
    tail = _tail(statements, head)
    middle = [statement for statement in statements if statement not in head and statement not in tail]
    if not middle and not tail:
        return None
    behind = ir.Block(tuple(statement for statement in statements if statement in tail), end)
    made = {target for statement in middle for target in targets_of(statement)}
    results = [var for var in vars_used(behind) if var in made]
    kinds = _kinds(function.body)
    taken = _taken(middle)
    core = ir.Function(f"{function.name}_core", taken, ir.Block(tuple(middle), ir.Return(tuple(results))), function.doc)
    handed = tuple(ir.Var(var.hint, var.type, var.named) for var in results)
    call = ir.Call(handed, core, taken)
    given: dict[ir.Atom, ir.Atom] = dict(zip(results, handed, strict=True))
    converted = [_convert(given, result, kinds) for result in results]
    conversions = [conversion for conversion in converted if conversion is not None]
    if not head and not tail and not conversions and end.values == tuple(results) and taken == function.params:
        return None
    rest = _substituted(behind, given)
    first = tuple(statement for statement in statements if statement in head)
    body = ir.Block((*first, call, *conversions, *rest.statements), rest.terminator)
    return Halves(ir.Function(function.name, function.params, body, function.doc), core)


def _substituted(block: ir.Block, given: dict[ir.Atom, ir.Atom]) -> ir.Block:
    return substitute(block, {var: atom for var, atom in given.items() if isinstance(var, ir.Var)})


def _taken(statements: Iterable[ir.Statement]) -> tuple[ir.Var, ...]:
    """What statements read that they do not bind."""
    return free_vars(ir.Block(tuple(statements), ir.Return(())))


# The part before the core


def _head(function: ir.Function) -> set[ir.Statement]:
    """The statements at the beginning that take structures apart."""
    at_hand: set[ir.Atom] = set(function.params)
    found: set[ir.Statement] = set()
    for statement in function.body.statements:
        if not isinstance(statement, (ir.Load, ir.Call)) or not _is_pure(statement):
            if _writes_structures(statement):
                break
            continue
        args = operands(statement)
        if all(isinstance(arg, ir.Const) or arg in at_hand for arg in args) and any(map(_is_structure, args)):
            found.add(statement)
            at_hand.update(targets_of(statement))
    return found


def _is_pure(statement: ir.Load | ir.Call) -> bool:
    if isinstance(statement, ir.Load):
        return True
    facts = effects_of(statement)
    is_read = not facts.fresh or statement.callee in _READERS
    return facts.pure and facts.known and is_read and len(statement.targets) == 1


def _is_structure(atom: ir.Atom) -> bool:
    """Whether a value is of no type that a compiler for numbers knows."""
    return isinstance(atom, ir.Var) and is_structure(atom.type)


def is_structure(type_: ir.Type) -> bool:
    """Whether values of a type are taken apart rather than computed with."""
    match type_:
        case ir.Opaque() | ir.Instance() | ir.Dict():
            return True
        case ir.Tuple(items=items):
            return any(map(is_structure, items))
        case ir.List(element=element):
            return not isinstance(element, (ir.Scalar, ir.Array))
        case _:
            return False


def _writes_structures(statement: ir.Statement) -> bool:
    """Whether a statement, or one inside of it, may change an object or a container."""
    inside = [statement, *(part for block in blocks_of(statement) for part in statements_in(block))]
    for part in inside:
        if isinstance(part, ir.Store) and not (isinstance(part.base, ir.Var) and isinstance(part.base.type, ir.Array)):
            return True
        if isinstance(part, ir.Call):
            facts = effects_of(part)
            if (
                part.callee in _WRITERS
                or not facts.known
                or any(not is_array(part.args[place]) for place in facts.writes)
            ):
                return True
    return False


# The part behind the core


def _tail(statements: list[ir.Statement], head: set[ir.Statement]) -> set[ir.Statement]:
    """The statements that put structures together, or write to those of the user, and that nothing else waits for."""
    found: set[ir.Statement] = set()
    waited_for: set[ir.Atom] = set()
    seen_later = False
    flags = {each.target for each in statements if isinstance(each, ir.Load) and reads_metadata(each)}
    for statement in reversed(statements):
        if statement in head:
            continue
        is_waited_for = any(target in waited_for for target in targets_of(statement))
        packs = _packs(statement) and not (isinstance(statement, ir.Store) and statement.base in flags)
        if packs and not is_waited_for and not (seen_later and _writes_structures(statement)):
            found.add(statement)
            continue
        seen_later |= _reads_structures(statement) or _may_be_left(statement)
        waited_for.update(operands(statement))
        for block in blocks_of(statement):
            waited_for.update(vars_used(block))
    return found


def _reads_structures(statement: ir.Statement) -> bool:
    """Whether a statement, or one inside of it, may look into an object or a container."""
    inside = [statement, *(part for block in blocks_of(statement) for part in statements_in(block))]
    return any(
        isinstance(part, (ir.Load, ir.Call)) and (any(map(_is_structure, operands(part))) or _may_look_anywhere(part))
        for part in inside
    )


def _may_look_anywhere(part: ir.Statement) -> bool:
    """Whether a call runs a user's function as it stands, which finds objects by itself."""
    if not isinstance(part, ir.Call):
        return False
    facts = effects_of(part)
    if isinstance(part.callee, (ir.Function, ir.Definition, ir.Derived)):
        return facts.acts
    return facts is UNKNOWN or facts is ACTS or facts is VALUES


def _may_be_left(statement: ir.Statement) -> bool:
    """Whether an exception that the program means may leave a statement: others see what is written by then."""
    block = ir.Block((statement,), ir.Yield())
    if any(isinstance(end, ir.Raise) for end in terminators_in(block)) or refuses_something(block):
        return True
    return any(isinstance(part, ir.Call) and effects_of(part).acts for part in statements_in(block))


def _packs(statement: ir.Statement) -> bool:
    match statement:
        case ir.Call(callee=tangents.finish, args=(_, like)):
            return _is_structure(like)
        case ir.Call(callee=callee):
            return callee in _PACKERS or callee in _WRITERS or _is_tangent_class(callee)
        case ir.Store(key=ir.Attribute(), mode="set"):
            return True
        case _:
            return False


def _is_tangent_class(callee: Any) -> bool:
    return isinstance(callee, type) and issubclass(callee, (TangentVector, Checkpoints))


# What compiled code makes of numbers


def _kinds(body: ir.Block) -> dict[ir.Atom, tuple[ir.Atom, ...]]:
    """What the variables that loops and branches hand out may be."""
    found: dict[ir.Atom, tuple[ir.Atom, ...]] = {}
    for statement in statements_in(body):
        match statement:
            case ir.If(then=then, orelse=orelse, targets=targets):
                ends = [leaf for block in (then, orelse) for leaf in leaves(block) if hasattr(leaf, "values")]
                for place, target in enumerate(targets):
                    found[target] = tuple(leaf.values[place] for leaf in ends)
            case ir.Loop(params=params, inits=inits, targets=targets):
                ends = [leaf for leaf in leaves(statement.body) if hasattr(leaf, "values")]
                for place, param in enumerate(params):
                    handed = (leaf.values[place] for leaf in ends if not isinstance(leaf, ir.Exit))
                    found[param] = (inits[place], *handed)
                for place, target in enumerate(targets):
                    exits = tuple(leaf.values[place] for leaf in ends if isinstance(leaf, ir.Exit))
                    found[target] = ((params[place],) if place < len(params) else ()) + exits
    return found


def _convert(
    given: dict[ir.Atom, ir.Atom], result: ir.Var, kinds: dict[ir.Atom, tuple[ir.Atom, ...]]
) -> ir.Call | None:
    """The conversion of a result of compiled code: a number of Python to the type that NumPy's would have, a dict."""
    if isinstance(result.type, ir.Dict):
        held = given[result]
        table = given[result] = ir.Var(result.hint, result.type, result.named)
        return ir.Call((table,), dict, (held,))
    if not isinstance(result.type, ir.Scalar):
        return None
    dtype = _dtype(result, result.type.kind, kinds)
    if dtype is None:
        return None
    held = given[result]
    converted = given[result] = ir.Var(result.hint, ir.Scalar(result.type.kind, dtype), result.named)
    return ir.Call((converted,), dtype.type, (held,))


def _dtype(result: ir.Var, kind: str, kinds: dict[ir.Atom, tuple[ir.Atom, ...]]) -> np.dtype | None:
    """The dtype of a number, or of any of those that it may be."""
    seen: set[ir.Atom] = set()
    pending: list[ir.Atom] = [result]
    found: list[np.dtype] = []
    while pending:
        atom = pending.pop()
        if not isinstance(atom, ir.Var) or atom in seen:
            continue
        seen.add(atom)
        if isinstance(atom.type, ir.Scalar) and atom.type.dtype is not None and atom.type.kind == kind:
            found.append(atom.type.dtype)
        pending += kinds.get(atom, ())
    return np.result_type(*found) if found else None
