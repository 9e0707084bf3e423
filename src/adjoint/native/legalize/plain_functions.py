"""NumPy's functions by the names under which there are short forms of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_in
from adjoint.native.legalize.arrays.concatenations import joined
from adjoint.native.legalize.arrays.indices import rank_of
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.rules.kinds import Elementwise
from adjoint.rules.registry import rule_for
from adjoint.runtime import display
from adjoint.runtime.arithmetic import bundles
from adjoint.runtime.array_functions import places, plain


def with_plain_functions(function: ir.Function) -> ir.Function:
    """The function with calls of what compiles fast, where it means the same."""
    return _Plain().function(function)


class _Plain(Rewriting):
    def function(self, function: ir.Function) -> ir.Function:
        outer: tuple[frozenset[ir.Atom], frozenset[ir.Atom]] = getattr(self, "layouts", (frozenset(), frozenset()))
        self.layouts = self.contiguous, self.parts = outer[0] | _contiguous(function), outer[1] | _parts(function)
        rewritten = super().function(function)
        self.layouts = self.contiguous, self.parts = outer
        return rewritten

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        if not isinstance(statement, ir.Call):
            return (statement,)
        if statement.callee is np.ndarray.reshape and len(statement.args) > 2:
            base, *extents = statement.args
            shape = ir.Var("shape", ir.Tuple((ir.INT,) * len(extents)))
            whole = ir.Call(statement.targets, np.reshape, (base, shape), statement.kwargs, statement.span)
            (plainer,) = self.statement(whole)
            if plainer is not whole:
                return (ir.Call((shape,), display.make_tuple, tuple(extents)), plainer)
        if statement.callee in _FLAT and len(statement.args) == 1 and not statement.kwargs:
            return self.reshaped(statement, ir.Const(-1))
        if statement.callee in _RESHAPED and len(statement.args) == 2 and not statement.kwargs:
            return self.reshaped(statement, statement.args[1])
        if statement.callee in _PRODUCTS and self.is_better_told(statement):
            return (ir.Call(statement.targets, plain.product, statement.args, (), statement.span),)
        made = joined(statement) or _of_a_number(statement)
        if made is not None:
            return (made,)
        callee = _plain_form(statement)
        if callee is None:
            return (statement,)
        args = (*statement.args, *[value for _, value in statement.kwargs])
        return (ir.Call(statement.targets, callee, args, (), statement.span),)

    def is_better_told(self, call: ir.Call) -> bool:
        """Whether a product is one of parts of arrays, or of a stack of matrices: of numbers of one kind."""
        ranks = [rank_of(arg) for arg in call.args]
        dtypes = {getattr(type_of_atom(arg), "dtype", None) for arg in call.args}
        if call.kwargs or len(ranks) != 2 or len(dtypes) != 1 or getattr(next(iter(dtypes)), "kind", "") not in "fc":
            return False
        if ranks[0] is not None and ranks[0] > 2:
            return call.callee is not np.dot and ranks[1] in (1, 2)
        return all(rank in (1, 2) for rank in ranks) and not self.parts.isdisjoint(call.args)

    def reshaped(self, call: ir.Call, shape: ir.Atom) -> Iterable[ir.Statement]:
        """The elements in the order of rows: where somebody writes the result, only of what surely lies in it."""
        base = call.args[0]
        written = any(ir.is_written_array(target.type) for target in call.targets)
        fits = (
            isinstance(type_of_atom(base), ir.Array) and (not written or base in self.contiguous) and _is_shape(shape)
        )
        return (ir.Call(call.targets, plain.reshaped, (base, shape), (), call.span) if fits else call,)


_PRODUCTS = (operator.matmul, np.matmul, np.dot)
_FLAT = (np.ravel, np.ndarray.ravel)
_RESHAPED = (np.reshape, np.ndarray.reshape)
_MAKERS = (np.empty, np.zeros, np.ones, np.full, bundles.zero_bundles, bundles.no_bundles_yet)
_ALIKE = (np.empty_like, np.zeros_like, np.ones_like, np.copy)


def _contiguous(function: ir.Function) -> frozenset[ir.Atom]:
    """Arrays whose elements surely lie in the order of rows, one behind the other."""
    found: set[ir.Atom] = set()
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Call) and _makes_contiguous(statement, found):
            found.update(statement.targets)
    return frozenset(found)


def _parts(function: ir.Function) -> frozenset[ir.Atom]:
    """Arrays whose elements may lie apart, as parts of other arrays do."""
    found: set[ir.Atom] = set()
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Load) and isinstance(statement.key, ir.Subscript):
            base = statement.base
            if isinstance(type_of_atom(base), ir.Array) and any(
                isinstance(item, ir.Slice) for item in statement.key.items
            ):
                found.add(statement.target)
        elif isinstance(statement, ir.Call) and statement.callee is np.transpose and statement.args[0] in found:
            found.update(statement.targets)
    return frozenset(found)


def _makes_contiguous(call: ir.Call, found: set[ir.Atom]) -> bool:
    if call.callee in _MAKERS:
        return len(call.args) <= 2 and all(name == "dtype" for name, _ in call.kwargs)
    if call.callee in _ALIKE:
        return len(call.args) == 1 and not call.kwargs and call.args[0] in found
    return all(rank_of(target) == 1 for target in call.targets) and isinstance(rule_for(call.callee), Elementwise)


_CASTS = (np.ndarray.astype, np.generic.astype)
_CONJUGATES = (np.ndarray.conj, np.generic.conj)


def _of_a_number(call: ir.Call) -> ir.Call | None:
    """A method of a number of NumPy by the name that machine code knows; None if it is another call."""
    if not call.args or call.kwargs or not isinstance(type_of_atom(call.args[0]), ir.Scalar):
        return None
    match call:
        case ir.Call(callee=callee, args=(number,)) if callee in _CONJUGATES:
            return ir.Call(call.targets, np.conjugate, (number,), (), call.span)
        case ir.Call(callee=callee, args=(number, ir.Const(value=type() as dtype))) if callee in _CASTS:
            return ir.Call(call.targets, np.dtype(dtype).type, (number,), (), call.span)
    return None


def _plain_form(call: ir.Call) -> Callable[..., Any] | None:
    try:
        known = _FORMS.get(call.callee)
    except TypeError:  # not hashable
        return None
    if known is None:
        return None
    form, fits = known
    return form if fits(call) else None


def _makes_numbers(call: ir.Call) -> bool:
    """Whether a call names a shape, and at most a dtype of numbers."""
    shape, dtype = _arguments(call)
    return shape is not None and _is_shape(shape) and (dtype is None or _is_dtype(dtype))


def _is_like(call: ir.Call) -> bool:
    model, dtype = _arguments(call)
    return model is not None and isinstance(type_of_atom(model), ir.Array) and (dtype is None or _is_dtype(dtype))


def _arguments(call: ir.Call) -> tuple[ir.Atom | None, ir.Atom | None]:
    """The first argument and a dtype; nothing where there are others."""
    if not 1 <= len(call.args) <= 2 or [name for name, _ in call.kwargs] not in ([], ["dtype"]):
        return None, None
    found = [*call.args, *[value for _, value in call.kwargs]]
    return (None, None) if len(found) > 2 else (found[0], found[1] if len(found) == 2 else None)


def _is_shape(atom: ir.Atom) -> bool:
    match type_of_atom(atom):
        case _ if isinstance(atom, ir.Const):
            parts = atom.value if isinstance(atom.value, tuple) else (atom.value,)
            return bool(parts) and all(type(part) is int for part in parts)
        case ir.Scalar(kind="int"):
            return True
        case ir.Tuple(items=items):
            return bool(items) and all(isinstance(item, ir.Scalar) and item.kind == "int" for item in items)
        case _:
            return False


def _is_dtype(atom: ir.Atom) -> bool:
    value = atom.value if isinstance(atom, ir.Const) else None
    return isinstance(value, type) and issubclass(value, (np.number, np.bool_))


def _is_of_matrices(call: ir.Call) -> bool:
    """Whether all arguments are matrices of floats of one dtype; the last of two may be a vector."""
    if call.kwargs or not 1 <= len(call.args) <= 2:
        return False
    found = [type_of_atom(arg) for arg in call.args]
    dtypes = {type_.dtype for type_ in found if isinstance(type_, ir.Array)}
    if len(dtypes) != 1 or not all(isinstance(type_, ir.Array) for type_ in found):
        return False
    (dtype,) = dtypes
    ranks = [rank_of(arg) for arg in call.args]
    return dtype is not None and dtype.kind in "fc" and ranks[0] == 2 and ranks[-1] in (1, 2)


def _is_of_real_matrices(call: ir.Call) -> bool:
    dtype = getattr(type_of_atom(call.args[0]), "dtype", None) if call.args else None
    return dtype is not None and dtype.kind == "f" and _is_of_matrices(call)


def _is_to_be_factored(call: ir.Call) -> bool:
    """Whether a matrix is all that is factored, and at most it is said whether bases are to be whole."""
    names = [name for name, _ in call.kwargs]
    type_ = type_of_atom(call.args[0]) if call.args else None
    is_matrix = isinstance(type_, ir.Array) and type_.dtype is not None and type_.dtype.kind in "fc"
    return is_matrix and rank_of(call.args[0]) == 2 and names in ([], ["full_matrices"])


def _is_of_list(call: ir.Call) -> bool:
    return len(call.args) == 1 and not call.kwargs and isinstance(type_of_atom(call.args[0]), ir.List)


def _is_power_of_arrays(call: ir.Call) -> bool:
    return len(call.args) == 2 and any(isinstance(type_of_atom(arg), ir.Array) for arg in call.args)


def _is_along_an_axis(call: ir.Call, count: int) -> bool:
    """Whether a call is of an array, has so many arguments, and says at most along which axis besides."""
    names = [name for name, _ in call.kwargs]
    given = len(call.args) + len(names)
    return count <= given <= count + 1 and names in ([], ["axis"]) and isinstance(type_of_atom(call.args[0]), ir.Array)


def _is_product_of_arrays(call: ir.Call) -> bool:
    return _is_along_an_axis(call, 2) and all(isinstance(type_of_atom(arg), ir.Array) for arg in call.args)


def _is_of_a_matrix(call: ir.Call) -> bool:
    return not call.kwargs and len(call.args) <= 2 and rank_of(call.args[0]) == 2


_FORMS: dict[Any, tuple[Callable[..., Any], Callable[[ir.Call], bool]]] = {
    np.empty: (plain.empty, _makes_numbers),
    np.zeros: (plain.zeros, _makes_numbers),
    np.empty_like: (plain.empty_like, _is_like),
    np.zeros_like: (plain.zeros_in_shape, _is_like),
    np.ascontiguousarray: (np.array, _is_of_list),
    np.asanyarray: (np.array, _is_of_list),
    np.eye: (plain.eye, lambda call: len(call.args) == 1 and not call.kwargs),
    np.diagonal: (places.diagonal, _is_of_a_matrix),
    pow: (operator.pow, _is_power_of_arrays),
    np.cross: (plain.cross, _is_product_of_arrays),
    np.sort: (plain.in_order, lambda call: _is_along_an_axis(call, 1)),
    np.partition: (plain.partitioned, lambda call: _is_along_an_axis(call, 2)),
    np.take_along_axis: (plain.taken_along, lambda call: _is_along_an_axis(call, 2)),
    np.linalg.solve: (plain.solution, _is_of_matrices),
    np.linalg.inv: (plain.inverse, _is_of_matrices),
    np.linalg.det: (plain.determinant, _is_of_matrices),
    np.linalg.slogdet: (plain.sign_and_log_determinant, _is_of_real_matrices),
    np.linalg.qr: (plain.triangular_factors, lambda call: len(call.args) == 1 and _is_to_be_factored(call)),
    np.linalg.svd: (plain.singular_factors, lambda call: len(call.args) <= 2 and _is_to_be_factored(call)),
    np.linalg.cholesky: (plain.cholesky_factor, _is_of_matrices),
}
