"""Objects of NumPy's that are called: functions of numbers made functions of arrays, polynomials."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial

from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.data import making
from adjoint.frontend.entry import inputs
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Partial, Value
from adjoint.frontend.library import array_definitions
from adjoint.ir.nodes import Const

SERIES = (Polynomial, Chebyshev, Legendre, Laguerre, Hermite, HermiteE)


@handles(np.vectorize)
def _vectorize(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if len(args) != 1 or not kwargs.keys() <= {"otypes"}:
        return NotImplemented
    if "otypes" not in kwargs:
        return Partial(Const(array_definitions.vectorized), (args[0],), ())
    given = kwargs["otypes"]
    types = (given,) if isinstance(given, Const) else making.list_items(lo, given) or ()
    if len(types) != 1 or not isinstance(types[0], Const):
        return NotImplemented
    return Partial(Const(array_definitions.vectorized_to), (types[0], args[0]), ())


@handles(np.poly1d)
def _poly1d(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return Partial(Const(np.polyval), (args[0],), ()) if len(args) == 1 and not kwargs else NotImplemented


def _series(cls: Any) -> Handler:
    def make(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if len(args) != 1 or kwargs:
            return NotImplemented
        return Partial(Const(array_definitions.value_of_series), (Const(cls._val), args[0]), ())

    return make


for _cls in SERIES:
    HANDLERS[_cls] = _series(_cls)


def function_of(lo: Lowerer, constant: Any, node: ast.AST | None) -> Value | None:
    """The function that a call of an object means; None where the object is another one."""

    def part(name: str) -> Value:
        return inputs.captured(lo, getattr(constant, name), ("attribute", constant, name), name, node)

    match constant:
        case np.vectorize(signature=None) if not constant.excluded and not constant.cache:
            function = part("pyfunc")
            if constant.otypes is None:
                return Partial(Const(array_definitions.vectorized), (function,), ())
            if len(constant.otypes) != 1:
                return None
            return Partial(Const(array_definitions.vectorized_to), (Const(np.dtype(constant.otypes[0])), function), ())
        case np.poly1d():
            return Partial(Const(np.polyval), (part("coeffs"),), ())
        case _ if isinstance(constant, SERIES):
            cls: Any = type(constant)
            parts = (part("coef"), part("domain"), part("window"))
            return Partial(Const(array_definitions.value_of_mapped_series), (Const(cls._val), *parts), ())
        case _:
            return None
