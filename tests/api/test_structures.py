"""Jacobians and Hessians of structures, and what functions return beside their value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad


@dataclass
class Spring:
    stiffness: np.ndarray
    length: float
    name: str = "spring"


class Pair(NamedTuple):
    x: float
    y: np.ndarray


@dataclass
class Nested:
    springs: list[Spring]
    scale: float


def stretch(spring: Spring) -> dict[str, Any]:
    force = np.sin(spring.stiffness) * spring.length
    return {"force": force, "energy": (np.sum(force**2), "joule")}


def energy(nested: Nested) -> Any:
    total = 0.0
    for spring in nested.springs:
        total = total + np.sum(spring.stiffness**2) * spring.length**2
    return total * np.exp(nested.scale)


SPRING = Spring(np.array([0.3, 0.7]), 1.5)
NESTED = Nested([SPRING, Spring(np.array([0.2]), 0.5)], 0.4)
STRUCTURES: list[tuple[Any, Any]] = [
    (stretch, SPRING),
    (energy, NESTED),
    (lambda p: p["a"] * p["b"] ** 2, {"a": np.array([0.3, 0.7]), "b": 1.5}),
    (lambda p: np.outer(p.y, p.y) * p.x, Pair(1.5, np.array([0.3, 0.7]))),
    (lambda x: [x * x, {"sum": np.sum(np.sin(x))}], np.array([0.3, 0.7])),
    (lambda x: (x * x, 3), 1.5),
    (lambda xs: xs[0] * xs[1] + xs[2], [0.3, 0.7, 0.1]),
]


@pytest.mark.parametrize(("f", "x"), STRUCTURES)
def test_jacobians_are_those_of_vectors(f: Any, x: Any) -> None:
    vector, unravel = ad.ravel(x)
    dense = ad.jacobian(lambda v: ad_vector(f(unravel(v))))(vector)
    for mode in (None, "forward", "reverse"):
        found = ad.jacobian(f, mode=mode)(x)
        np.testing.assert_allclose(_matrix(f(x), x, found), dense, rtol=1e-12, atol=1e-14)


def ad_vector(value: Any) -> Any:
    """The floats of a value as a vector, in what is differentiated."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        parts = [ad_vector(part) for part in value if not isinstance(part, (str, int))]
        return np.concatenate(parts)
    return np.ravel(value)


def _matrix(value: Any, x: Any, found: Any) -> Any:
    """The blocks of a Jacobian as one matrix."""
    rows = []
    for block in _at_leaves(value, found):
        rows.append(np.concatenate([np.asarray(part).reshape(np.size(leaf), -1) for leaf, part in block(x)], axis=1))
    return np.concatenate(rows)


def _at_leaves(value: Any, found: Any) -> Any:
    if isinstance(value, (str, int)):
        return
    if isinstance(value, dict):
        for key in value:
            yield from _at_leaves(value[key], found[key])
    elif isinstance(value, (list, tuple)):
        for part, of in zip(value, found, strict=True):
            yield from _at_leaves(part, of)
    else:
        yield lambda x: [(value, part) for part in _parts(x, found)]


def _parts(x: Any, found: Any) -> Any:
    if isinstance(x, dict):
        return [part for key in x for part in _parts(x[key], found[key])]
    if isinstance(x, (list, tuple)):
        return [part for one, of in zip(x, found, strict=True) for part in _parts(one, of)]
    if hasattr(x, "__dict__"):
        return [
            part for name in vars(x) if hasattr(found, name) for part in _parts(vars(x)[name], getattr(found, name))
        ]
    return [found]


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_hessians(mode: Any) -> None:
    vector, unravel = ad.ravel(NESTED)
    dense = ad.hessian(lambda v: energy(unravel(v)))(vector)
    found = ad.hessian(energy, mode=mode)(NESTED)
    assert found.scale.scale == pytest.approx(dense[-1, -1])
    np.testing.assert_allclose(found.springs[0].stiffness.springs[0].stiffness, dense[:2, :2], rtol=1e-12)
    np.testing.assert_allclose(found.springs[0].length.springs[1].stiffness, dense[2, 3:4], rtol=1e-12)


def test_modes_that_there_are_not() -> None:
    with pytest.raises(ValueError, match=r"mode='fwd': it is 'forward', 'reverse' or None"):
        ad.jacobian(energy, mode="fwd")  # type: ignore[arg-type]


def test_what_has_no_blocks() -> None:
    with pytest.raises(ad.DifferentiationError, match="holds no floats"):
        ad.jacobian(lambda p: 1.0)({"n": 3})
    with pytest.raises(ad.DifferentiationError, match="holds complex numbers"):
        ad.jacobian(lambda p: abs(p["z"]) * p["x"])({"z": 1.0 + 2.0j, "x": 2.0})


# -- what is returned beside the value --------------------------------------------------------------------------------

X = np.array([0.3, 0.7])


def with_aux(x: Any, y: float = 2.0) -> Any:
    return np.sum(x * x) * y, {"steps": 3, "name": "text", "half": x / 2.0}


def vector_with_aux(x: Any) -> Any:
    return np.sin(x), {"steps": 3, "half": x / 2.0}


def _is_aux(aux: Any) -> bool:
    return aux["steps"] == 3 and bool(np.array_equal(aux["half"], X / 2.0))


def test_aux_of_products() -> None:
    value, pullback, aux = ad.vjp(with_aux, X, has_aux=True)
    assert value == np.sum(X * X) * 2.0 and _is_aux(aux)
    np.testing.assert_allclose(pullback(1.0)[0], 4.0 * X)
    value, dot, aux = ad.jvp(with_aux, (X,), (X,), has_aux=True)
    assert dot == pytest.approx(2.0 * value) and _is_aux(aux)
    (product,), aux = ad.hvp(with_aux, (X,), (X,), has_aux=True)
    np.testing.assert_allclose(product, 4.0 * X)
    assert _is_aux(aux)
    value, dots, aux = ad.jvps(vector_with_aux, (X,), [(X,), (0.0 * X,)], has_aux=True)
    np.testing.assert_allclose(dots, [np.cos(X) * X, 0.0 * X])
    assert _is_aux(aux)
    value, differential, aux = ad.linearize(vector_with_aux, X, has_aux=True)
    np.testing.assert_allclose(differential(X), np.cos(X) * X)
    np.testing.assert_allclose(ad.transpose(differential)(X)[0], np.cos(X) * X)
    assert _is_aux(aux)


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_aux_of_matrices(mode: Any) -> None:
    matrix, aux = ad.jacobian(vector_with_aux, has_aux=True, mode=mode)(X)
    np.testing.assert_allclose(matrix, np.diag(np.cos(X)))
    assert _is_aux(aux)
    matrix, aux = ad.hessian(with_aux, has_aux=True, mode=mode)(X)
    np.testing.assert_allclose(matrix, 4.0 * np.eye(2))
    assert _is_aux(aux)
    (by_x, by_y), aux = ad.jacobian(with_aux, wrt=(0, 1), has_aux=True, mode=mode)(X, 3.0)
    np.testing.assert_allclose(by_x, 6.0 * X)
    assert by_y == pytest.approx(np.sum(X * X)) and _is_aux(aux)


def test_aux_is_not_differentiated() -> None:
    assert ad.vjp(lambda x: (x * x, f"{x:.1f}"), 3.0, has_aux=True)[1](1.0) == (6.0,)
    assert ad.jvp(lambda x: (x * x, round(x)), (3.2,), (1.0,), has_aux=True)[1:] == (6.4, 3)


@pytest.mark.parametrize("operator", [ad.vjp, lambda f, x, **o: ad.jvp(f, (x,), (x,), **o)])
def test_no_pair(operator: Any) -> None:
    with pytest.raises(ad.DifferentiationError, match="must return a pair"):
        operator(lambda x: x * x, 2.0, has_aux=True)


def test_inside_of_what_is_differentiated() -> None:
    slope = lambda x: ad.jvp(with_aux, (x,), (x,), has_aux=True)[1]
    np.testing.assert_allclose(ad.grad(slope)(X), 8.0 * X)
    pulled = lambda x: ad.vjp(with_aux, x, has_aux=True)[1](1.0)[0][0]
    np.testing.assert_allclose(ad.grad(pulled)(X), ad.jacobian(lambda x: ad.grad(lambda x: with_aux(x)[0])(x)[0])(X))
