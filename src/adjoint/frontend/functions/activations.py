"""Which functions are running, one inlined in another: whether a function that calls itself can be inlined again."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.definitions import is_of_rules
from adjoint.frontend.functions.called_forms import alike, holds_objects, is_lasting, served
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.attempts import Form, Repeated
from adjoint.frontend.interpreter.values import Closure, GeneratorObject, Record, Ref, TupleValue, Value
from adjoint.target import Target

MAX_STRUCTURAL_DEPTH = 60
MAX_REPEATED = 300
MORE_OF_OBJECTS = 8
"""How many times as much machine code repeats of what is handed lists or objects: for some of what they hold when they
are handed over, it has no form."""
MIN_KEPT = 16
"""Of how many statements a function is that is worth a call: of fewer, calls take longer, and the text is as long."""
CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
"""They make objects whose parts are known: what they are called for."""


def activation(lo: Lowerer, closure: Closure) -> tuple[Value, ...] | None:
    """The arguments of the innermost running activation of this function.

    What a decorator has made of two functions are two functions, though they have one text.
    """
    for node, args, function in reversed(lo.run_data.activations):
        if node is closure.source.node and (None in (function, closure.function) or function is closure.function):
            return args
    return None


def inlined_activation(lo: Lowerer, closure: Closure) -> tuple[Value, ...] | None:
    """The same, as far as what runs is inlined: a function that is called has a body of its own."""
    for node, args, _ in reversed(lo.run_data.activations):
        if node is closure.source.node:
            return args
        if node in lo.settings.called or node in lo.settings.kept:
            return None
    return None


def is_deep(lo: Lowerer) -> bool:
    """Whether more functions are running than a structure that is known goes down."""
    return len(lo.run_data.activations) > MAX_STRUCTURAL_DEPTH


def is_structural(lo: Lowerer, before: tuple[Value, ...], now: list[Value]) -> bool:
    """Whether a recursion goes down a structure that is known, so that inlining it ends."""
    if is_deep(lo):
        return False
    for old, new in zip(before, now, strict=False):
        if old is new:
            continue
        if isinstance(old, Closure) or isinstance(new, Closure):
            return True
        if _size(lo, new) < _size(lo, old):
            return True
        if isinstance(old, ir.Const) and isinstance(new, ir.Const) and old != new and _tells(new.value):
            return True
        if _are_objects_of_outside(old, new):
            return True
    return False


def _tells(constant: Any) -> bool:
    """Whether another constant makes another call of it: a number, a text, a function that is called in turn."""
    return isinstance(constant, (int, str, FunctionType))


def _are_objects_of_outside(one: Value, other: Value) -> bool:
    """Whether these are two objects that are there already, such as nodes of a tree that know their parents."""
    return all(isinstance(each, Ref) and each.origin is not None for each in (one, other))


def is_too_often(lo: Lowerer, code: ast.AST) -> bool:
    """Whether inlining a function in itself, which it does from several places, takes too much code."""
    count = lo.run_data.repeated[code] = lo.run_data.repeated.get(code, 0) + 1
    return count > MAX_REPEATED * lo.settings.patience


def note_inlined(lo: Lowerer, code: ast.AST, before: int, form: Callable[[], Form]) -> None:
    """Takes down how many statements an inlined call took, with those that one function could serve."""
    size = lo.run_data.emitted - before
    if size < MIN_KEPT:
        return
    known = lo.run_data.inlined.get(code, ())
    this = form()
    before_it = served(known, this, lo.settings.target)
    if before_it is None:
        lo.run_data.inlined[code] = (*known, Repeated(this, 1, size))
    else:
        more = Repeated(before_it.form, before_it.calls + 1, before_it.statements + size)
        lo.run_data.inlined[code] = tuple(more if each is before_it else each for each in known)


def is_kept(lo: Lowerer, closure: Closure, form: Callable[[], Form]) -> bool:
    """Whether a function stays one for calls of a form, since inlining these repeats too much.

    Where that is found out, lowering starts again when it is through, for the calls before this one.
    """
    code = closure.source.node
    if code in lo.settings.inlined or not lo.run_data.activations:
        return False
    if isinstance(code, ast.Lambda) or code.name in CONSTRUCTORS:
        return False
    if lo.settings.rules_inlined and is_of_rules(closure):
        return False
    kept, inlined = lo.settings.kept.get(code, ()), lo.run_data.inlined.get(code, ())
    target = lo.settings.target
    most = budget(target)
    if most and not kept and not inlined:
        return False
    this = form()
    if target.machine and holds_objects(this):
        most *= MORE_OF_OBJECTS
    if served(kept, this, target) is not None:
        return True
    if activation(lo, closure) is not None or not is_lasting(this):
        return False
    repeated = alike(inlined, this, target)
    if most and (repeated is None or repeated.statements < most):
        return False
    lo.settings.kept[code] = (*kept, repeated or Repeated(this, 0, 0))
    lo.run_data.has_grown |= repeated is not None
    return True


def budget(target: Target) -> int:
    """How many statements inlining may repeat of one function before that stays a function."""
    return target.inlined


def _size(lo: Lowerer, value: Value) -> int:
    """How many values are reached; objects that lead to each other once."""
    count, pending, seen = 0, [value], set[Ref]()
    while pending:
        one = pending.pop()
        if isinstance(one, TupleValue):
            pending += one.items
        elif isinstance(one, GeneratorObject):
            pending += one.args
        elif isinstance(one, Ref):
            if one in seen:
                continue
            seen.add(one)
            record = lo.store[one]
            assert isinstance(record, Record)
            pending += record.items
        count += _size_of(one.type) if isinstance(one, ir.Var) else 1
    return count


def _size_of(type_: ir.Type | None) -> int:
    match type_:
        case ir.Instance(fields=fields):
            return 1 + sum(map(_size_of, fields.values()))
        case ir.Tuple(items=items):
            return 1 + sum(map(_size_of, items))
    return 1
