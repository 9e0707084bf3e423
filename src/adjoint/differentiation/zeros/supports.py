"""Where a derivative is zero because something was left out, and where a zero was merely computed.

What a selection leaves out (``where``, a mask, ``maximum``, a tangent that is zero) is zero, whatever it is
multiplied with: an infinite slope, or one that is not a number, does not matter there. A zero that a partial
derivative made is a number like others: the slope of ``sqrt(x) ** 2`` at zero is ``0 * inf``, which is not a number.

The *support* of a cotangent (in forward mode, of a tangent) is zero exactly where the cotangent was left out. As long
as no partial derivative that may vanish has been multiplied with it, a cotangent is its own support. Then the
products of the rules may ask the cotangent itself (``times``, ``divide``); else they ask its support (``selected``).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, targets_of
from adjoint.records import dataclass
from adjoint.rules.kinds import Linear
from adjoint.rules.registry import rule_for
from adjoint.runtime.arithmetic.numbers import choose, divide, product, quotient, selected, somewhere, times
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.array_functions.sequences import (
    array_of,
    column_stack_of,
    concatenate_of,
    hstack_of,
    stack_of,
    vstack_of,
)
from adjoint.sources.library_folders import package_of

_MOVING = """
    spread restore_axes reshape_like scatter scatter_take scatter_along unrepeat untile undiag place_diagonal
    place_trace unpad unpad_places unchosen chosen hollow without_phase transposed hermitian diagonal_matrix
    diagonal_of conjugated conjugate
    tril triu diag diagonal reshape transpose swapaxes moveaxis expand_dims squeeze broadcast_to flip
    pad insert delete roll take take_along_axis ravel asarray atleast_1d atleast_2d atleast_3d from_diagonal cumsum
"""
_MOVES = frozenset(_MOVING.split())
"""Functions, of NumPy and of ours, that put the elements of their first argument elsewhere, zeros beside them.

Sums of what stands before are zero where all of that is.
"""
TOGETHER = frozenset({array_of, concatenate_of, stack_of, vstack_of, hstack_of, column_stack_of})
"""Those that put the elements of several arguments side by side."""
_OF_ARRAYS = frozenset(
    {np.matmul, operator.matmul, np.dot, np.outer, np.inner, np.tensordot, np.kron, np.convolve, np.einsum}
)
"""Sums of products of elements, none of which is subtracted."""
_LEAVING_OUT = frozenset({"scatter", "scatter_take", "scatter_along", "unchosen"})
"""Those of them that are transposes of selections."""
NEVER_ZERO = frozenset(
    {
        *(np.exp, np.expm1, np.exp2, np.sinh, np.tan, np.arctan, np.arcsinh, np.arcsin, np.arccos, np.arctanh),
        *(math.exp, math.expm1, math.sinh, math.tan, math.atan, math.asinh, math.asin, math.acos, math.atanh),
    }
)
"""Functions whose slope is zero nowhere."""
Kwargs = tuple[tuple[str, ir.Atom], ...]
_STRONG = {times: product, divide: quotient}
_PLAIN = {operator.mul: times, operator.truediv: divide}


@dataclass(frozen=True, slots=True)
class Union:
    """The support of a sum of numbers, which is written where the sum was if anybody asks for it.

    Attributes
    ----------
    home
        The block of the sum. It is open as long as others are open inside it, from which it may be asked for.
    parts
        What it is united of.
    """

    home: Builder
    parts: tuple[ir.Atom, ...]


class Supports:
    """What is known of the cotangents, or of the tangents, of one function.

    Attributes
    ----------
    found
        The support of a cotangent that is not its own.
    by_chance
        Memory that may be written: what was left out as it was made does not say what is zero later.
    partial
        Cotangents from which a selection left something out: what they are multiplied with need not be a number there.
    by_element
        Whether sums of products of arrays have the support of each element, and not one of all: more products, which
        reverse mode is spared, where sums go from one number to many.
    """

    def __init__(self, *, by_element: bool = False) -> None:
        self.by_element = by_element
        self.found: dict[ir.Var, ir.Atom | Union] = {}
        self.by_chance: set[ir.Var] = set()
        self.partial: set[ir.Var] = set()

    def of(self, cotangent: ir.Atom) -> ir.Atom:
        if not isinstance(cotangent, ir.Var):
            return cotangent
        found = self.found.get(cotangent, cotangent)
        if isinstance(found, Union):
            found = self.found[cotangent] = _united(found.home, found.parts)
        return found

    def written(self, memory: ir.Var) -> None:
        """What is asked of memory that may be written later: itself, beside which supports are kept."""
        support = self.found.get(memory)
        if isinstance(support, ir.Var) and of_same_rank(support, memory):
            del self.found[memory]
            self.by_chance.add(memory)
        elif support is not None:
            self.found[memory] = ir.Const(1.0)

    def inherit(self, new: ir.Atom, old: ir.Atom) -> None:
        """``new`` is ``old`` in other words."""
        if isinstance(new, ir.Var) and new is not old:
            if isinstance(old, ir.Const):
                self.found[new] = old
            elif isinstance(old, ir.Var):
                if old in self.found:
                    self.found[new] = self.found[old]
                if old in self.partial:
                    self.partial.add(new)

    def product(
        self,
        builder: Builder,
        call: ir.Call,
        source: ir.Atom,
        other: ir.Atom,
        varying: Callable[[ir.Atom], bool],
        *,
        vanishes: bool,
    ) -> None:
        """Writes a product or quotient of a cotangent: zero where that was left out, and not where it is by chance.

        Parameters
        ----------
        call
            What computes it.
        source, other
            The cotangent, and what it is multiplied with, or divided by.
        varying, vanishes
            As in :meth:`follow`.
        """
        (target,), callee, args = call.targets, call.callee, call.args
        divides = callee is operator.truediv or callee is divide
        if divides and source is not args[0]:
            builder.emit(call)
            return
        if callee in _PLAIN and source in self.partial and not isinstance(other, ir.Const):
            callee, args = _PLAIN[callee], (source, other)
        known = source in self.found
        self.inherit(target, source)
        if vanishes and not divides and not known and varying(other):
            self.found[target] = _held(builder, source)
        if not known or callee not in _STRONG or args[0] is not source:
            builder.emit(call if callee is call.callee else ir.Call((target,), callee, args, call.kwargs, call.span))
            return
        support, callee = self.of(source), _STRONG[callee]
        if isinstance(support, ir.Const) and support.value:
            builder.emit(ir.Call((target,), callee, args, (), call.span))
        else:
            value = ir.Var(target.hint, target.type)
            builder.emit(ir.Call((value,), callee, args, (), call.span))
            builder.emit(ir.Call((target,), selected, (support, value), (), call.span))

    def reduced(self, builder: Builder, new: ir.Atom, old: ir.Atom) -> None:
        """``new`` has sums of ``old``, or what else is not zero only if anything of ``old`` is not."""
        if isinstance(new, ir.Var) and isinstance(old, ir.Var):
            if old in self.found:
                self.found[new] = _anywhere(builder, self.of(old))
            if old in self.partial:
                self.partial.add(new)

    def fitted(self, builder: Builder, new: ir.Atom, old: ir.Atom, like: ir.Atom) -> None:
        """``new`` is ``old`` in the shape of ``like``, to which it was broadcast."""
        if isinstance(old, ir.Const) or of_same_rank(old, like):
            self.inherit(new, old)
        elif isinstance(new, ir.Var) and old in self.found and not isinstance(type_of_atom(like), ir.Scalar):
            ones = ones_where(self.of(old), old, builder)
            self.found[new] = builder.call(unbroadcast, ones, like, hint="support")
            if old in self.partial:
                self.partial.add(new)
        else:
            self.reduced(builder, new, old)

    def spread(self, builder: Builder, new: ir.Atom, olds: Collection[ir.Atom]) -> None:
        """``new`` is made of several by products with numbers that may be zero."""
        if isinstance(new, ir.Var):
            self.found[new] = self.anywhere(builder, olds)

    def anywhere(self, builder: Builder, cotangents: Collection[ir.Atom]) -> ir.Atom:
        """What is zero only where nothing of any of them was not left out."""
        return _united(builder, [_anywhere(builder, self.of(cotangent)) for cotangent in cotangents])

    def of_product(
        self, builder: Builder, call: ir.Call, args: Sequence[ir.Atom], kwargs: Mapping[str, ir.Atom], place: int
    ) -> ir.Atom:
        """The support of a product with what stands at ``place``: of each element that of what it is summed of."""
        support = self.of(args[place])
        if not is_product_of_arrays(call.callee):
            return _anywhere(builder, support)
        in_shape = _in_shape(builder, support, args[place])
        return product_with_ones(builder, call, args, tuple(kwargs.items()), place, in_shape)

    def united(self, builder: Builder, terms: Collection[ir.Atom]) -> ir.Atom | None:
        """The support of a sum; None where it is its own."""
        if self.found.keys().isdisjoint(terms):
            return None
        return _united(builder, [self.of(term) for term in terms])

    def summed(self, builder: Builder, total: ir.Atom, terms: Collection[ir.Atom]) -> None:
        """``total`` is a sum of cotangents, or a difference."""
        if not isinstance(total, ir.Var) or total in terms:
            return
        if not self.found.keys().isdisjoint(terms):
            if type(total.type) is ir.Scalar:
                self.found[total] = Union(builder, self.parts(terms))
            else:
                self.found[total] = _united(builder, [self.of(term) for term in terms])
        if not self.partial.isdisjoint(terms):
            self.partial.add(total)

    def parts(self, terms: Collection[ir.Atom]) -> tuple[ir.Atom, ...]:
        """What a sum of numbers has as its support, or a part of it: each its own."""
        parts: dict[ir.Atom, None] = {}
        for term in terms:
            support = self.found.get(term, term) if isinstance(term, ir.Var) else term
            parts.update(dict.fromkeys(support.parts if isinstance(support, Union) else (support,)))
        return tuple(parts)

    def moved(self, builder: Builder, call: ir.Call, wrt: Collection[int], args: Sequence[ir.Atom]) -> ir.Atom | None:
        """The support of a linear function's tangent, where it is not its own; ``args`` has tangents in ``wrt``."""
        dots = [args[place] for place in wrt]
        if not any(isinstance(dot, ir.Var) and dot in self.found for dot in dots):
            return None
        if call.callee is np.where or is_moving(call.callee) or call.callee in TOGETHER:
            places = [_in_shape(builder, self.of(arg), arg) if place in wrt else arg for place, arg in enumerate(args)]
            return _called(builder, call, tuple(places))
        return self.anywhere(builder, dots)

    def follow(
        self,
        builder: Builder,
        start: int,
        cotangents: Sequence[ir.Var],
        varying: Callable[[ir.Atom], bool],
        *,
        vanishes: bool = True,
    ) -> None:
        """Follows cotangents through the statements that a rule has written, and has products ask their supports.

        Parameters
        ----------
        builder, start
            The open block, and where the statements start.
        cotangents
            What the rule was given: one cotangent, or the tangents of its operands.
        varying
            Whether a derivative depends on a value: only then a product with it may be zero by chance.
        vanishes
            Whether the partial derivatives may be zero at all.
        """
        written = builder.statements[start:]
        if not written:
            return
        del builder.statements[start:]
        _Follower(self, builder, cotangents, varying, vanishes).run(written)


class _Follower:
    def __init__(
        self,
        supports: Supports,
        builder: Builder,
        cotangents: Sequence[ir.Var],
        varying: Callable[[ir.Atom], bool],
        vanishes: bool,
    ) -> None:
        self.supports = supports
        self.builder = builder
        self.flowing: set[ir.Atom] = set(cotangents)
        self.computed: set[ir.Atom] = set()
        self.varying = varying
        self.vanishes = vanishes

    def run(self, statements: list[ir.Statement]) -> None:
        for statement in statements:
            read = operands(statement)
            flowing = [atom for atom in read if isinstance(atom, ir.Var) and atom in self.flowing]
            if not flowing:
                if any(map(self.varies, read)):
                    self.computed.update(targets_of(statement))
                self.builder.emit(statement)
            elif isinstance(statement, ir.Call) and len(statement.targets) == 1:
                self.flowing.add(statement.targets[0])
                self.call(statement, flowing)
            else:
                self.flowing.update(targets_of(statement))
                if isinstance(statement, ir.Load):
                    self.supports.reduced(self.builder, statement.target, flowing[0])
                self.builder.emit(statement)

    def varies(self, atom: ir.Atom) -> bool:
        if isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array) and ir.is_whole_dtype(atom.type.dtype):
            return False
        return isinstance(atom, ir.Var) and (atom in self.computed or self.varying(atom))

    def scaled(self, others: Sequence[ir.Atom]) -> bool:
        """Whether products with these operands may be zero by chance."""
        return any(map(self.varies, others))

    def call(self, call: ir.Call, flowing: Sequence[ir.Var]) -> None:
        supports, builder, (target,) = self.supports, self.builder, call.targets
        sources = [arg for arg in call.args if isinstance(arg, ir.Var) and arg in self.flowing]
        others = [arg for arg in call.args if not isinstance(arg, ir.Var) or arg not in self.flowing]
        source = flowing[0]
        known = source in supports.found
        if len(sources) == 1 and call.callee in (times, divide, operator.mul, operator.truediv):
            supports.product(builder, call, source, others[0], self.varies, vanishes=self.vanishes)
            return
        if getattr(call.callee, "__name__", "") in _LEAVING_OUT:
            supports.partial.add(target)
        if call.callee in (choose, np.where):
            self.chosen(call, target)
        elif len(sources) == 1 and call.callee in (quotient, product, selected):
            supports.inherit(target, source)
            if not known and (self.vanishes or call.callee is selected):
                supports.found[target] = _held(builder, source)
        elif call.callee in (operator.neg, operator.pos):
            supports.inherit(target, source)
        elif call.callee in (operator.add, operator.sub):
            supports.summed(builder, target, sources)
        elif call.callee in TOGETHER:
            if not supports.found.keys().isdisjoint(sources):
                masks = [_in_shape(builder, supports.of(arg), arg) if arg in self.flowing else arg for arg in call.args]
                supports.found[target] = _called(builder, call, tuple(masks))
        elif len(sources) > 1:
            supports.spread(builder, target, sources)
        elif supports.by_element and is_product_of_arrays(call.callee) and source in call.args and self.scaled(others):
            place = call.args.index(source)
            supports.found[target] = supports.of_product(builder, call, call.args, dict(call.kwargs), place)
        elif self.scaled(others) and not _is_linear(call.callee):
            supports.spread(builder, target, sources)
        elif known and is_moving(call.callee) and source is call.args[0]:
            supports.inherit(target, source)
            support = _in_shape(builder, supports.of(source), source)
            supports.found[target] = _called(builder, call, (support, *call.args[1:]))
        elif call.callee is unbroadcast:
            supports.fitted(builder, target, source, call.args[1])
        else:
            supports.reduced(builder, target, source)
        builder.emit(call)

    def chosen(self, call: ir.Call, target: ir.Var) -> None:
        """A selection: its support is that part of the support."""
        supports, builder = self.supports, self.builder
        if any(isinstance(arg, ir.Var) and arg in supports.found for arg in call.args[1:]):
            parts = [
                supports.of(arg) if isinstance(arg, ir.Var) and arg in self.flowing else ir.Const(0.0)
                for arg in call.args[1:]
            ]
            supports.found[target] = builder.call(call.callee, call.args[0], *parts, hint="support")
        supports.partial.add(target)


def is_product_of_arrays(callee: Any) -> bool:
    """Whether a function sums products of the elements of arrays."""
    return callee in _OF_ARRAYS


def product_with_ones(
    builder: Builder, call: ir.Call, args: Sequence[ir.Atom], kwargs: Kwargs, place: int, support: ir.Atom
) -> ir.Var:
    """A product of arrays, of the support of what stands at ``place`` and of ones."""
    factors = range(1, len(args)) if call.callee is np.einsum else range(2)
    ones = [
        support if at == place else ones_where(ir.Const(1.0), arg, builder) if at in factors else arg
        for at, arg in enumerate(args)
    ]
    return _called(builder, ir.Call(call.targets, call.callee, (), kwargs, call.span), tuple(ones))


def is_support(var: ir.Var) -> bool:
    """Whether a variable tells what was left out of a cotangent."""
    return var.hint == "support"


def is_moving(callee: Any) -> bool:
    """Whether a function puts the elements of its first argument elsewhere, and does nothing else."""
    module = getattr(callee, "__module__", None) or ""
    of_library = module.startswith("adjoint.runtime.") or package_of(callee) == "numpy"
    return of_library and getattr(callee, "__name__", "") in _MOVES


def _is_linear(callee: Any) -> bool:
    """Whether a function takes other arguments than the cotangent for their shapes, or as places, only."""
    rule = rule_for(callee)
    return isinstance(rule, Linear) if rule is not None else is_moving(callee)


def _held(builder: Builder, source: ir.Atom) -> ir.Atom:
    """A cotangent as a support; of memory that may be written later, what it says now."""
    if isinstance(source, ir.Var) and ir.is_handle(source.type):
        return builder.call(operator.ne, source, ir.Const(0), hint="support")
    return source


def _called(builder: Builder, call: ir.Call, args: tuple[ir.Atom, ...]) -> ir.Var:
    (type_,) = builder.type_of_call(call.callee, args, call.kwargs)
    target = ir.Var("support", type_)
    builder.emit(ir.Call((target,), call.callee, args, call.kwargs, call.span))
    return target


def _in_shape(builder: Builder, support: ir.Atom, like: ir.Atom) -> ir.Atom:
    """A support in the shape of its cotangent; ones where it is not zero."""
    if of_same_rank(support, like) or isinstance(type_of_atom(like), ir.Scalar):
        return builder.call(operator.ne, support, ir.Const(0), hint="support")
    return ones_where(support, like, builder)


def ones_where(support: ir.Atom, like: ir.Atom, builder: Builder) -> ir.Var:
    """A support in the shape of an array, which may be one of complex numbers: a support is real."""
    ones = builder.call(np.ones_like, like, hint="support")
    if _may_be_complex(type_of_atom(like)):
        ones = builder.call(abs, ones, hint="support")
    return builder.call(selected, support, ones, hint="support")


def _may_be_complex(type_: ir.Type | None) -> bool:
    return not isinstance(type_, ir.Array) or type_.dtype is None or type_.dtype.kind == "c"


def _anywhere(builder: Builder, support: ir.Atom) -> ir.Atom:
    if isinstance(support, ir.Const) or isinstance(type_of_atom(support), ir.Scalar):
        return support
    return builder.call(somewhere, support, hint="support")


def _united(builder: Builder, supports: Sequence[ir.Atom]) -> ir.Atom:
    """What is zero only where all supports are."""
    for support in supports:
        if isinstance(support, ir.Const) and support.value:
            return support
    several = list(dict.fromkeys(support for support in supports if isinstance(support, ir.Var)))
    if len(several) < 2:
        return several[0] if several else ir.Const(0.0)
    total = _where_not_zero(builder, several[0])
    for support in several[1:]:
        total = builder.call(operator.or_, total, _where_not_zero(builder, support), hint="support")
    return total


def _where_not_zero(builder: Builder, support: ir.Var) -> ir.Var:
    if support.type == ir.BOOL:
        return support
    return builder.call(operator.ne, support, ir.Const(0), hint="support")


def of_same_rank(one: ir.Atom, other: ir.Atom) -> bool:
    """Whether nothing is summed where one takes the shape of the other; both are numbers, or as many-dimensional."""
    mine, theirs = type_of_atom(one), type_of_atom(other)
    if isinstance(mine, ir.Scalar) and isinstance(theirs, ir.Scalar):
        return True
    if not isinstance(mine, ir.Array) or not isinstance(theirs, ir.Array) or mine.dims is None or theirs.dims is None:
        return False
    return len(mine.dims) == len(theirs.dims) and all(
        a == b and a in ("one", "many") for a, b in zip(mine.dims, theirs.dims, strict=True)
    )
