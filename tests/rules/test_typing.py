"""Types of calls."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import numpy as np
import pytest

from adjoint import ir
from adjoint.rules import typing
from adjoint.rules.joined_types import join
from adjoint.rules.kinds import Linear, Rule
from adjoint.rules.registry import all_rules, rule_for
from adjoint.rules.types_of_values import abstract
from adjoint.rules.typing import type_of_call
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.array_functions.sequences import concatenate_of, concatenated_part
from adjoint.runtime.display import make_list
from rules.evaluate import cases_of

F8, F4 = np.dtype(float), np.dtype(np.float32)
WIDE = ir.Scalar("float", F8)


def v(type_: ir.Type) -> ir.Var:
    return ir.Var("x", type_)


def arr(*dims: Any, dtype: Any = F8) -> ir.Array:
    return ir.Array(dtype, dims)


CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any], ir.Type]] = [
    (operator.add, (ir.FLOAT, ir.Const(1)), {}, ir.FLOAT),
    (operator.truediv, (ir.INT, ir.INT), {}, ir.FLOAT),
    (operator.lt, (ir.FLOAT, ir.INT), {}, ir.BOOL),
    (operator.lt, (arr("any"), ir.FLOAT), {}, arr("any", dtype=np.dtype(bool))),
    (operator.mul, (arr("any"), arr("many")), {}, arr("many")),
    (operator.mul, (arr("any"), arr("any", "one")), {}, arr("any", "any")),
    (operator.mul, (arr("one"), arr("one")), {}, arr("one")),
    (operator.mul, (arr("many", dtype=F4), ir.FLOAT), {}, arr("many", dtype=F4)),
    (operator.mul, (arr("many", dtype=F4), WIDE), {}, arr("many")),
    (operator.add, (arr(), ir.FLOAT), {}, WIDE),
    (operator.add, (ir.FLOAT, ir.Number()), {}, ir.Number()),
    (operator.add, (arr("any"), ir.Number()), {}, ir.Array(None, None)),
    (operator.add, (ir.FLOAT, ir.OPAQUE), {}, ir.Number()),
    (math.sin, (ir.Number(),), {}, ir.FLOAT),
    (math.acosh, (ir.FLOAT,), {}, ir.FLOAT),
    (np.sin, (ir.FLOAT,), {}, WIDE),
    (np.sum, (arr("any", "many"),), {}, WIDE),
    (np.sum, (arr("any", "many"),), {"axis": 0}, arr("many")),
    (np.sum, (arr("any", "many"),), {"axis": 0, "keepdims": True}, arr("one", "many")),
    (np.zeros, (ir.INT,), {}, arr("any")),
    (np.zeros, (ir.Const((2, 1)),), {}, arr("many", "one")),
    (np.reshape, (arr("any"), ir.Const((-1, 1))), {}, arr("any", "one")),
    (np.reshape, (ir.List(ir.INT), ir.List(ir.INT)), {}, ir.Array(np.dtype(int), None)),
    (np.broadcast_to, (ir.List(ir.FLOAT), ir.List(ir.INT)), {}, ir.Array(F8, None)),
    (np.sum, (ir.Array(F8, None),), {"axis": (0, 2)}, ir.Array(None, None)),
    (np.expand_dims, (arr("many"), ir.List(ir.INT)), {}, ir.Array(None, None)),
    (np.matmul, (arr("many", "any"), arr("any", "many")), {}, arr("many", "many")),
    (np.matmul, (arr("many"), arr("many")), {}, WIDE),
    (np.squeeze, (arr("any", "many"),), {}, ir.Array(F8, None)),
    (np.array, (ir.List(ir.FLOAT),), {}, arr("any")),
    (np.diff, (arr("many"),), {}, arr("any")),
    (np.where, (arr("many", dtype=np.dtype(bool)), arr("many"), ir.Const(0.0)), {}, arr("many")),
    (np.shape, (arr("many", "any"),), {}, ir.Tuple((ir.INT, ir.INT))),
    (concatenate_of, (arr("any"), arr("any")), {}, arr("any")),
    (concatenate_of, (arr("many"), arr("one")), {}, arr("any")),
    (unbroadcast, (arr("any", "many"), ir.FLOAT), {}, ir.FLOAT),
    (concatenated_part, (arr("many"), ir.Const(1), ir.Const(0), arr("many"), arr("any")), {}, arr("any")),
    (unbroadcast, (arr("any", "many"), arr("one", "many")), {}, arr("one", "many")),
    (make_list, (ir.FLOAT, ir.INT), {}, ir.List(ir.FLOAT)),
    (list.pop, (ir.List(ir.FLOAT),), {}, ir.FLOAT),
    (len, (ir.List(ir.FLOAT),), {}, ir.INT),
    (print, (ir.FLOAT,), {}, ir.Opaque(type(None))),
    (np.add, (ir.Array(F8, None), arr("many", "many")), {}, ir.Array(F8, None)),
    (lambda x: x, (ir.FLOAT,), {}, ir.OPAQUE),
    (np.einsum, (ir.Const("jbme->mbej"), arr("many", "many", "many", "many")), {}, arr("many", "many", "many", "many")),
    (np.einsum, (ir.Opaque(str), arr("many", "many", "many", "many")), {}, ir.Number()),  # "text" gives a matrix
]


@pytest.mark.parametrize(("callee", "args", "kwargs", "expected"), CALLS)
def test_types(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], expected: ir.Type) -> None:
    atoms: list[ir.Atom] = [arg if isinstance(arg, ir.Const) else v(arg) for arg in args]
    pairs = [(name, ir.Const(value)) for name, value in kwargs.items()]
    assert type_of_call(callee, atoms, pairs) == (expected,)


def test_several_results() -> None:
    assert type_of_call(np.linalg.eigh, [v(arr("many", "many"))]) == (arr("many"), arr("many", "many"))
    assert type_of_call(divmod, [v(ir.FLOAT), v(ir.INT)]) == (ir.FLOAT, ir.FLOAT)


def test_storage() -> None:
    base = arr("many")
    (view,), (copy,) = type_of_call(np.ravel, [v(base)]), type_of_call(np.copy, [v(base)])
    assert isinstance(view, ir.Array) and isinstance(copy, ir.Array)
    assert view.storage is base.storage
    (again,) = type_of_call(np.copy, [v(base)])
    assert isinstance(again, ir.Array)
    assert copy.storage is not base.storage and copy.storage is not again.storage


def test_large_constants_are_not_allocated() -> None:
    assert type_of_call(np.zeros, [ir.Const((10**6, 10**6))]) == (arr("many", "many"),)


def test_joins() -> None:
    assert join(ir.INT, ir.FLOAT) == ir.FLOAT
    assert join(ir.FLOAT, arr("many")) == ir.Number()
    assert join(arr("many", "one"), arr("many", "many")) == arr("many", "any")
    assert join(ir.List(None), ir.List(ir.INT)) == ir.List(ir.INT)
    assert join(ir.Tuple((ir.INT,)), ir.Tuple((ir.INT, ir.INT))) is None
    one, other = arr("many"), arr("many")
    join(one, other)
    other.storage.mark_written()
    assert one.storage.written


def test_abstract() -> None:
    assert abstract(np.float32(1)) == ir.Scalar("float", F4)
    assert abstract([1, 2.0]) == ir.List(ir.FLOAT)
    assert abstract(np.ones((1, 3))) == arr("one", "many")
    assert abstract((1, "a")) == ir.Tuple((ir.INT, ir.Opaque(str)))
    assert abstract(None) == ir.Opaque(type(None))


def test_what_tells_shapes_from_arguments_is_asked_about_all_that_it_knows():
    from adjoint.rules import shapes
    from adjoint.rules.registry import is_about_arrays

    known = (*shapes._LIKE, *shapes._PARTS, np.reshape, np.broadcast_to, np.ndarray.reshape)
    assert all(map(is_about_arrays, known))
    assert is_about_arrays(shapes.places.all_but) and is_about_arrays(shapes.places.repeated)


def test_arithmetic_with_floats_gives_what_examples_show(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = (
        ir.FLOAT,
        ir.INT,
        ir.BOOL,
        ir.Const(2.5),
        ir.Const(float("inf")),
        ir.Const(-3),
        ir.Const(10**9),
        ir.Const(True),
    )
    singles, pairs = [(one,) for one in numbers], [(one, other) for one in numbers for other in numbers]
    functions = {rule_for(fn): pairs for fn in (*typing._ARITHMETIC, *typing._COMPARISONS)}
    functions |= {rule_for(fn): singles for fn in (abs, operator.abs, operator.neg)}
    functions |= {rule: [(ir.FLOAT,) * rule._most] for rule in all_rules() if typing._is_smooth_in_math(rule)}
    known = {(rule, args): typing._of_plain_numbers(rule, args) for rule, given in functions.items() for args in given}
    known = {call: type_ for call, type_ in known.items() if type_ is not None}
    assert sum(type_ == ir.FLOAT for type_ in known.values()) > 4 * 39 and ir.BOOL in known.values()
    assert any(rule.fn is math.atan2 for rule, _ in known)
    found = {call: typing._infer(*call, ()) for call in known}
    monkeypatch.setattr(typing, "_of_plain_numbers", lambda rule, arguments: None)
    for call, type_ in known.items():
        assert found[call] == typing._infer(*call, ()) == (type_,), call


@pytest.mark.parametrize(
    "other", [ir.Scalar("complex"), ir.Const(1j), ir.Scalar("float", F4), ir.Const(np.float32(1.0))]
)
def test_arithmetic_with_other_numbers_is_tried(other: Any) -> None:
    assert typing._of_plain_numbers(rule_for(operator.add), (ir.FLOAT, other)) is None


def _agrees(type_: ir.Type, value: Any) -> bool:
    """Whether a value is one of a type, as far as arrays are concerned."""
    if isinstance(type_, ir.Tuple) and isinstance(value, tuple):
        return all(map(_agrees, type_.items, value))
    if not isinstance(value, np.ndarray):
        return not isinstance(type_, ir.Array) or type_.dims in (None, ())
    if not isinstance(type_, ir.Array):
        return not isinstance(type_, ir.Scalar) or value.ndim == 0
    if type_.dtype is not None and type_.dtype != value.dtype:
        return False
    return type_.dims is None or (
        len(type_.dims) == value.ndim
        and all((extent == 1) != (dim == "many") or dim == "any" for dim, extent in zip(type_.dims, value.shape))
    )


def test_types_hold_for_the_examples_of_all_rules() -> None:
    wrong, count = [], 0
    for rule in all_rules():
        for args, kwargs in cases_of(rule, np.random.default_rng(3)):
            known = [value if isinstance(value, (str, int, tuple)) else abstract(value) for value in args]
            found = type_of_call(
                rule.fn,
                [
                    ir.Const(part) if part is value else ir.Var("x", part)
                    for part, value in zip(known, args, strict=True)
                ],
                [(name, ir.Const(value)) for name, value in kwargs.items()],
            )
            result = rule.fn(*args, **kwargs)
            results = result if rule.results > 1 else (result,)
            count += 1
            if len(found) == len(results) and not all(map(_agrees, found, results)):
                wrong.append(f"{rule.name}{[np.shape(arg) for arg in args]}: {found}")
    assert count > 1000 and wrong == []


def test_examples_of_arrays_with_many_axes_are_small() -> None:
    sizes = []

    def seen(x: Any) -> Any:
        sizes.append(x.size)
        return x

    rule = Linear(fn=seen, name="seen", transpose=lambda ct, x: ct)
    assert typing._infer(rule, (ir.Array(F8, ("any",) * 8),), ()) == (ir.Array(F8, ("any",) * 8),)
    assert 1 < max(sizes) <= 100_000


@pytest.mark.parametrize("callee", [np.concatenate, np.stack, np.hstack, np.vstack, np.array, np.sum, np.mean, np.max])
@pytest.mark.parametrize("holds", [ir.List, lambda array: ir.Tuple((array, ir.Array(np.dtype(float), array.dims)))])
def test_what_holds_arrays_of_unknown_dtypes_gives_no_dtype(callee: Any, holds: Any) -> None:
    unknown = ir.Array(None, ("many", "many"))
    (found,) = type_of_call(callee, (ir.Var("items", holds(unknown)),))
    assert found == ir.Number() or (isinstance(found, ir.Array) and found.dtype is None)


def _admits(type_: ir.Type, value: Any) -> bool:
    """Whether a value may have a type: ``one`` and ``many`` say something of extents."""
    match type_:
        case ir.Array(dims=dims):
            if not isinstance(value, np.ndarray):
                return False
            return dims is None or (
                len(dims) == value.ndim
                and all(dim == "any" or (dim == "one") == (n == 1) for dim, n in zip(dims, value.shape, strict=True))
            )
        case ir.Scalar():
            return np.ndim(value) == 0
        case ir.Tuple(items=items):
            return isinstance(value, tuple) and all(map(_admits, items, value))
        case ir.List(element=element) if isinstance(value, (list, tuple)):
            return element is None or all(_admits(element, item) for item in value)
    return True


def _vague(value: Any) -> list[ir.Type | ir.Const]:
    """What may be known of an argument: its type, or less."""
    match value:
        case bool():
            return [ir.Const(value)]
        case int():
            return [ir.INT]
        case np.ndarray() if value.dtype.kind in "fc":
            unranked = [] if value.ndim == 0 else [ir.Array(value.dtype, None)]
            return [abstract(value), ir.Array(value.dtype, ("any",) * value.ndim), *unranked, ir.Number()]
        case list() if value and all(isinstance(item, np.ndarray) for item in value):
            return [ir.List(abstract(value[0])), ir.List(ir.Number())]
    return [ir.Const(value)]


HELPERS = tuple(f"adjoint.runtime.array_functions.{name}" for name in ("arrays", "places", "products", "linalg"))
OF_ARRAYS = ("numpy", "scipy.signal", *HELPERS)
TYPED = [rule for rule in all_rules() if (getattr(rule.fn, "__module__", None) or "numpy").startswith(OF_ARRAYS)]


@pytest.mark.parametrize("rule", TYPED, ids=[rule.name for rule in TYPED])
def test_types_of_vague_arguments_admit_what_is_given(rule: Rule) -> None:
    """Numbers that are not known, arrays of which at most the rank is, and lists of what may be numbers or arrays."""
    for args, kwargs in cases_of(rule, np.random.default_rng(3)):
        given = tuple(rule.fn(*args, **kwargs)) if rule.results > 1 else (rule.fn(*args, **kwargs),)
        for choice in range(4):
            known = [vague[min(choice, len(vague) - 1)] for vague in map(_vague, args)]
            named = {name: _vague(value)[0] for name, value in kwargs.items()}
            atoms = [one if isinstance(one, ir.Const) else v(one) for one in known]
            pairs = [(name, one if isinstance(one, ir.Const) else v(one)) for name, one in named.items()]
            for type_, value in zip(type_of_call(rule.fn, atoms, pairs), given, strict=True):
                assert _admits(type_, value), (known, named, type_, np.shape(value))


def _in_dtype(value: Any, dtype: Any) -> Any:
    return value.astype(dtype) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


@pytest.mark.parametrize("dtype", [float, complex, np.float32])
def test_dtypes_hold_where_what_is_named_is_not_known(dtype: Any) -> None:
    """Transforms along axes from a file were taken for real arrays: their absolute values got complex tangents."""
    for rule in TYPED:
        for args, kwargs in cases_of(rule, np.random.default_rng(3)) if rule.always_array else ():
            given = [_in_dtype(arg, dtype) for arg in args]
            arrays = [each for each in given if isinstance(each, np.ndarray)]
            if not kwargs or len(arrays) < len(given):
                continue
            try:
                result = rule.fn(*given, **kwargs)
            except TypeError:  # of real numbers alone
                continue
            unseen = [(name, v(ir.OPAQUE)) for name in kwargs]
            (found,) = type_of_call(rule.fn, [v(abstract(each)) for each in given], unseen)
            told = found.dtype if isinstance(found, ir.Array) else None
            assert told is None or told == result.dtype, (rule.name, kwargs, found, result.dtype)


AXES: list[tuple[list[Any], dict[str, Any]]] = [
    *([[place], {}] for place in (0, 1, 2, -1, (0, 1))),
    *([[], {"axis": axis}] for axis in (0, 1, 2, -1, (0, 1))),
    ([], {"keepdims": True}),
    ([], {"axis": 0, "keepdims": True}),
]
BESIDE = [ir.Array(F8, ("any",) * rank) for rank in (1, 2, 3)]
OF_NO_RANK = (ir.Array(F8, None), ir.Number())
TIED = {"undiag", "sparse_times", "times_sparse"}
"""What is handed cotangents alone, whose ranks are those of their other arguments."""


def _calls_of_no_rank() -> list[tuple[list[Any], dict[str, Any]]]:
    calls: list[tuple[list[Any], dict[str, Any]]] = []
    for unknown in OF_NO_RANK:
        calls += [([unknown] * count, {}) for count in (1, 2, 3)]
        calls += [([unknown, *rest], named) for rest, named in AXES]
        calls += [pair for other in BESIDE for pair in (([unknown, other], {}), ([other, unknown], {}))]
    return calls


def _array_of(rank: int, extent: int) -> Any:
    """An array, or a number, which functions of matrices can take: positive definite."""
    array = 0.75 + 1e-3 * np.arange(extent**rank).reshape((extent,) * rank)
    if rank < 2:
        return array if rank else float(array)
    return 0.1 * (array + np.swapaxes(array, -1, -2)) + 2 * np.eye(extent)


@pytest.mark.parametrize("rule", TYPED, ids=[rule.name for rule in TYPED])
def test_no_rank_is_told_where_another_one_fits(rule: Rule) -> None:
    if not rule.pure or rule.writes or rule.name.rpartition(".")[2] in TIED:
        return
    for args, kwargs in _calls_of_no_rank():
        atoms = [v(each) if isinstance(each, ir.Type) else ir.Const(each) for each in args]
        types = type_of_call(rule.fn, atoms, [(name, ir.Const(value)) for name, value in kwargs.items()])
        if not any(isinstance(type_, ir.Scalar) or getattr(type_, "dims", None) is not None for type_ in types):
            continue
        for rank, extent in itertools.product(range(isinstance(args[0], ir.Array), 6), (3, 1, 2)):
            try:
                given = [
                    _array_of(rank if each in OF_NO_RANK else len(each.dims), extent)
                    if isinstance(each, ir.Type)
                    else each
                    for each in args
                ]
                result = rule.fn(*given, **kwargs)
            except Exception:  # it takes no arrays of this rank
                continue
            for type_, value in zip(types, tuple(result) if rule.results > 1 else (result,), strict=True):
                told = 0 if isinstance(type_, ir.Scalar) else getattr(type_, "dims", None)
                expected = told if told is None or told == 0 else len(told)
                assert expected is None or np.ndim(value) == expected, (args, kwargs, type_, rank, np.shape(value))
            break
