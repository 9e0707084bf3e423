"""What element-wise functions do to complex elements: the call itself, of an element.

Machine code has a form of each for complex numbers; NumPy's scalars do what its arrays do.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.native.costs import DIVISION, SLOW
from adjoint.native.fusion.nodes.terms import Recipe
from adjoint.native.fusion.scalars import element_type
from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.array_functions import arrays
from adjoint.types.classes.safe_lookups import found_in

_PRODUCT = 4
_CALLED: dict[Any, tuple[str, int]] = {
    **dict.fromkeys((operator.add, operator.sub, np.add, np.subtract), ("c", 2)),
    **dict.fromkeys((operator.neg, operator.pos, np.negative, np.conj, np.conjugate), ("c", 1)),
    **dict.fromkeys((np.ndarray.conj, np.ndarray.conjugate, arrays.complex_of, numbers.selected), ("cf", 1)),
    **dict.fromkeys((operator.mul, np.multiply, np.square), ("c", _PRODUCT)),
    **dict.fromkeys((numbers.times, numbers.product), ("c", _PRODUCT)),
    **dict.fromkeys((operator.truediv, np.divide, numbers.divide, numbers.quotient), ("c", 4 * DIVISION)),
    **dict.fromkeys((numbers.sign, operator.pow, np.power, numbers.log, numbers.sqrt), ("c", SLOW)),
    **dict.fromkeys((np.exp, np.log, np.sqrt, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh), ("c", SLOW)),
    **dict.fromkeys((np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh), ("c", SLOW)),
    **dict.fromkeys((abs, np.abs, np.angle), ("f", SLOW)),
    **dict.fromkeys((np.real, np.imag), ("f", 0)),
    **dict.fromkeys((operator.eq, operator.ne, np.equal, np.not_equal), ("b", 2)),
    **dict.fromkeys((np.isnan, np.isinf, np.isfinite), ("b", 2)),
}
"""Of which kinds a result may be, and what it costs."""
_POWERS = (operator.pow, np.power)


def is_complex(atom: ir.Atom) -> bool:
    """Whether an atom is a complex number, or an array of some."""
    match atom:
        case ir.Const(value=value):
            return type(value) is complex
        case ir.Var(type=ir.Scalar(kind=kind)):
            return kind == "complex"
        case ir.Var(type=ir.Array(dtype=dtype)):
            return dtype is not None and dtype.kind == "c"
        case _:
            return False


def complex_recipe(callee: Any, args: Sequence[ir.Atom], dtype: np.dtype) -> tuple[Recipe, int] | None:
    """How to compute an element where operands or results are complex, and at what cost; None where it is not known."""
    kinds, cost = found_in(_CALLED, callee) or ("", 0)
    if dtype.kind not in kinds:
        return None
    if callee in _POWERS and args[1] == ir.Const(2):
        return (lambda scalars, parts: scalars.call(np.square, parts[0], type=element_type(dtype))), _PRODUCT
    type_ = ir.BOOL if dtype.kind == "b" else element_type(dtype)
    return (lambda scalars, parts: scalars.call(callee, *parts, type=type_)), cost


def part_of_numbers(statement: ir.Statement) -> tuple[Any, ir.Var] | None:
    """The function that gives the real or the imaginary parts of complex elements, and the array, of a view of them."""
    match statement:
        case ir.Load(target=ir.Var(type=ir.Array()), base=ir.Var(type=ir.Array()) as base, key=ir.Attribute(name=name)):
            function = {"real": np.real, "imag": np.imag}.get(name)
        case ir.Call(targets=(ir.Var(type=ir.Array()),), callee=callee, args=(ir.Var(type=ir.Array()) as base,)):
            function = callee if callee in (np.real, np.imag) else None
        case _:
            return None
    return (function, base) if function is not None and is_complex(base) else None
