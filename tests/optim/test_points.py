"""Points of curved spaces among the parameters: they take steps along their own geodesics."""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad


@dataclass(frozen=True)
class Direction:
    """A point of the unit sphere."""

    unit: np.ndarray
    name: str = "direction"

    def tangent_from(self, cotangent):
        return type(cotangent)(unit=cotangent.unit - np.dot(cotangent.unit, self.unit) * self.unit)

    def moved(self, along):
        tangent = self.tangent_from(along).unit
        length = np.linalg.norm(tangent)
        return self if length == 0.0 else Direction(np.cos(length) * self.unit + np.sin(length) * tangent / length)


@dataclass
class Camera:
    view: Direction
    zoom: float
    other: Direction | None = None


TARGET = np.array([0.6, 0.8])


def loss(camera):
    return (camera.zoom - 2.0) ** 2 - np.dot(camera.view.unit, TARGET)


def camera():
    return Camera(Direction(np.array([1.0, 0.0])), 1.0)


OPTIMIZERS = [
    lambda: ad.optim.SGD(0.2),
    lambda: ad.optim.SGD(0.05, momentum=0.7),
    lambda: ad.optim.RMSProp(0.02),
    lambda: ad.optim.Adam(0.05),
    lambda: ad.optim.AMSGrad(0.05),
    lambda: ad.optim.AdamW(0.05, weight_decay=0.0),
    lambda: ad.optim.Adam(0.05, native=True),
]


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_points_are_moved_in_place_and_anew(make):
    one, other, in_place, anew = camera(), camera(), make(), make()
    start = one.view
    for _ in range(400):
        in_place.update(one, along=ad.grad(loss)(one))
        other = anew.updated(other, along=ad.grad(loss)(other))
    for found in (one, other):
        np.testing.assert_allclose(found.view.unit, TARGET, atol=0.05)
        assert abs(np.linalg.norm(found.view.unit) - 1.0) < 1e-12
        assert found.zoom == pytest.approx(2.0, abs=0.05)
    np.testing.assert_array_equal(one.view.unit, other.view.unit)
    np.testing.assert_array_equal(start.unit, [1.0, 0.0])


def test_a_step_is_the_exponential_map():
    one = camera()
    gradient = ad.grad(loss)(one)
    ad.optim.SGD(0.1).update(one, along=gradient)
    wanted = ad.moved(camera(), along=-0.1 * gradient)
    np.testing.assert_allclose(one.view.unit, wanted.view.unit, rtol=1e-15)
    assert one.zoom == wanted.zoom


def test_a_point_that_is_there_twice_stays_one():
    one = camera()
    one.other = one.view
    ad.optim.SGD(0.1).update(one, along=ad.grad(lambda c: loss(c) - c.other.unit[1])(one))
    assert one.other is one.view and one.view.unit[1] > 0.05
    one.other = Direction(np.array([1.0, 0.0]))
    ad.optim.SGD(0.1).update(one, along=ad.grad(lambda c: loss(c) - c.other.unit[1])(one))
    assert one.other is not one.view


def test_what_reads_a_point_is_refused():
    for make in (
        lambda: ad.optim.SGD(weight_decay=0.1),
        lambda: ad.optim.AdamW(),
        lambda: ad.optim.Lion(weight_decay=0.1),
        lambda: ad.optim.LARS(),
    ):
        with pytest.raises(ad.DifferentiationError, match=r"does more than take a step from \.view"):
            make().update(camera(), along=ad.grad(loss)(camera()))
    groups = [ad.optim.Group(".view", weight_decay=0.0)]
    one = camera()
    ad.optim.AdamW(groups=groups).update(one, along=ad.grad(loss)(one))
    assert one.view.unit[1] > 0.0
    with pytest.raises(ad.DifferentiationError, match=r"take \.view for a vector"):
        ad.optim.minimize(loss, camera())


def test_where_points_can_be():
    with pytest.raises(ad.DifferentiationError, match="it is itself a value of type 'Direction'"):
        ad.optim.SGD().update(camera().view, along=None)
    with pytest.raises(ad.DifferentiationError, match=r"\[0\] is held by a value of type 'tuple'"):
        ad.optim.SGD().update((camera().view,), along=None)
    moved = ad.optim.SGD(0.1).updated(
        (camera().view, 1.0), along=ad.grad(lambda x: -x[0].unit[1] + x[1])((camera().view, 1.0))
    )
    assert moved[0].unit[1] == pytest.approx(np.sin(0.1)) and moved[1] == 0.9
    frozen = ad.optim.SGD(0.1, groups=[ad.optim.Group(".view", frozen=True)])
    one = camera()
    updated = frozen.updated(one, along=ad.grad(loss)(one))
    np.testing.assert_array_equal(updated.view.unit, [1.0, 0.0])
    assert updated.zoom == 1.2


def test_groups_of_new_values():
    start = {"a": np.ones(2), "b": 1.0, "c": 1.0}
    groups = [ad.optim.Group("['a']", learning_rate=0.5), ad.optim.Group("['c']", frozen=True)]
    found = ad.optim.SGD(0.25, groups=groups).updated(start, along=start)
    np.testing.assert_array_equal(found["a"], [0.5, 0.5])
    assert found["b"] == 0.75 and found["c"] == 1.0
    np.testing.assert_array_equal(start["a"], [1.0, 1.0])
