"""Several directions in one sweep, side by side: a number that depends on a direction becomes a bundle of numbers.

What computes with such numbers stays the same text, for an element type that the machine computes with at once.
:mod:`~adjoint.differentiation.directions.lanes` does it for all functions, by a variable for each direction; here all
that depends on the direction must be numbers, arrays of them, and loops over these.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.differentiation.directions.dependence import Directed, Inseparable
from adjoint.differentiation.zeros.supports import is_support
from adjoint.ir.join import is_array, is_whole_number
from adjoint.ir.rebuild import with_values
from adjoint.ir.walk import statements_in
from adjoint.records import replace
from adjoint.runtime import display, tangents
from adjoint.runtime.arithmetic import bundles, fused_loops, numbers
from adjoint.runtime.array_functions import arrays, sparse
from adjoint.types.classes.safe_lookups import found_in

_ARITHMETIC = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, fused_loops.plus),
    *(numbers.divide, numbers.times, numbers.quotient, numbers.product, numbers.selected, numbers.unit, numbers.choose),
)
"""Functions of numbers that are there for bundles."""
_RESHAPED = (np.reshape, np.ravel, np.ndarray.reshape, np.ndarray.ravel)
_VIEWS = (*_RESHAPED, np.transpose, tangents.follow_view)
"""Functions that do with an array of bundles, their first argument, what they do with one of numbers."""
_MAKERS: dict[Any, Any] = {
    np.zeros: bundles.zero_bundles,
    np.empty: bundles.no_bundles_yet,
}
"""Functions that make an array in a shape, and what makes one of bundles."""
_ALIKE: dict[Any, Any] = dict.fromkeys((np.zeros_like, arrays.zeros_like, tangents.shadow_like), bundles.zero_bundles)
_ALIKE[np.empty_like] = bundles.no_bundles_yet
"""Functions that make an array in the shape of another, and what makes one of bundles."""
_COPIES = (np.copy, np.ndarray.copy, tangents.to_shadow)
_PRODUCTS = (operator.matmul, np.matmul, np.dot)
_DOUBLE = np.dtype(np.float64)

Handed = Callable[[Any], Sequence[ir.Var]]
"""What becomes of the values that a terminator hands out."""


def in_bundles(function: ir.Function, seeds: Sequence[int], with_value: bool) -> ir.Function:
    """A derivative in as many directions at once as a bundle has numbers.

    Parameters
    ----------
    function
        A derivative in one direction, as loops over numbers.
    seeds
        The parameters that are the direction.
    with_value
        Whether it returns the value of the function and its derivative, or the derivative only.

    Returns
    -------
    Function
        A function whose seeds and derivative have one more axis, the last, for the directions.

    Raises
    ------
    Inseparable
        If something depends on the direction that is neither a number nor an array of them, or does with them what is
        not known here.
    """
    return _Sweep(function, seeds).whole(with_value)


class Bundling:
    """Writes for bundles what depends on some parameters of a function.

    Parameters
    ----------
    function
        The function.
    seeds
        The parameters.
    size
        How many numbers a bundle has.
    """

    def __init__(self, function: ir.Function, seeds: Sequence[ir.Var], size: int) -> None:
        self._directed = Directed(function, seeds)
        self.size = ir.Const(size)
        self._tested: dict[ir.Atom, ir.Atom] = {}
        self._supports: dict[ir.Atom, ir.Var] = {}
        calls = (statement for statement in statements_in(function.body) if isinstance(statement, ir.Call))
        self._made = {target for call in calls if found_in(_MAKERS, call.callee) for target in call.targets}

    def depends(self, atom: ir.Atom) -> bool:
        """Whether an atom depends on the parameters."""
        return self._directed.depends(atom)

    def moves(self, atom: ir.Atom) -> bool:
        """Whether an atom becomes a bundle or an array of them."""
        if not self._directed.depends(atom):
            return False
        _type(atom)
        return True

    def block(self, block: ir.Block, handed: Handed) -> ir.Block:
        """A block, of which the end hands values to variables."""
        statements = [new for old in block.statements for new in self.statement(old)]
        match block.terminator:
            case ir.Branch(cond=cond, then=then, orelse=orelse, span=span):
                end: ir.Terminator = ir.Branch(cond, self.block(then, handed), self.block(orelse, handed), span)
            case ir.Raise():
                end = block.terminator
            case ir.Return():
                raise Inseparable
            case leaf:
                end = with_values(leaf, self._fitting(leaf.values, handed(leaf), statements))
        return ir.Block(tuple(statements), end)

    def _fitting(
        self, values: Sequence[ir.Atom], into: Sequence[ir.Var], before: list[ir.Statement]
    ) -> tuple[ir.Atom, ...]:
        """What is handed to variables: an array of numbers, which nobody writes to, as bundles where others are."""
        found = []
        self._refuse_tests(values)
        for value, var in zip(values, into, strict=False):
            if not self.moves(value) and value != ir.UNDEFINED and isinstance(var.type, ir.Array) and self.moves(var):
                fitting = ir.Var(var.hint, var.type, var.named)
                before.append(self._same((fitting,), value))
                value = fitting
            found.append(value)
        return tuple(found)

    def statement(self, statement: ir.Statement) -> Iterator[ir.Statement]:
        """What stands for a statement."""
        match statement:
            case ir.Loop(params=params, inits=inits, targets=targets):
                before: list[ir.Statement] = []
                inits = self._fitting(inits, params, before)
                into = {ir.Continue: params, ir.Exit: targets}
                yield from before
                yield replace(statement, inits=inits, body=self.block(statement.body, lambda leaf: into[type(leaf)]))
            case ir.If(then=then, orelse=orelse, targets=targets):
                then, orelse = (self.block(block, lambda _: targets) for block in (then, orelse))
                yield replace(statement, then=then, orelse=orelse)
            case ir.Guarded():
                raise Inseparable
            case _ if not self._directed.is_repeated(statement):
                yield statement
            case ir.Load(base=base, key=key) | ir.Store(base=base, key=key):
                yield self.access(statement, base, key)
            case ir.Call():
                yield from self.call(statement)

    def access(self, access: ir.Load | ir.Store, base: ir.Atom, key: ir.Key | None) -> ir.Statement:
        """What stands for an access that depends on the parameters."""
        if not (self.moves(base) and isinstance(_type(base), ir.Array) and _is_plain(key)):
            raise Inseparable
        if isinstance(access, ir.Load):
            _type(access.target)
        elif access.mode == "add_at":
            raise Inseparable
        elif self.moves(access.value) and not is_array(access.value) and not _is_element(base, key):
            raise Inseparable  # a bundle that is stored in several places is taken for numbers of several places
        return access

    def call(self, call: ir.Call) -> Iterator[ir.Statement]:
        """What stands for a call that depends on the parameters."""
        match call:
            case ir.Call(callee=operator.eq, args=(ir.Var() as tested, ir.Const(value=0.0)), targets=(is_zero,)):
                _type(tested)
                self._tested[is_zero] = tested
            case ir.Call(callee=numbers.choose, args=(is_zero, ir.Const(value=0.0), found)) if is_zero in self._tested:
                yield replace(call, callee=bundles.unless_zero, args=(self._tested[is_zero], found))
            case _:
                self._refuse_tests(call.args)
                for target in call.targets:
                    _type(target)
                yield from self.computed(call)

    def _refuse_tests(self, atoms: Sequence[ir.Atom]) -> None:
        """What is found out of each number of a bundle there is not, but where it chooses zeros."""
        if any(atom in self._tested or atom in self._supports for atom in atoms):
            raise Inseparable

    def computed(self, call: ir.Call) -> Iterator[ir.Statement]:
        """The same for a call of which the arguments are no tests."""
        match call:
            case ir.Call(callee=callee, kwargs=(), args=args) if callee in _ARITHMETIC and not any(map(is_array, args)):
                yield call
            case _:
                yield from self.array(call)

    def array(self, call: ir.Call) -> Iterator[ir.Statement]:
        """The same for a call that makes an array."""
        match call:
            case ir.Call(callee=callee, kwargs=(), args=(ir.Var(type=ir.Array()) as given, *_)) if callee in _VIEWS:
                if not self.moves(given) or (callee in _RESHAPED and not self._is_contiguous(given)):
                    raise Inseparable
                yield call
            case ir.Call(kwargs=(), args=(shape,)) if found_in(_MAKERS, call.callee):
                yield replace(call, callee=found_in(_MAKERS, call.callee), args=(shape, self.size))
            case ir.Call(callee=np.ones, kwargs=(), args=(shape,), targets=(made,)):
                yield replace(call, callee=bundles.no_bundles_yet, args=(shape, self.size))
                yield ir.Store(made, ir.WHOLE, ir.Const(1.0))
            case ir.Call(kwargs=(), args=(ir.Var(type=ir.Array(dims=dims)) as like,)) if found_in(_ALIKE, call.callee):
                if dims is None:
                    raise Inseparable
                shape = ir.Var("shape", ir.Tuple((ir.INT,) * len(dims)))
                yield ir.Call((shape,), np.shape, (like,))
                yield replace(call, callee=found_in(_ALIKE, call.callee), args=(shape, self.size))
            case ir.Call(callee=callee, kwargs=(), args=(ir.Var(type=ir.Array()) as given,)) if callee in _COPIES:
                is_moving = self.moves(given)
                yield replace(call, callee=np.copy) if is_moving else self._same(call.targets, given)
            case _:
                raise Inseparable

    def _same(self, targets: tuple[ir.Var, ...], array: ir.Atom) -> ir.Call:
        """An array of numbers as one of bundles."""
        return ir.Call(targets, bundles.same_in_bundles, (array, self.size))

    def _is_contiguous(self, array: ir.Var) -> bool:
        """Whether it can be reshaped without asking how it lies in memory."""
        return array in self._made or not array.type.storage.written  # type: ignore[attr-defined]


class _Sweep(Bundling):
    """A derivative for bundles of directions."""

    def __init__(self, function: ir.Function, seeds: Sequence[int]) -> None:
        self._function = function
        self._seeds = [function.params[place] for place in seeds]
        super().__init__(function, self._seeds, bundles.DIRECTIONS)

    def whole(self, with_value: bool) -> ir.Function:
        """The function."""
        function = self._function
        given = {seed: ir.Var(seed.hint, _with_axis(_type(seed)), seed.named) for seed in self._seeds}
        start = [ir.Call((seed,), bundles.bundled, (param, self.size)) for seed, param in given.items()]
        params = tuple(given.get(param, param) for param in function.params)
        statements, (*value, derivative) = _results(function.body, with_value)
        body = [new for old in statements for new in self.statement(old)]
        if not self.moves(derivative) or any(map(self._directed.depends, value)):
            raise Inseparable
        found = ir.Var("result", _with_axis(_type(derivative)))
        last = ir.Call((found,), bundles.unbundled, (derivative, self.size))
        return ir.Function(
            function.name, params, ir.Block((*start, *body, last), ir.Return((*value, found))), function.doc
        )

    def call(self, call: ir.Call) -> Iterator[ir.Statement]:
        """As for other bundles; what was not left out is told for each direction: by a number other than zero."""
        match call:
            case ir.Call(callee=numbers.somewhere, args=(ir.Var(type=ir.Array()) as given,), targets=(support,)):
                _type(given)
                yield ir.Call((self._support(support),), bundles.anywhere, (given, self.size), (), call.span)
            case ir.Call(callee=operator.ne, args=(known, ir.Const(value=0)), targets=(support,)) if (
                known in self._supports
            ):
                self._supports[support] = self._supports[known]
            case ir.Call(
                callee=operator.ne, args=(ir.Var(type=ir.Scalar()) as tested, ir.Const(value=0)), targets=(support,)
            ):
                _type(tested)
                yield ir.Call((self._support(support),), bundles.unless_zero, (tested, ir.Const(1.0)), (), call.span)
            case ir.Call(callee=builtins.abs, args=(ir.Var(type=ir.Scalar()) as tested,), targets=(support,)) if (
                is_support(support)
            ):
                _type(tested)
                yield replace(call, callee=bundles.unless_zero, args=(tested, ir.Const(1.0)))
            case ir.Call(callee=operator.or_, args=(a, b), targets=(support,)) if {a, b} <= self._supports.keys():
                parts = (self._supports[a], self._supports[b])
                yield ir.Call((self._support(support),), operator.add, parts, (), call.span)
            case ir.Call(callee=numbers.choose, args=(known, found, ir.Const(value=0.0))) if known in self._supports:
                yield replace(call, callee=bundles.unless_zero, args=(self._supports[known], found))
            case ir.Call(callee=numbers.selected, args=(known, found)) if known in self._supports:
                yield replace(call, callee=bundles.unless_zero, args=(self._supports[known], found))
            case _:
                yield from super().call(call)

    def _support(self, var: ir.Var) -> ir.Var:
        self._supports[var] = ir.Var(var.hint, ir.FLOAT)
        return self._supports[var]

    def computed(self, call: ir.Call) -> Iterator[ir.Statement]:
        match call:
            case ir.Call(callee=callee, kwargs=(), args=(ir.Var() as a, ir.Var() as b)) if callee in _PRODUCTS:
                left = self._factor_that_moves(a, b)
                yield replace(call, callee=bundles.product_with_bundles, args=(a, b, ir.Const(left)))
            case ir.Call(callee=sparse.product_of_moving, args=(ir.Var() as a, ir.Var() as b, _, _)):
                self._factor_that_moves(a, b)
                yield replace(call, callee=bundles.product_of_moving_bundles)
            case _:
                yield from super().computed(call)

    def _factor_that_moves(self, a: ir.Var, b: ir.Var) -> bool:
        """Whether it is the first of two vectors or matrices; only one of them does."""
        for factor in (a, b):
            match _type(factor):
                case ir.Array(dims=(_,) | (_, _)):
                    pass
                case _:
                    raise Inseparable
        return self.moves(a)


def _results(body: ir.Block, with_value: bool) -> tuple[tuple[ir.Statement, ...], tuple[ir.Atom, ...]]:
    """A function's statements, and its value and derivative where they are a tuple."""
    match body:
        case ir.Block(terminator=ir.Return(values=(derivative,))) if not with_value:
            return body.statements, (derivative,)
        case ir.Block(
            statements=(*others, ir.Call(targets=(made,), callee=display.make_tuple, args=(value, derivative))),
            terminator=ir.Return(values=(result,)),
        ) if made is result:
            return tuple(others), (value, derivative)
        case _:
            raise Inseparable


def _type(atom: ir.Atom) -> ir.Array | ir.Scalar:
    """The type of a double or an array of doubles of known rank, which can be a bundle or an array of bundles."""
    match atom:
        case ir.Var(type=ir.Scalar(kind="float", dtype=dtype) as type_) if dtype is None or ir.same_dtype(
            dtype, _DOUBLE
        ):
            return type_
        case ir.Var(type=ir.Array(dtype=dtype, dims=dims) as type_) if dims and ir.same_dtype(dtype, _DOUBLE):
            return type_
        case _:
            raise Inseparable


def _with_axis(type_: ir.Array | ir.Scalar) -> ir.Array:
    dims = type_.dims if isinstance(type_, ir.Array) else ()
    return ir.Array(_DOUBLE, (*(dims or ()), "many"))


def _is_element(base: ir.Atom, key: ir.Key | None) -> bool:
    """Whether a key names one element of an array."""
    type_ = _type(base)
    dims = type_.dims if isinstance(type_, ir.Array) else None
    items = key.items if isinstance(key, ir.Subscript) else ()
    return dims is not None and len(items) == len(dims) and all(map(is_whole_number, items))


def _is_plain(key: ir.Key | None) -> bool:
    """Whether a key selects one element, or a part that is a view."""
    if key is None or isinstance(key, ir.Attribute):
        return key == ir.Attribute("T")
    return all(isinstance(item, ir.Slice) or _is_place(item) for item in key.items)


def _is_place(item: ir.Atom) -> bool:
    if isinstance(item, ir.Const):
        return item.value is None or item.value is Ellipsis or type(item.value) is int
    return isinstance(item, ir.Var) and isinstance(item.type, ir.Scalar) and item.type.kind == "int"
