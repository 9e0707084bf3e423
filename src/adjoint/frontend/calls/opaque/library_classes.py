"""Classes of installed packages: looked into like those of users, as long as it does not take too much.

What cannot be looked into stays what it is to Python, a value of which nothing is known: lowering starts again, and
refusals of derivatives through it tell what was in the way.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics import Diagnostic, diagnostic
from adjoint.diagnostics.spans import place
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.blocks import Open
from adjoint.frontend.interpreter.state.signals import Problem, Restart, TooMuch
from adjoint.frontend.interpreter.values import Record, Ref, TupleValue, Value
from adjoint.frontend.objects.classes import class_of, is_object
from adjoint.ir.walk import leaves, operands, targets_of, terminators_in, with_inner
from adjoint.rules import registry
from adjoint.sources.library_folders import file_of, is_installed, is_of_a_library, package_of

MOST_STATEMENTS = 8000
"""Up to how many statements of a library are followed to know an object."""

MOST_CODE = 1000
"""Up to how many bytes of code a function is short."""

_RULED = ("numpy.", "scipy.sparse.", "numba.", "pandas.")
"""Packages of whose classes rules tell what they do, or nobody: pandas keeps what they hold out of sight."""


def is_native(cls: type) -> bool:
    """Whether a class has no attributes that Python code could have assigned."""
    return not any("__dict__" in base.__dict__ or "__slots__" in base.__dict__ for base in cls.__mro__[:-1])


def is_looked_into(lo: Lowerer, cls: type, given: Sequence[Value]) -> bool:
    """Whether to follow how a library makes an object; of Python's own only those that a derivative may flow into."""
    if cls in lo.settings.unseen or not _may_be_known(cls):
        return False
    return is_installed(file_of(cls)) or cls in lo.settings.wanted or any(may_carry(lo, value) for value in given)


def _may_be_known(cls: type) -> bool:
    if issubclass(cls, (BaseException, tuple)) or hasattr(cls, "__members__") or is_native(cls):
        return False
    return not f"{cls.__module__}.".startswith(_RULED) and is_of_a_library(file_of(cls))


def is_followed(lo: Lowerer, function: types.FunctionType, args: Sequence[Value]) -> bool:
    """Whether a library's function is a method of an object whose attributes are known, and that it may change."""
    if not args or function in lo.settings.unseen or not is_object(lo, args[0]):
        return False
    cls = class_of(lo, args[0])
    assert cls is not None
    return any(_functions_of(base.__dict__.get(function.__name__)) & {function} for base in cls.__mro__)


def is_of_options(lo: Lowerer, function: types.FunctionType, given: Sequence[Value]) -> bool:
    """Whether a package's function is given nothing, or constants: a text, class, dtype, function or module among them.

    They may lie in tuples and lists that are known. What it gives decides branches, or is called. Short ones check what
    they are given, and hand it on; those that are given nothing tell settings. Objects whose attributes are known would
    have to exist at run time for whoever is not looked into.
    """
    values = [value for each in given for value in _items(lo, each)]
    constants = [value.value for value in values if isinstance(value, ir.Const)]
    objects = [value for value in values if isinstance(value, Ref) and is_object(lo, value)]
    telling = (str, np.dtype, types.ModuleType)
    is_told = not given or any(isinstance(value, telling) or callable(value) for value in constants)
    if len(constants) + len(objects) < len(values) or not (is_told or objects):
        return False
    code = function.__code__
    is_short = len(code.co_code) < MOST_CODE and is_installed(code.co_filename)
    has_rules = package_of(function) in ("numpy", "scipy")
    return is_short and not has_rules and function not in lo.settings.unseen


def _items(lo: Lowerer, value: Value) -> Sequence[Value]:
    """What lies in a tuple or a list that is known, or the value itself."""
    record = lo.store.get(value) if isinstance(value, Ref) else value
    is_sequence = isinstance(record, TupleValue) or (isinstance(record, Record) and record.cls is list)
    return record.items if is_sequence else (value,)  # type: ignore[union-attr]


def _functions_of(member: Any) -> set[Any]:
    if isinstance(member, property):
        return {member.fget, member.fset}
    return {getattr(member, "func", member)} if isinstance(member, types.FunctionType) else set()


def note_made(lo: Lowerer, result: Value, function: types.FunctionType | None) -> Value:
    """Takes down by which function of a package something was made that nobody looks into."""
    is_unknown = isinstance(result, ir.Var) and type(result.type) is ir.Opaque
    if function is not None and is_unknown and is_installed(function.__code__.co_filename):
        lo.run_data.made_by[result] = function
    return result


def note_object(lo: Lowerer, result: Value, cls: type) -> Value:
    """Takes down that an object of a class of Python's library was made, of which nothing has to be known as yet."""
    if isinstance(result, ir.Var) and cls not in lo.settings.unseen and _may_be_known(cls):
        lo.run_data.made_by[result] = cls
    return result


def look_where_it_comes_from(lo: Lowerer, value: Value) -> None:
    """Starts again with the function looked into that made this, or an object of which it is part.

    It was given nothing that varies; now something that varies is handed to what it made.
    """
    pending, seen = [value], set[Value]()
    while pending:
        value = pending.pop()
        if not isinstance(value, ir.Var) or value in seen:
            continue
        seen.add(value)
        if _want(lo, value):
            raise Restart
        pending += lo.origins[value][:1] if value in lo.origins else _sources(lo, value)


def _sources(lo: Lowerer, value: ir.Var) -> Iterable[Value]:
    """What a value is on each path of the branch that gives it; what a number or array is computed from."""
    opened: Open | None = lo.block
    while opened is not None:
        for statement in (inner for each in opened.statements for inner in with_inner(each)):
            if value not in targets_of(statement):
                continue
            if isinstance(statement, ir.If):
                place = statement.targets.index(value)
                ends = [end for side in (statement.then, statement.orelse) for end in leaves(side)]
                return [end.values[place] for end in ends if isinstance(end, ir.Yield)]
            return operands(statement) if _is_unsettled(value.type) or _is_operator(statement) else ()
        opened = opened.parent
    return ()


def _is_unsettled(type_: ir.Type) -> bool:
    """Whether it is not known of what rank something is."""
    return isinstance(type_, ir.Number) or (isinstance(type_, ir.Array) and type_.dims is None)


def _is_operator(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Call) and getattr(statement.callee, "__module__", None) == operator.add.__module__


def look_into_what_joins(lo: Lowerer, block: ir.Block) -> None:
    """Starts again with the functions looked into that made what is one of the values of a result on some path."""
    ends = [end for end in terminators_in(block) if isinstance(end, (ir.Yield, ir.Return))]
    wanted = [atom for end in ends for atom in operands(end) if isinstance(atom, ir.Var) and _want(lo, atom)]
    if wanted:
        raise Restart


def _want(lo: Lowerer, value: ir.Var) -> bool:
    """Whether a function made this that is to be looked into, and was not until now."""
    function = lo.run_data.made_by.get(value)
    is_known = function is None or function in lo.settings.wanted or function in lo.settings.unseen
    if is_known or package_of(function) in ("pandas", "numba") or _is_told(function):
        return False
    assert function is not None
    lo.settings.wanted.add(function)
    return True


def _is_told(function: Any) -> bool:
    """Whether rules say what a function gives."""
    return registry.rule_for(function) is not None or registry.is_defined(function)


def followed(lo: Lowerer, key: Any, receiver: Value | None, body: Callable[[], Value]) -> Value:
    """What ``body`` gives, which follows ``key``, a class or a method of a library.

    Where it is refused or takes too much, lowering starts again, with it and the object's class not looked into.
    """
    run = lo.run_data
    problems, limit = len(run.diagnostics), run.most_steps
    run.most_steps = min(limit, run.steps + MOST_STATEMENTS)
    try:
        result = body()
    except Problem as problem:
        cause = problem.diagnostic
    except TooMuch:
        cause = diagnostic("AD0301", None, f"that takes more than {MOST_STATEMENTS} statements")
    else:
        found = list(run.diagnostics.values())[problems:]
        if not found:
            run.most_steps = limit
            return result
        cause = found[0]
    cls = None if receiver is None else class_of(lo, receiver)
    if cls is not None and _may_be_known(cls):
        lo.settings.unseen[cls] = cause
    lo.settings.unseen[key] = cause
    raise Restart


def causes(lo: Lowerer) -> tuple[str, ...]:
    """Why classes and methods of libraries are not looked into, for the refusals that follow."""
    return tuple(f"{key.__qualname__!r} is not looked into: {_reason(why)}" for key, why in lo.settings.unseen.items())


def _reason(cause: Diagnostic) -> str:
    if cause.labels:
        label = cause.labels[0]
        return f"{label.text or cause.title} ({place(label.span)})"
    return cause.notes[0] if cause.notes else cause.title
