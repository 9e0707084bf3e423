"""Objects of NumPy's that are called: functions of numbers made functions of arrays, polynomials; its settings.

And functions that do the same with each of several arrays, or join them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import call_any
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.data import containers, making
from adjoint.frontend.entry import inputs
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Partial, TupleValue, Value
from adjoint.frontend.library.arrays import definitions as array_definitions
from adjoint.frontend.objects.attributes import attribute
from adjoint.frontend.objects.classes import class_of
from adjoint.rules.numpy.polynomials.objects import Poly1d

SERIES = (Polynomial, Chebyshev, Legendre, Laguerre, Hermite, HermiteE)


def _of_each(callee: Any, lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Of several arrays, a tuple of what it gives of each."""
    if len(args) < 2 or kwargs:
        return NotImplemented
    return TupleValue(tuple([lo.call(ir.Const(callee), [arg], {}, node) for arg in args]))


for _lifted in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    HANDLERS[_lifted] = partial(_of_each, _lifted)


def _joined(callee: Any, lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Arrays that are joined, and are floats of some kind then: ``dtype=``."""
    rest = {name: value for name, value in kwargs.items() if name not in ("dtype", "casting")}
    dtype, casting = kwargs.get("dtype", ir.Const(None)), kwargs.get("casting", ir.Const("same_kind"))
    if len(rest) == len(kwargs) or casting not in (ir.Const("same_kind"), ir.Const("unsafe")):
        return NotImplemented
    if not isinstance(dtype, ir.Const) or (dtype.value is not None and np.dtype(dtype.value).kind not in "fc"):
        return NotImplemented  # floats may be cut off, or refused
    joined = lo.call(ir.Const(callee), args, rest, node)
    return joined if dtype.value is None else lo.call(ir.Const(np.asarray), [joined], {"dtype": dtype}, node)


for _joining in (np.concatenate, np.stack, np.vstack, np.hstack):
    HANDLERS[_joining] = partial(_joined, _joining)


@handles(np.vectorize)
def _vectorize(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    signature = kwargs.get("signature")
    if len(args) == 1 and kwargs.keys() == {"signature"} and isinstance(signature, ir.Const):
        return _of_core(args[0], signature.value) if _SIGNATURE.fullmatch(str(signature.value)) else NotImplemented
    if len(args) != 1 or not kwargs.keys() <= {"otypes"}:
        return NotImplemented
    if "otypes" not in kwargs:
        return Partial(ir.Const(array_definitions.vectorized), (args[0],), ())
    given = kwargs["otypes"]
    types = (given,) if isinstance(given, ir.Const) else making.list_items(lo, given) or ()
    if len(types) != 1 or not isinstance(types[0], ir.Const):
        return NotImplemented
    return Partial(ir.Const(array_definitions.vectorized_to), (types[0], args[0]), ())


_CORE = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
_SIGNATURE = re.compile(rf"\s*{_CORE}(?:\s*,\s*{_CORE})*\s*->\s*{_CORE}(?:\s*,\s*{_CORE})*\s*")


def _of_core(function: Value, signature: str) -> Value:
    """A function of the last axes of arrays, as its signature tells them: ``"(m,n),(n)->(m)"``."""
    given, _, _ = signature.partition("->")
    core = tuple([tuple(re.findall(r"\w+", names)) for names in re.findall(_CORE, given)])
    return Partial(ir.Const(array_definitions.vectorized_parts), (ir.Const(core), function), ())


_OF_POLYNOMIALS = {np.polyval: False, np.roots: False} | dict.fromkeys(
    (np.polyder, np.polyint, np.polyadd, np.polysub, np.polymul), True
)
"""Functions that take polynomials for their coefficients, and whether they give one then."""


def _of_polynomials(callee: Any, gives_one: bool) -> Handler:
    def handle(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        given = [polynomial_of(lo, arg, node) for arg in args]
        places = [place for place, value in enumerate(given) if class_of(lo, value) is Poly1d]
        if not places or (callee is np.polyval and 1 in places):
            return NotImplemented
        for place in places:
            given[place] = attribute(lo, given[place], "given" if gives_one else "coeffs", node)
        result = lo.call(ir.Const(callee), given, kwargs, node)
        return lo.call(ir.Const(np.poly1d), [result], {}, node) if gives_one else result

    return handle


for _callee, _gives_one in _OF_POLYNOMIALS.items():
    HANDLERS[_callee] = _of_polynomials(_callee, _gives_one)


def polynomial_of(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """For a polynomial that does not vary the object that it is in derivatives; other values as they are."""
    if isinstance(value, ir.Const) and type(value.value) is Polynomial:
        constant = value.value
        parts = [
            inputs.captured(lo, getattr(constant, name), ("attribute", constant, name), name, node)
            for name in ("coef", "domain", "window")
        ]
        return lo.call(ir.Const(Polynomial), parts, {}, node)
    if not isinstance(value, ir.Const) or not isinstance(value.value, np.poly1d):
        return value
    path = ("attribute", value.value, "coeffs")
    return lo.call(ir.Const(np.poly1d), [inputs.captured(lo, value.value.coeffs, path, "coeffs", node)], {}, node)


def _series(cls: Any) -> Handler:
    def make(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if len(args) != 1 or kwargs:
            return NotImplemented
        return Partial(ir.Const(array_definitions.value_of_series), (ir.Const(cls._val), args[0]), ())

    return make


for _cls in SERIES[1:]:  # the first are objects, :mod:`adjoint.rules.numpy.polynomials.series`
    HANDLERS[_cls] = _series(_cls)


def function_of(lo: Lowerer, constant: Any, node: ast.AST | None) -> Value | None:
    """The function that a call of an object means; None where the object is another one."""

    def part(name: str) -> Value:
        return inputs.captured(lo, getattr(constant, name), ("attribute", constant, name), name, node)

    match constant:
        case np.vectorize(signature=None) if not constant.excluded and not constant.cache:
            function = part("pyfunc")
            if constant.otypes is None:
                return Partial(ir.Const(array_definitions.vectorized), (function,), ())
            if len(constant.otypes) != 1:
                return None
            return Partial(
                ir.Const(array_definitions.vectorized_to), (ir.Const(np.dtype(constant.otypes[0])), function), ()
            )
        case np.vectorize(signature=str() as signature) if not (constant.excluded or constant.cache or constant.otypes):
            return _of_core(part("pyfunc"), signature)
        case np.poly1d():
            return Partial(ir.Const(np.polyval), (part("coeffs"),), ())
        case _ if isinstance(constant, SERIES):
            cls: Any = type(constant)
            parts = (part("coef"), part("domain"), part("window"))
            return Partial(ir.Const(array_definitions.value_of_mapped_series), (ir.Const(cls._val), *parts), ())
        case _:
            return None


def _tells_settings(function: Callable[..., Any]) -> Handler:
    def handle(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        """How floats that are no numbers were treated: the keys of what is told are known."""
        named = {name: materialize(lo, value, node) for name, value in kwargs.items()}
        told = call_any(lo, function, [materialize(lo, arg, node) for arg in args], node, **named)
        parts: list[tuple[Value, Value]] = [
            (ir.Const(name), containers.subscript(lo, told, ir.Const(name), node)) for name in np.geterr()
        ]
        return making.new_dict(lo, parts, node)

    return handle


HANDLERS[np.seterr] = _tells_settings(np.seterr)
HANDLERS[np.geterr] = _tells_settings(np.geterr)
