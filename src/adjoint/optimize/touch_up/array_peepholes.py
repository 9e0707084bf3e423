"""Simpler forms of what the rules of arrays leave behind, for readers more than for machines.

A cotangent that is one number spread over an array need not be an array while it is only multiplied with arrays
of that shape: ``spread(2 / n, t) * r`` is ``2 / n * r``. That two arrays have one shape is taken from their
types (equal ranks, and no extent that could be 1) or from the terms of their extents.
"""

from __future__ import annotations

import inspect
import operator
from collections import Counter
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.array_layout import asks_layouts
from adjoint.analysis.shapes.extents import Extents, are_of_one_shape
from adjoint.analysis.shapes.terms import ONE
from adjoint.ir.rebuild import map_blocks
from adjoint.ir.walk import read_counts, statements_in
from adjoint.rules.kinds import Elementwise
from adjoint.rules.registry import rule_for
from adjoint.runtime.arithmetic.numbers import selected
from adjoint.runtime.array_functions.arrays import count, empty_product, place_diagonal, spread, unbroadcast
from adjoint.runtime.array_functions.sequences import array_leaf, paths_to
from adjoint.runtime.objects import Checkpoints, make_object
from adjoint.types.vectors import TangentVector


def polish(function: ir.Function) -> ir.Function:
    """The function with its calls in the forms that read best."""
    made = {
        target: statement
        for statement in statements_in(function.body)
        if isinstance(statement, ir.Call) and len(statement.targets) == 1
        for target in statement.targets
    }
    polisher = _Polish(function, made)
    body = polisher.block(function.body)
    if not polisher.changed:
        return function
    return ir.Function(function.name, function.params, body, function.doc)


class _Polish:
    def __init__(self, function: ir.Function, made: dict[ir.Var, ir.Call]) -> None:
        self.function = function
        self.made = made
        self.changed = False

    @cached_property
    def extents(self) -> Extents:
        return Extents(self.function)

    @cached_property
    def reads(self) -> Counter[ir.Var]:
        """How often each variable is read."""
        return read_counts(self.function.body)

    @cached_property
    def shape_reads(self) -> Counter[ir.Atom]:
        """How often each variable is asked for the shape of products."""
        calls = [each for each in statements_in(self.function.body) if isinstance(each, ir.Call)]
        return Counter(arg for each in calls if each.callee is empty_product for arg in each.args)

    @cached_property
    def layouts_matter(self) -> bool:
        """Whether somebody would tell an array from one of the same elements that lies otherwise."""
        return asks_layouts(self.function)

    def one_shape(self, atom: ir.Atom, like: ir.Atom) -> bool:
        """Whether two arrays have one shape and one dtype."""
        return are_of_one_shape(atom, like, lambda: self.extents)

    def block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for old in block.statements:
            statement = self.plain_value(old) if isinstance(old, ir.Store) else old
            if isinstance(statement, ir.Call) and len(statement.targets) == 1:
                statements.append(self.call(statement, statements))
            else:
                statements.append(map_blocks(statement, self.block))
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = ir.Branch(end.cond, self.block(end.then), self.block(end.orelse), end.span)
        return ir.Block(tuple(statements), end)

    def plain_value(self, store: ir.Store) -> ir.Store:
        """What is added in place needs no factor of one, and a number need not be spread."""
        spreading = self.plain_spread(store.value) if store.key is None and store.mode != "set" else None
        if spreading is not None and self.one_shape(store.base, spreading.args[1]):
            self.changed = True
            return ir.Store(store.base, None, spreading.args[0], store.mode, store.span)
        made = self.maker(store.value, operator.mul)
        if made is None or store.mode == "set" or made.args[0] != ir.Const(1.0):
            return store
        kind = _type(made.args[1])
        if not (isinstance(kind, ir.Array) and ir.is_float_dtype(kind.dtype) and kind == _type(store.value)):
            return store
        self.changed = True
        return ir.Store(store.base, store.key, made.args[1], store.mode, store.span)

    def leaf(self, call: ir.Call, before: list[ir.Statement]) -> ir.Call | ir.Load:
        """The element of a cotangent at the one place of a number in an array."""
        ct, template, place, like = call.args
        kind, number = _type(ct), _type(like)
        if not isinstance(kind, ir.Array) or kind.dtype != np.float64 or not isinstance(number, ir.Scalar):
            return call
        is_pythons = number == ir.Scalar("float")
        if not is_pythons and number != ir.Scalar("float", kind.dtype):
            return call
        if not isinstance(template, ir.Const) or not isinstance(place, ir.Const):
            return call
        paths = paths_to(template.value, place.value)
        if len(paths) != 1 or not paths[0]:
            return call
        negative = self.made_just_now(ct, operator.neg, before)
        base = ct if negative is None else negative.args[0]
        key = ir.Subscript(tuple(map(ir.Const, paths[0])), tupled=len(paths[0]) > 1)
        steps = [*([] if negative is None else [operator.neg]), *([float] if is_pythons else [])]
        targets = [*(ir.Var("t", ir.Scalar("float", kind.dtype)) for _ in steps), call.targets[0]]
        made: list[ir.Load | ir.Call] = [ir.Load(targets[0], base, key, call.span)]
        for step, (element, target) in zip(steps, pairwise(targets), strict=True):
            made.append(ir.Call((target,), step, (element,), (), call.span))
        before += made[:-1]
        return made[-1]

    def made_just_now(self, atom: ir.Atom, callee: Any, before: list[ir.Statement]) -> ir.Call | None:
        """The call of a function that made an array which nothing else reads, if what that reads is still there."""
        found = None if self.is_read_again(atom) else self.maker(atom, callee)
        return found if found is not None and before and before[-1] is found else None

    def call(self, old: ir.Call, before: list[ir.Statement]) -> ir.Call | ir.Load:
        """The best form of a call; what it needs is added to what stands before it."""
        rewrite = _REWRITES.get(id(old.callee))
        call = old if rewrite is None else rewrite(self, old, before)
        if isinstance(call, ir.Load):
            self.changed = True
            return call
        call = _constructed(_without_defaults(call))
        if call is not old:
            self.changed = True
            self.made[call.targets[0]] = call
        return call

    def maker(self, atom: ir.Atom, callee: Any) -> ir.Call | None:
        found = self.made.get(atom) if isinstance(atom, ir.Var) else None
        return found if found is not None and found.callee is callee else None

    def size(self, call: ir.Call, before: list[ir.Statement]) -> ir.Call:
        """``x.size``, of an operand instead of an element-wise result where they have one shape."""
        if (
            call.callee is count
            and call.args[1:] in ((), (ir.Const(None),))
            and isinstance(_type(call.args[0]), ir.Array)
        ):
            call = ir.Call(call.targets, np.size, call.args[:1], (), call.span)
        while call.callee is np.size:
            whole = call.args[0]
            inner = self.made.get(whole) if isinstance(whole, ir.Var) and not whole.named else None
            if inner is None or not isinstance(rule_for(inner.callee), Elementwise) or inner.kwargs:
                return call
            like = next((arg for arg in inner.args if self.one_shape(arg, call.args[0])), None)
            if like is None:
                return call
            call = ir.Call(call.targets, np.size, (like,), (), call.span)
        return call

    def summed(self, call: ir.Call, before: list[ir.Statement]) -> ir.Call:
        """The sum over leading axes for what was broadcast along them, or over axes of one element."""
        ct, like = (_type(arg) for arg in call.args)
        if not (isinstance(ct, ir.Array) and isinstance(like, ir.Array)) or ct.dims is None or not like.dims:
            return call
        lead = len(ct.dims) - len(like.dims)
        if lead < 0 or ct.dtype != like.dtype or ct.dtype is None:
            return call
        stretched = self.stretched(call.args[0], call.args[1], lead)
        if stretched is None or bool(stretched) == bool(lead):
            return call
        axes = stretched or tuple(range(lead))
        options = [("axis", ir.Const(axes[0] if len(axes) == 1 else axes))]
        if stretched:
            options.append(("keepdims", ir.Const(True)))
        return ir.Call(call.targets, np.sum, call.args[:1], tuple(options), call.span)

    def stretched(self, ct: ir.Atom, like: ir.Atom, lead: int) -> tuple[int, ...] | None:
        """The axes of an array of which another has one element; None where they may differ in others, too."""
        given, wanted = getattr(_type(ct), "dims", ()), getattr(_type(like), "dims", ())
        if given[lead:] == wanted and all(dim == "many" for dim in wanted):
            return ()
        whole, part = self.extents.of(ct), self.extents.of(like)
        if whole is None or part is None or len(whole) - len(part) != lead:
            return None
        other = [axis for axis, extent in enumerate(part, lead) if extent != whole[axis]]
        return tuple(other) if all(part[axis - lead] == ONE for axis in other) else None

    def scaled_spread(self, call: ir.Call, before: list[ir.Statement]) -> ir.Call:
        """Moves a factor into the number that is spread; drops the spreading where an array gives the shape."""
        if call.callee is operator.neg:
            inner = self.plain_spread(call.args[0])
            if inner is not None:
                number = self.number(operator.neg, (inner.args[0],), call, before)
                return ir.Call(call.targets, spread, (number, *inner.args[1:]), (), call.span)
            return call
        left, right = call.args
        inner = self.plain_spread(left)
        if inner is not None:
            if _keeps(right, inner.args[1]):
                number = self.number(call.callee, (inner.args[0], right), call, before)
                return ir.Call(call.targets, spread, (number, *inner.args[1:]), (), call.span)
            if self.one_shape(right, inner.args[1]):
                return ir.Call(call.targets, call.callee, (inner.args[0], right), (), call.span)
        inner = self.plain_spread(right)
        if inner is not None and call.callee is operator.mul:
            if _keeps(left, inner.args[1]):
                number = self.number(operator.mul, (left, inner.args[0]), call, before)
                return ir.Call(call.targets, spread, (number, *inner.args[1:]), (), call.span)
            if self.one_shape(left, inner.args[1]):
                return ir.Call(call.targets, operator.mul, (inner.args[0], left), (), call.span)
        return call

    def present(self, call: ir.Call, before: list[ir.Statement]) -> ir.Call:
        """All of a value, where nothing of it was left out: its support is a number that is not zero everywhere."""
        support, value = call.args
        inner = self.plain_spread(support)
        if inner is None or not isinstance(inner.args[0], ir.Const) or not inner.args[0].value:
            return call
        return (
            ir.Call(call.targets, selected, (ir.Const(1.0), value), (), call.span)
            if self.one_shape(value, support)
            else call
        )

    def transposed_product(self, call: ir.Call, before: list[ir.Statement]) -> ir.Call:
        """``outer(b, a)`` for ``outer(a, b).T``; ``b.T @ a.T`` for ``(a @ b).T`` where one of both is a transpose."""
        if len(call.args) != 1 or call.kwargs or self.is_read_again(call.args[0]) or self.layouts_matter:
            return call
        outer = self.maker(call.args[0], np.outer)
        if outer is not None and not outer.kwargs and all(map(_is_steady, (*outer.args, *call.targets))):
            return ir.Call(call.targets, np.outer, outer.args[::-1], (), call.span)
        inner = self.maker(call.args[0], operator.matmul)
        if inner is None or not all(map(_is_steady_matrix, inner.args)):
            return call
        known = [self.maker(arg, np.transpose) for arg in inner.args]
        if not any(made is not None and len(made.args) == 1 for made in known):
            return call
        a, b = (self.transpose(arg, call, before) for arg in inner.args)
        return ir.Call(call.targets, operator.matmul, (b, a), (), call.span)

    def scaled_product(self, call: ir.Call, before: list[ir.Statement]) -> ir.Call:
        """``s * (a.T @ g)`` for ``(s * a).T @ g``, likewise for ``g @ (s * a).T``: ``s * a`` is for shapes only then.

        Such are cotangents of products: what the program multiplies is computed as it says.
        """
        by_columns = self.scaled_columns(call)
        if by_columns is not None:
            return by_columns
        if call.kwargs or self.layouts_matter or not all(map(_is_steady, call.args)):
            return call
        for place, arg in enumerate(call.args):
            turned = None if self.is_read_again(arg) else self.maker(arg, np.transpose)
            if turned is None or len(turned.args) != 1:
                continue
            scaled = self.scaled(turned.args[0])
            if scaled is None:
                continue
            factor, array = scaled
            args = [self.transpose(array, call, before) if k == place else each for k, each in enumerate(call.args)]
            product = ir.Var("t", ir.fresh(call.targets[0].type))
            before.append(ir.Call((product,), operator.matmul, tuple(args), (), call.span))
            return ir.Call(call.targets, operator.mul, (factor, product), (), call.span)
        return call

    def scaled_columns(self, call: ir.Call) -> ir.Call | None:
        """``a * d`` for the product of ``a`` with a square matrix of zeros but for ``d`` on its diagonal."""
        matrix, by = call.args
        made = self.maker(by, place_diagonal)
        if made is None or len(made.args) != 2 or made.kwargs or self.is_read_again(by) or not _is_steady(made.args[0]):
            return None
        extents = self.extents.of(made.args[1])
        if extents is None or len(extents) != 2 or extents[0] != extents[1] or not _is_steady_matrix(matrix):
            return None
        return ir.Call(call.targets, operator.mul, (matrix, made.args[0]), (), call.span)

    def scaled(self, atom: ir.Atom) -> tuple[ir.Atom, ir.Atom] | None:
        """The number and the array of which an array is a product, where only one statement needs its elements."""
        made = self.maker(atom, operator.mul)
        if made is None or not isinstance(atom, ir.Var) or atom.named or self.reads[atom] - self.shape_reads[atom] > 1:
            return None
        number, array = made.args if not isinstance(_type(made.args[0]), ir.Array) else made.args[::-1]
        dtype = _type(atom).dtype
        is_kept = _is_steady(array) and _type(array).dtype == dtype and ir.is_float_dtype(dtype)
        return (number, array) if is_kept and _keeps(number, array) else None

    def unscaled(self, call: ir.Call, before: list[ir.Statement]) -> ir.Call:
        """The shape of a product does not depend on a number by which a factor is scaled."""
        found = [self.scaled(arg) for arg in call.args]
        if not any(found):
            return call
        args = tuple([arg if scaled is None else scaled[1] for arg, scaled in zip(call.args, found, strict=True)])
        return ir.Call(call.targets, call.callee, args, (), call.span)

    def transpose(self, matrix: ir.Atom, call: ir.Call, before: list[ir.Statement]) -> ir.Atom:
        made = self.maker(matrix, np.transpose)
        if made is not None and len(made.args) == 1 and not made.kwargs:
            return made.args[0]
        assert isinstance(matrix, ir.Var) and isinstance(matrix.type, ir.Array)
        target = ir.Var("t", ir.Array(matrix.type.dtype, (matrix.type.dims or ())[::-1], matrix.type.storage))
        statement = ir.Call((target,), np.transpose, (matrix,), (), call.span)
        before.append(statement)
        self.made[target] = statement
        return target

    def number(self, callee: Any, args: tuple[ir.Atom, ...], call: ir.Call, before: list[ir.Statement]) -> ir.Atom:
        values = [arg.value for arg in args if isinstance(arg, ir.Const)]
        if len(values) == len(args) and callee is not operator.truediv:
            return ir.Const(callee(*values))
        target = ir.Var("t", ir.Scalar("float", getattr(_type(args[0]), "dtype", None)))
        statement = ir.Call((target,), callee, args, (), call.span)
        before.append(statement)
        self.made[target] = statement
        if callee is operator.mul:
            return self.merged_constant(target, args, call, before)
        return target

    def merged_constant(
        self, target: ir.Var, args: tuple[ir.Atom, ...], call: ir.Call, before: list[ir.Statement]
    ) -> ir.Atom:
        """``2 * (1 / n)`` as ``2 / n``."""
        factor, other = args if isinstance(args[0], ir.Const) else args[::-1]
        inner = self.maker(other, operator.truediv)
        if not isinstance(factor, ir.Const) or inner is None or not isinstance(inner.args[0], ir.Const):
            return target
        before.pop()
        value = ir.Const(factor.value * inner.args[0].value)
        statement = ir.Call((target,), operator.truediv, (value, inner.args[1]), (), call.span)
        before.append(statement)
        self.made[target] = statement
        return target

    def plain_spread(self, atom: ir.Atom) -> ir.Call | None:
        """A spreading of a number over a whole array that leaves its dtype alone."""
        found = self.maker(atom, spread)
        if (
            found is None
            or found.kwargs
            or found.args[2:] not in ((), (ir.Const(None),), (ir.Const(None), ir.Const(False)))
        ):
            return None
        number, like = _type(found.args[0]), _type(found.args[1])
        if isinstance(found.args[0], ir.Const) and not isinstance(found.args[0].value, float):
            return None
        weak = (
            isinstance(number, ir.Scalar)
            and number.kind == "float"
            and (number.dtype is None or (isinstance(like, ir.Array) and number.dtype == like.dtype))
        )
        return found if weak and isinstance(like, ir.Array) and ir.is_float_dtype(like.dtype) else None

    def doubled(self, call: ir.Call, before: list[ir.Statement]) -> ir.Call:
        """``0.5 * r + r * 0.5`` as ``1.0 * r``, for Python floats."""
        parts = [self.term(arg) for arg in call.args]
        if parts[0] is None or parts[1] is None or parts[0][1] is not parts[1][1]:
            return self.factored(call, before)
        total = parts[0][0] + parts[1][0]
        return ir.Call(call.targets, operator.mul, (ir.Const(total), parts[0][1]), (), call.span)

    def is_read_again(self, atom: ir.Atom) -> bool:
        """Whether more than one statement reads it."""
        return isinstance(atom, ir.Var) and self.reads[atom] > 1

    def factored(self, call: ir.Call, before: list[ir.Statement]) -> ir.Call:
        """``a @ (b + c)`` for ``a @ b + a @ c``, and likewise where the second factor is the common one."""
        products = [self.maker(arg, operator.matmul) for arg in call.args]
        one, other = products if len(products) == 2 else (None, None)
        if one is None or other is None or one is other or any(map(self.is_read_again, call.args)):
            return call
        if not all(map(_is_steady_matrix, (*one.args, *other.args))):
            return call
        for common in (0, 1):
            left, right = one.args[1 - common], other.args[1 - common]
            kind = _type(left)
            if one.args[common] is other.args[common] and kind == _type(right) and kind.dtype is not None:
                total = ir.Var("t", ir.fresh(kind))
                before.append(ir.Call((total,), operator.add, (left, right), (), call.span))
                pair = (one.args[0], total) if common == 0 else (total, one.args[1])
                return ir.Call(call.targets, operator.matmul, pair, (), call.span)
        return call

    def term(self, atom: ir.Atom) -> tuple[float, ir.Var] | None:
        found = self.maker(atom, operator.mul)
        if found is None:
            return None
        factor, other = found.args if isinstance(found.args[0], ir.Const) else found.args[::-1]
        if not isinstance(factor, ir.Const) or type(factor.value) is not float or not isinstance(other, ir.Var):
            return None
        return (factor.value, other) if other.type == ir.Scalar("float") else None


_REWRITES: dict[int, Callable[[_Polish, ir.Call, list[ir.Statement]], ir.Call | ir.Load]] = {
    id(count): _Polish.size,
    id(np.size): _Polish.size,
    id(unbroadcast): _Polish.summed,
    id(array_leaf): _Polish.leaf,
    id(operator.neg): _Polish.scaled_spread,
    id(operator.mul): _Polish.scaled_spread,
    id(operator.truediv): _Polish.scaled_spread,
    id(operator.add): _Polish.doubled,
    id(np.transpose): _Polish.transposed_product,
    id(operator.matmul): _Polish.scaled_product,
    id(empty_product): _Polish.unscaled,
    id(selected): _Polish.present,
}
"""By the identity of what is called."""


def _type(atom: ir.Atom) -> Any:
    if isinstance(atom, ir.Const):
        return ir.Scalar("float") if type(atom.value) is float else None
    return getattr(atom, "type", None)


def _is_steady(atom: ir.Atom) -> bool:
    """Whether it is an array that nobody writes: it may be read later than where it is."""
    type_ = _type(atom)
    return isinstance(type_, ir.Array) and not type_.storage.find().written


def _is_steady_matrix(atom: ir.Atom) -> bool:
    """Whether it is a matrix that nobody writes."""
    type_ = _type(atom)
    return _is_steady(atom) and type_.dims is not None and len(type_.dims) == 2


def _keeps(atom: ir.Atom, like: ir.Atom) -> bool:
    """Whether scaling by ``atom`` leaves the dtype of an array alone."""
    type_ = _type(atom)
    if isinstance(atom, ir.Const):
        return isinstance(atom.value, (int, float)) and not isinstance(atom.value, bool)
    return isinstance(type_, ir.Scalar) and (type_.dtype is None or type_.dtype == getattr(_type(like), "dtype", None))


def _constructed(call: ir.Call) -> ir.Call:
    """A tangent object by the call of its class."""
    if call.callee is not make_object or not isinstance(call.args[0], ir.Const):
        return call
    cls, names = call.args[0].value, call.args[1]
    if not issubclass(cls, (TangentVector, Checkpoints)) or not isinstance(names, ir.Const):
        return call
    return ir.Call(call.targets, cls, (), tuple(zip(names.value, call.args[2:], strict=True)), call.span)


def _without_defaults(call: ir.Call) -> ir.Call:
    """A call of a helper, or of NumPy, without the trailing and the named arguments that are its defaults."""
    if not call.kwargs and not (call.args and type(call.args[-1]) is ir.Const):
        return call
    if not (getattr(call.callee, "__module__", None) or "").startswith(("adjoint.runtime", "numpy")):
        return call
    defaults = _defaults(call.callee)
    args, places = call.args, tuple(defaults.values())
    while args and len(args) <= len(places) and _is_default(args[-1], places[len(args) - 1]):
        args = args[:-1]
    kwargs = tuple([(name, value) for name, value in call.kwargs if not _is_default(value, _default(defaults, name))])
    if len(args) == len(call.args) and len(kwargs) == len(call.kwargs):
        return call
    return ir.Call(call.targets, call.callee, args, kwargs, call.span)


_EMPTY = inspect.Parameter.empty


def _default(defaults: dict[str, Any], name: str) -> Any:
    found = defaults.get(name, _EMPTY)
    return False if name == "keepdims" and found not in (_EMPTY, True) else found


def _is_default(atom: ir.Atom, default: Any) -> bool:
    if default is _EMPTY or type(atom) is not ir.Const or type(atom.value) is not type(default):
        return False
    return bool(atom.value == default)


@lru_cache(maxsize=512)
def _defaults(callee: Any) -> dict[str, Any]:
    """The defaults of the parameters of a function, by name, those that can be given by position first."""
    try:
        parameters = inspect.signature(callee).parameters.values()
    except (TypeError, ValueError):
        return {}
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [p for p in parameters if p.kind in kinds]
    named = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    return {p.name: p.default for p in (*positional, *named)}
