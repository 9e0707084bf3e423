"""Inlining a rule's function into code that a transform builds."""

from __future__ import annotations

import inspect
import opcode
from collections.abc import Mapping, Sequence
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.diagnostics import Diagnostic, DifferentiationError, error
from adjoint.differentiation.rules.snippets import keep, kept, key_of_splice
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.attempts import Settings
from adjoint.frontend.interpreter.state.blocks import Open
from adjoint.frontend.interpreter.state.signals import Problem, Restart
from adjoint.frontend.interpreter.values import NONE, Record, Ref, TupleValue, Value
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.target import ALL_INLINED, Target

if TYPE_CHECKING:
    from adjoint.frontend.interpreter.interpreter import Interpreter

MAX_ATTEMPTS = 20
_INLINING = Target(inlined=ALL_INLINED)
"""Rules are inlined with all that they call."""
Spliced = Any
"""An atom, None for nothing, or a tuple of these."""


def splice(builder: Builder, fn: Any, args: Sequence[Any], kwargs: Mapping[str, ir.Atom] | None = None) -> Spliced:
    """Inlines ``fn(*args, **kwargs)`` into ``builder``.

    Parameters
    ----------
    builder
        The open block.
    fn
        A plain Python function: a rule's lambda.
    args, kwargs
        Atoms, None, or tuples of these.

    Returns
    -------
    Atom, tuple or None
        What the function returns, in the same form.
    """
    if isinstance(fn, FunctionType) and _only_places(fn.__code__):
        return _placed(fn(*args, **(kwargs or {})))
    key, atoms = key_of_splice(fn, args, kwargs or {})
    snippet = None if key is None else kept(key)
    if snippet is not None:
        return snippet.write(builder, atoms)
    start = len(builder.statements)
    result = _spliced(builder, fn, args, kwargs or {})
    if key is not None:
        keep(key, fn, atoms, builder.statements[start:], result)
    return result


_PLACING = """
    RESUME CACHE LOAD_FAST LOAD_CONST BUILD_TUPLE RETURN_VALUE RETURN_CONST LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW
    LOAD_FAST_BORROW_LOAD_FAST_BORROW LOAD_SMALL_INT LOAD_COMMON_CONSTANT
"""
_PLACING_CODES = frozenset(opcode.opmap[name] for name in _PLACING.split() if name in opcode.opmap)


@cache
def _only_places(code: CodeType) -> bool:
    """Whether a function does nothing but put arguments and literals in their places: ``lambda a, b, y: (b, a)``.

    It need not be read: it is run, as it makes no difference to it what its arguments are.
    """
    return _PLACING_CODES.issuperset(code.co_code[::2]) and not code.co_flags & inspect.CO_VARKEYWORDS


def _placed(value: Any) -> Spliced:
    if isinstance(value, (tuple, list)):
        return tuple(map(_placed, value))
    return value if value is None or isinstance(value, ir.Atom) else ir.Const(value)


def _spliced(builder: Builder, fn: Any, args: Sequence[Any], kwargs: Mapping[str, ir.Atom]) -> Spliced:
    settings, start = Settings(_INLINING), len(builder.statements)
    for _ in range(MAX_ATTEMPTS):
        try:
            return _attempt(builder, settings, fn, args, kwargs)
        except Restart:
            del builder.statements[start:]
            _refuse_uncovered(builder, settings, fn)
        except NeedsRuntime as need:
            settings.runtime_sites.update(original_sites(need.sites))
            del builder.statements[start:]
    raise AssertionError(f"the structure of what {fn!r} makes does not settle")


def _refuse_uncovered(builder: Builder, settings: Settings, fn: Any) -> None:
    """Raises where a rule says itself, by NotImplementedError, that it does not cover a call."""
    for (function, _), what in settings.uncovered.items():
        if function is fn:
            raise error("AD0204", builder.span, f"{what} has no derivative")


def _attempt(
    builder: Builder, settings: Settings, fn: Any, args: Sequence[Any], kwargs: Mapping[str, ir.Atom]
) -> Spliced:
    from adjoint.frontend.interpreter.interpreter import Interpreter  # lazy

    lowerer = Interpreter(settings)
    lowerer.fixed_span = builder.span
    lowerer.run_data.all_constant = True
    lowerer.run_data.of_users = not (getattr(fn, "__module__", None) or "").startswith("adjoint.")
    block = Open()
    block.statements = builder.statements
    block.span = builder.span
    lowerer.block = block
    named = {name: _value(atom) for name, atom in kwargs.items()}
    try:
        with lowerer.region("function"):
            value = lowerer.call(ir.Const(fn), [_value(arg) for arg in args], named, None)
    except Problem as problem:
        raise _unusable(builder, fn, args, problem.diagnostic) from problem
    if lowerer.run_data.diagnostics:
        raise _unusable(builder, fn, args, next(iter(lowerer.run_data.diagnostics.values())))
    assert lowerer.block is block, "a rule has one way out"
    return _result(lowerer, value)


def _unusable(builder: Builder, fn: Any, args: Sequence[Any], found: Diagnostic) -> Exception:
    """What to raise where a rule is not defined for these operands: some need to know the rank."""
    types = [type_of_atom(arg) for arg in args if isinstance(arg, (ir.Var, ir.Const))]
    if any(isinstance(type_, ir.Array) and type_.dims is None for type_ in types):
        label = "the number of axes of an operand is not known here, and the derivative depends on it"
        return error("AD0401", builder.span, label, helps=("give it its shape: np.reshape(x, (n, m))",))
    if found.code in (
        "AD0203",
        "AD0211",
        "AD0212",
        "AD0213",
    ):  # what no operands make right is a mistake of who calls it
        return DifferentiationError(found)
    return AssertionError(f"the rule {fn!r} cannot be spliced: {found}")


def _value(arg: Any) -> Value:
    if arg is None:
        return NONE
    if isinstance(arg, (tuple, list)):
        return TupleValue(tuple(_value(part) for part in arg))
    return arg  # type: ignore[no-any-return]


def _result(lowerer: Interpreter, value: Value) -> Spliced:
    match value:
        case ir.Const(value=None):
            return None
        case TupleValue(items=items):
            return tuple(_result(lowerer, item) for item in items)
        case Ref():
            record = lowerer.store[value]
            if isinstance(record, Record) and record.cls is list:
                return tuple(_result(lowerer, item) for item in record.items)
    return materialize(lowerer, value, None)
