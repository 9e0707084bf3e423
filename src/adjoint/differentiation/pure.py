"""Derivatives of functions that write their arguments, as derivatives of functions that do not.

``y, x_bar = D[f](x, v)`` with an array ``x`` that ``f`` writes becomes ``y, last, x_bar = D[g](x, v)`` and
``x[...] = last``, where ``g`` does on a copy of ``x`` what ``f`` does, and returns the copy too. What was written is
then a result like any other, and the derivative can be differentiated again. In the same way with lists, dicts and
objects of which the function changes what lies in them, but not which references lie where; of objects, what is
written is copied and returned, and the rest shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adjoint import ir
from adjoint.analysis.effects import Written, places_of, written_slots
from adjoint.analysis.joins import joins, reached
from adjoint.differentiation.memory.copying import (
    assembled,
    at,
    can_be_copied,
    can_be_written,
    copied,
    holds_references,
    moves_references,
    of_its_own,
    part_type,
    write_back_at,
    written_parts,
)
from adjoint.differentiation.memory.late_fields import LateFields, late_fields, lie_deeper, unneeded
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import inline, map_blocks
from adjoint.ir.walk import statements_in
from adjoint.rules.typing import type_of_call
from adjoint.runtime.overlap import check_separate


def without_writes(function: ir.Function) -> ir.Function:
    """The same function, in which derivatives are of functions that write nothing, where that can be."""
    late = late_fields(function)
    calls = {id(call) for call in statements_in(function.body) if _can_be_rewritten(call, late)}
    if calls:
        absent = _may_be_absent(function)
        calls = {id(call) for call in statements_in(function.body) if id(call) in calls and not _writes(call, absent)}
    if not calls:
        return function
    return ir.Function(function.name, function.params, _block(function.body, calls, late), function.doc)


def _may_be_absent(function: ir.Function) -> set[ir.Var]:
    """Memory that is not there on some path: an object that is one of several has the others' places, too."""
    flows = [flow for statement in statements_in(function.body) for flow in joins(statement)]
    onward: dict[ir.Var, list[ir.Var]] = {}
    for source, target in flows:
        if isinstance(source, ir.Var):
            onward.setdefault(source, []).append(target)
    nothing = (ir.UNDEFINED, ir.Const(None))
    return reached([target for source, target in flows if source in nothing and ir.is_handle(target.type)], onward)


def _writes(call: ir.Statement, memory: set[ir.Var]) -> bool:
    """Whether a derivative is of a function that writes some memory."""
    assert isinstance(call, ir.Call)
    return any(
        call.args[place] in memory for place in places_of(call.callee.function, written_slots(call.callee.function))
    )


def _can_be_rewritten(statement: ir.Statement, late: LateFields) -> bool:
    if not isinstance(statement, ir.Call) or not isinstance(statement.callee, ir.Derived):
        return False
    slots = written_slots(statement.callee.function)
    written = places_of(statement.callee.function, slots)
    if not written:
        return False
    args = [statement.args[place] for place in written]
    params = [statement.callee.function.params[place] for place in written]
    own: set[ir.Storage] = set().union(*(ir.storages(param.type) for param in params))
    if any(holds_references(param.type) for param in params) and moves_references(statement.callee.function, own):
        return False
    if late and not _need_no_late_fields(statement.callee, written, late):
        return False
    memory: set[ir.Storage] = set().union(*(ir.storages(type_of_atom(arg)) for arg in args))
    results = statement.targets[: len(statement.targets) - len(statement.callee.wrt)]
    return (
        all(
            isinstance(arg, ir.Var) and type(arg.type) is type(param.type)
            for arg, param in zip(args, params, strict=True)
        )
        and all(can_be_copied(param.type, slots) and can_be_written(param.type) for param in params)
        and len(set(args)) == len(args)
        and all(memory.isdisjoint(ir.storages(result.type)) for result in results)
    )


def _need_no_late_fields(derived: ir.Derived, written: Sequence[int], late: LateFields) -> bool:
    """Whether what is copied can be, though objects may lack attributes yet."""
    by_fields = _given_by_fields(derived, written)
    for place in written:
        param = derived.function.params[place]
        if lie_deeper(param.type, late):
            return False
        may_lack_some = isinstance(param.type, ir.Instance) and param.type.cls in late
        if may_lack_some and (place not in by_fields or unneeded(derived.function, param, late) is None):
            return False
    return True


def _block(block: ir.Block, calls: set[int], late: LateFields) -> ir.Block:
    builder = Builder(type_of_call)
    for statement in block.statements:
        if isinstance(statement, ir.Call) and id(statement) in calls:
            _rewrite(statement, builder, late)
        else:
            builder.emit(map_blocks(statement, lambda inner: _block(inner, calls, late)))
    end = block.terminator
    if isinstance(end, ir.Branch):
        end = ir.Branch(end.cond, _block(end.then, calls, late), _block(end.orelse, calls, late), end.span)
    return builder.block(end)


def _rewrite(call: ir.Call, builder: Builder, late: LateFields) -> None:
    derived = call.callee
    assert isinstance(derived, ir.Derived)
    function, slots = derived.function, written_slots(derived.function)
    written = places_of(function, slots)
    parts = [
        (arg, way)
        for place in written
        if isinstance(arg := call.args[place], ir.Var)
        for way in written_parts(function.params[place].type, slots)
    ]
    _check_separate(parts, builder)
    by_fields = _given_by_fields(derived, written)
    second = ir.Derived(
        on_copies(function, slots, by_fields=by_fields),
        tuple(place + _more_before(function, place, by_fields) for place in derived.wrt),
        derived.outputs,
    )
    results = len(call.targets) - len(derived.wrt)
    last = tuple(_last(arg, way) for arg, way in parts)
    targets = (*call.targets[:results], *last, *call.targets[results:])
    args: list[ir.Atom] = []
    for place, given in enumerate(call.args):
        if place in by_fields:
            args += _fields(builder, given, unneeded(function, function.params[place], late) or frozenset())
        else:
            args.append(given)
    builder.emit(ir.Call(targets, second, tuple(args), call.kwargs, call.span))
    for (arg, way), value in zip(parts, last, strict=True):
        write_back_at(builder, arg, way, value)


def _given_by_fields(derived: ir.Derived, written: Sequence[int]) -> frozenset[int]:
    """Which objects are handed over field by field: nobody asks then what the objects held before they are written."""
    params = derived.function.params
    return frozenset(
        place for place in written if place not in derived.wrt and isinstance(params[place].type, ir.Instance)
    )


def _more_before(function: ir.Function, place: int, by_fields: frozenset[int]) -> int:
    return sum(len(_fields_of(function.params[other])) - 1 for other in by_fields if other < place)


def _fields_of(memory: ir.Atom) -> Mapping[str, ir.Type]:
    type_ = type_of_atom(memory)
    assert isinstance(type_, ir.Instance)
    return type_.fields


def _fields(builder: Builder, given: ir.Atom, unneeded: frozenset[str]) -> list[ir.Atom]:
    """The values of the fields of an object; of those that are not needed, which it may lack, something."""
    return [
        (ir.Const(0.0) if type_ == ir.FLOAT else ir.Const(None))
        if name in unneeded
        else builder.attribute(given, name, type_)
        for name, type_ in _fields_of(given).items()
    ]


def _last(arg: ir.Var, way: tuple[ir.Key, ...]) -> ir.Var:
    """What is written in an argument, as a result."""
    type_ = ir.fresh(part_type(arg.type, way))
    key = way[-1] if way else None
    return ir.Var(key.name, type_, True) if isinstance(key, ir.Attribute) else ir.Var(arg.hint, type_, arg.named)


def _check_separate(parts: Sequence[tuple[ir.Var, tuple[ir.Key, ...]]], builder: Builder) -> None:
    """What may be one memory, as far as the program text tells, is looked at when the program runs."""
    args = tuple(dict.fromkeys(arg for arg, _ in parts))
    known: set[ir.Storage] = set()
    in_doubt = any(holds_references(arg.type) and ir.is_handle(part_type(arg.type, way)) for arg, way in parts)
    for arg in args:
        in_doubt |= not known.isdisjoint(ir.storages(arg.type))
        known |= ir.storages(arg.type)
    if in_doubt:
        builder.emit(ir.Call((), check_separate, args))


def on_copies(
    function: ir.Function, slots: Written, *, returned: bool = True, by_fields: frozenset[int] = frozenset()
) -> ir.Function:
    """The function on copies of the parameters in which it writes ``slots``; these are results, too, if ``returned``.

    Objects in ``by_fields`` are given as the values of their fields.
    """
    builder, written = Builder(type_of_call), places_of(function, slots)
    params: list[ir.Var] = []
    args: list[ir.Var] = []
    for place, param in enumerate(function.params):
        if place not in written:
            params.append(param)
            args.append(param)
        elif place in by_fields:
            fields = _fields_of(param).items()
            given = [ir.Var(name, of_its_own(type_, slots), True) for name, type_ in fields]
            params += given
            args.append(assembled(builder, ir.Var(param.hint, param.type, param.named), given, slots))
        else:
            params.append(ir.Var(param.hint, of_its_own(param.type, slots), param.named))
            args.append(copied(builder, params[-1], param.type, slots))
    last: list[ir.Atom] = []
    results = inline(builder, function, args)
    for own in [args[place] for place in written] if returned else ():
        for way in written_parts(own.type, slots):
            part = at(builder, own, way)
            last.append(copied(builder, part, ir.fresh(part.type)) if ir.is_handle(part.type) else part)
    return ir.Function(function.name, tuple(params), builder.block(ir.Return((*results, *last))), function.doc)


__all__ = ["on_copies", "without_writes"]
