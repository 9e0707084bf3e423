"""The seed of a gradient: the result that is differentiated, and what messages say of results that cannot be."""

from __future__ import annotations

import ast
import builtins
import linecache
import re
from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.diagnostics import Span
from adjoint.frontend.differentiation.components import Component, component, describe
from adjoint.frontend.differentiation.inner_functions import Inner, name_of
from adjoint.frontend.differentiation.wrt import refusal, source_of
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value
from adjoint.ir.walk import leaves


def seed_of(lo: Lowerer, function: Value, inner: Inner, part: Component, node: ast.AST | None) -> ir.Atom:
    """The cotangent 1 of a scalar result, or of a component of the result that is one."""
    shape = part.shape
    match shape:
        case joins.Leaf(type=ir.Scalar(kind="int")) if not _result_varies(inner, part.start):
            return ir.Const(1.0)
        case joins.Leaf(type=ir.Scalar(kind="float")) | joins.Leaf(type=ir.Number()):
            return ir.Const(1.0)
        case joins.Leaf(type=ir.Array(dtype=dtype, dims=dims)) if _has_one_element(dims) and _may_be_float(dtype):
            assert dims is not None
            return lo.open.call(np.ones, ir.Const((1,) * len(dims)))
        case joins.Leaf(type=ir.Array()) | joins.TupleShape() | joins.RefShape():
            label, helps = f"this returns {describe(shape)}, not a number", _reduced(shape, part, function)
            raise refusal(lo, "AD0406", function, node, label, helps=helps, others=returned(function, node))
        case joins.Leaf(type=type_) if ir.carries_derivative(type_) and not isinstance(type_, ir.Scalar):
            raise refusal(lo, "AD0406", function, node, "this returns a structure, not a number")
        case joins.Same(value=ir.Const(value=None)):
            others = _missing_return(function)
            raise refusal(lo, "AD0407", function, node, "this returns None", helps=("return the value",), others=others)
        case _:
            refuse_several_kinds(lo, function, shape, node)
            label, others = f"this returns {describe(shape)}", returned(function, node)
            helps = _as_float(shape) or _as_call(shape, others)
            raise refusal(lo, "AD0407", function, node, label, helps=helps, others=others)


def _reduced(shape: joins.Shape, part: Component, function: Value) -> tuple[str, ...] | None:
    """How a number is made of a result of another structure."""
    name = name_of(function)
    name = name if name.isidentifier() and name != "function" else "f"
    match shape:
        case joins.TupleShape(items=items) if not part.keys and items and _is_number(items[0]):
            return (
                f"for the first item, with the others handed out beside it: ad.grad({name}, result=0)",
                *([f"or, of a pair (value, aux): ad.grad({name}, has_aux=True)"] if len(items) == 2 else []),
                f"for a weighted sum of the results: ad.vjp({name}, *args)",
            )
        case joins.RefShape(record=record) if not part.keys and record.keys:
            return (
                f"for one part of it: ad.grad({name}, result={record.keys[0]!r})",
                f"for a weighted sum of the results: ad.vjp({name}, *args)",
            )
        case joins.Leaf():
            return (
                "make it a number: np.sum(...)",
                f"or, for all partial derivatives: ad.jacobian({name})",
                f"or, for a weighted sum of the results: ad.vjp({name}, *args)",
            )
        case _:
            return None


def _is_number(shape: joins.Shape) -> bool:
    return isinstance(shape, joins.Leaf) and isinstance(shape.type, ir.Scalar) and shape.type.kind == "float"


def _as_float(shape: joins.Shape) -> tuple[str, ...] | None:
    """What to return instead of what has no derivative."""
    match shape:
        case joins.Leaf(type=ir.Scalar(kind="int")):
            return (
                "an integer does not vary smoothly: return the number itself, as x for int(x), or x[i] for an index i",
            )
        case joins.Leaf(type=ir.Scalar(kind="bool")) | joins.Same(value=ir.Const(value=bool())):
            return ("a truth value does not vary smoothly: return the numbers that are compared",)
        case joins.Leaf(type=ir.Scalar(kind="complex")):
            return ("return a real number: the real part, or abs(z)**2",)
        case joins.Same(value=ir.Const(value=str())) | joins.Leaf(type=ir.Opaque(cls=builtins.str)):
            return ("return the number, and make the text of it where the function is called",)
        case _:
            return None


def _as_call(shape: joins.Shape, returned: Sequence[tuple[Span, str]]) -> tuple[str, ...] | None:
    """The call that may be meant where a method is returned, or an attribute of which nothing is known."""
    is_unknown = isinstance(shape, joins.Leaf) and isinstance(shape.type, ir.Opaque)
    if not returned or not (is_unknown or isinstance(shape, joins.ComposedShape)):
        return None
    span = returned[0][0]
    text = linecache.getline(span.file, span.line)[span.column : span.end_column]
    return (f"call it: {text}()",) if re.fullmatch(r".*\.[A-Za-z_]\w*", text) else None


def returned(function: Value, node: ast.AST | None) -> tuple[tuple[Span, str], ...]:
    """The expression that is returned, where there is one only and the function is what the user differentiates."""
    if node is not None:
        return ()
    from adjoint.sources.missing_return import sole_return  # lazy

    return sole_return(source_of(function))


def refuse_several_kinds(lo: Lowerer, function: Value, shape: joins.Shape, node: ast.AST | None) -> None:
    """Refuses a result that is of one kind on some paths and of another on others: it would have two tangents."""
    if isinstance(shape, joins.UnionShape):
        helps = ("return a value of the same kind on all paths",)
        others = _missing_return(function) if _may_be_none(shape) else ()
        raise refusal(lo, "AD0407", function, node, f"this returns {describe(shape)}", helps=helps, others=others)


def _may_be_none(shape: joins.UnionShape) -> bool:
    return any(isinstance(each, joins.Same) and each.value == ir.Const(None) for each in shape.options)


def _missing_return(function: Value) -> tuple[tuple[Span, str], ...]:
    from adjoint.sources.missing_return import missing_return  # lazy

    return missing_return(source_of(function))


def _result_varies(inner: Inner, place: int) -> bool:
    """Whether a result has anything to do with the arguments."""
    varied = varying(inner.function.body, inner.function.params[: inner.count])
    return any(leaf.values[place] in varied for leaf in leaves(inner.function.body) if isinstance(leaf, ir.Return))


def _has_one_element(dims: tuple[ir.Dim, ...] | None) -> bool:
    return dims is not None and all(dim != "many" for dim in dims)


def _may_be_float(dtype: np.dtype | None) -> bool:
    return dtype is None or ir.is_float_dtype(dtype)


def first_of_pair(lo: Lowerer, function: Value, inner: Inner, node: ast.AST | None) -> int:
    """How many leaves the first item of a pair ``(value, aux)`` has; anything else is refused."""
    if not isinstance(inner.shape, joins.TupleShape) or len(inner.shape.items) != 2:
        label = "with has_aux=True the function must return a pair (value, aux)"
        helps = ("return the pair: return value, aux", "or leave out has_aux")
        raise refusal(lo, "AD0407", function, node, label, helps=helps, others=returned(function, node))
    return component(lo, function, inner.shape, 1, node).start
