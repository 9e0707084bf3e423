"""Tangents are laid out like the arrays that they belong to: what is a view of one is a view of the other."""

import numpy as np
import pytest

import adjoint as ad

POINT = np.arange(1.0, 7.0).reshape(2, 3) / 3.0
ALONG = np.array([[1.0, 3.0, -0.5], [0.4, -2.0, 0.7]])
LAYOUTS = {
    "C": lambda a: np.array(a, order="C"),
    "F": lambda a: np.array(a, order="F"),
    "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
}


def rows(a):
    w = a.ravel()
    w[0] *= 3.0
    return w * np.sum(a)


def columns(a):
    w = a.T.ravel()
    w[:2] *= 3.0
    return w * np.sum(a)


def differences(f, point, along, layout, step=1e-6):
    ahead, behind = layout(point + step * along), layout(point - step * along)
    return (f(ahead) - f(behind)) / (2 * step)


@pytest.mark.parametrize("f", [rows, columns])
@pytest.mark.parametrize("primal", LAYOUTS)
@pytest.mark.parametrize("tangent", LAYOUTS)
def test_layout_of_a_direction(f, primal: str, tangent: str) -> None:
    expected = differences(f, POINT, ALONG, LAYOUTS[primal])
    for _ in range(2):  # by the slow path, and by the fast one
        along = LAYOUTS[tangent](ALONG)
        found = ad.jvp(f, (LAYOUTS[primal](POINT),), (along,))[1]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(along, ALONG)


def test_layouts_one_after_the_other() -> None:
    def own(a):
        w = a.T.reshape(-1)
        w[1] = 2.0 * w[0]
        return w * w

    for primal in LAYOUTS.values():
        for tangent in LAYOUTS.values():
            found = ad.jvp(own, (primal(POINT),), (tangent(ALONG),))[1]
            np.testing.assert_allclose(found, differences(own, POINT, ALONG, primal), rtol=1e-6, atol=1e-6)


def test_products_with_the_hessian() -> None:
    def f(a):
        return np.sum(columns(a) ** 2)

    for primal in LAYOUTS.values():
        expected = differences(ad.grad(f), POINT, ALONG, primal)
        for tangent in LAYOUTS.values():
            (found,) = ad.hvp(f, (primal(POINT),), (tangent(ALONG),))
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_inside_structures() -> None:
    def f(parts, named):
        return columns(parts[0]) + columns(named["a"])

    for primal in LAYOUTS.values():
        expected = 2 * differences(columns, POINT, ALONG, primal)
        for tangent in LAYOUTS.values():
            along = ([tangent(ALONG)], {"a": tangent(ALONG)})
            found = ad.jvp(f, ([primal(POINT)], {"a": primal(POINT)}), along)[1]
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
