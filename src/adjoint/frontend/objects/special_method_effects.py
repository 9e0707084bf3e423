"""Objects whose class says how they are looked at, and that may change something then: as texts, keys, numbers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import effects
from adjoint.analysis.user_code_effects import LOOKS, TEXTS, acting_method, may_act
from adjoint.diagnostics import Diagnostic, DifferentiationError, diagnostic
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value
from adjoint.frontend.objects.classes import class_of
from adjoint.frontend.objects.special_methods import special_method
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import key_atoms, operands, statements_run
from adjoint.rules.registry import declaration_for
from adjoint.runtime import display

_NAMES: dict[Any, tuple[str, ...]] = {repr: ("__repr__",), format: TEXTS}


def text_of(lo: Lowerer, function: Any, value: Value, further: list[Value], node: ast.AST | None) -> Value:
    """What stands for an object where its text is asked for: that text, if to write it may change something."""
    cls = class_of(lo, value)
    if cls is None or acting_method(cls, TEXTS) is None:
        return value
    for name in _NAMES.get(function, TEXTS[1:]):
        method = special_method(lo, value, name)
        if method is not None:
            return lo.call(method, (further or [ir.Const("")]) if name == "__format__" else [], {}, node)
    return value


def refuse_acting_looks(function: ir.Function) -> None:
    """Raises where a statement only looks at something, and code of the user's that it runs may change something."""
    found = [problem for statement in statements_run(function) if (problem := _acting(statement)) is not None]
    if found:
        raise DifferentiationError(*found)


def _acting(statement: ir.Statement) -> Diagnostic | None:
    match statement:
        case ir.Load(key=ir.Subscript() as key) | ir.Store(key=ir.Subscript() as key):
            looked, name = key_atoms(key), "this index"
            methods: tuple[str, ...] = _OTHERS
        case ir.Call(callee=display.make_dict, args=args):
            looked, name, methods = args[::2], "the key", _OTHERS
        case ir.Call(callee=callee) if _looks(callee):
            looked, name = operands(statement), repr(getattr(callee, "__name__", "this"))
            name = "this operator" if getattr(callee, "__module__", None) == "_operator" else name
            methods = (*TEXTS, *_OTHERS) if name == "'join'" else TEXTS if _writes_text(callee, looked) else _OTHERS
        case _:
            return None
    for cls in _classes_in(map(type_of_atom, looked)):
        method = acting_method(cls, methods)
        if method is not None:
            return _problem(statement, name, f"{cls.__qualname__}.{method}", "call a method of the object before")
    for atom in looked:
        if isinstance(atom, ir.Const) and isinstance(atom.value, FunctionType) and may_act(atom.value):
            return _problem(statement, name, atom.value.__qualname__, "call it before, and hand over what it gives")
    return None


def _problem(statement: Any, name: str, runs: str, way_out: str) -> Diagnostic:
    label = f"{name} runs {runs!r}, which is not looked into, and may change something"
    return diagnostic("AD0303", statement.span, label, helps=(way_out,))


def _looks(callee: Any) -> bool:
    """Whether a function is known to look only at what it is given, and at the items of that."""
    module = str(getattr(callee, "__module__", None) or type(callee).__module__)
    if module.startswith("adjoint."):
        return callee in (*_TEXTS, display.make_set)
    if getattr(callee, "__objclass__", None) in (set, dict):
        return callee not in _HANDING_ON
    if isinstance(callee, (ir.Declared, ir.Requested, ir.Applied)) or declaration_for(callee) is not None:
        return False  # its declaration tells all that it does
    facts = effects(callee)
    return facts.known and not facts.writes and facts.reads != () and callee not in (*_HANDING_ON, id)


def _writes_text(callee: Any, given: Sequence[ir.Atom]) -> bool:
    if callee is operator.mod:
        return type_of_atom(given[0]) == ir.Opaque(str)
    is_of_text = getattr(callee, "__objclass__", None) is str or isinstance(getattr(callee, "__self__", None), str)
    return is_of_text or callee in (*_TEXTS, str, repr, format, print)


_TEXTS = (display.format_value, display.join_string)
_OTHERS = tuple([name for name in LOOKS if name not in TEXTS])
_HANDING_ON: tuple[Any, ...] = (
    *(list, tuple, zip, enumerate, reversed, iter, list.copy, dict.copy, dict.keys, dict.values, dict.items),
)
"""Functions that take what they are given as it is, and what lies in it."""


def _classes_in(types_: Iterable[Any]) -> Iterator[type]:
    """The classes of objects of some types, and of what lies in them."""
    pending = list(types_)
    for each in pending:
        match each:
            case ir.Instance(cls=cls, fields=fields):
                yield cls
                pending += fields.values()
            case ir.List(element=part) | ir.Dict(value=part):
                pending.append(part)
            case ir.PerPlace(items=parts) | ir.Tuple(items=parts):
                pending += parts
            case ir.Opaque(cls=cls) if cls is not None:
                yield cls
