"""Images moved, turned and stretched by `scipy.ndimage`: values beside SciPy's, derivatives in all modes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import adjoint as ad
from regressions.differences import refused, right, second
from sampling import IN_DEPTH, THOROUGH

IMAGE = np.random.default_rng(0).normal(size=(6, 7))
X = np.array([0.37, 0.82, 1.21])


def sampled(x):
    places = np.array([[x[0], 2.3, 4.1], [x[1] * 3.0, x[2], 9.5]])
    return np.sum(ndimage.map_coordinates(IMAGE * x[2], places, cval=x[0]) * x)


def straight(x):
    return np.sum(ndimage.map_coordinates(IMAGE, np.array([x, x + 1.3]), order=1, mode="nearest") ** 2)


def one_place(x):
    return ndimage.map_coordinates(IMAGE, [[x[0]], [x[1] + 2.0]], order=2, mode="mirror")[0] * x[2]


def moved(x):
    return np.sum(ndimage.shift(IMAGE * x[0], x[1:]) * IMAGE) + np.sum(
        ndimage.shift(IMAGE[0], x[0], mode="reflect") ** 2
    )


def turned(x):
    return np.sum(ndimage.rotate(IMAGE * x[0], 20.0 * x[1], reshape=False) * IMAGE)


def mapped(x):
    matrix = np.array([[x[0], 0.2], [-0.1, x[1]]])
    return np.sum(ndimage.affine_transform(IMAGE, matrix, offset=x[2], output_shape=(4, 3)) ** 2)


def stretched(x):
    return np.sum(ndimage.zoom(IMAGE * x[0] + x[1], 1.7) ** 2)


@pytest.mark.parametrize("f", [sampled, straight, one_place, moved, turned, mapped, stretched])
def test_right_in_all_modes(f: Callable[[Any], Any]) -> None:
    right(f, X)
    if f in (one_place, *((sampled, moved, mapped, stretched) if THOROUGH else ())):
        second(f, X)


@IN_DEPTH
def test_images_of_one_row_and_places_beyond_the_ends() -> None:
    for mode in ("constant", "nearest", "mirror", "reflect"):
        for image in (IMAGE, IMAGE[:1], IMAGE[:, :1], IMAGE[:2]):
            for order in range(6) if THOROUGH else (1, 3, 4):
                places = np.array([[-1.2, 0.0, 0.3, 7.9, 14.2], [-9.1, 0.0, 0.2, 5.6, 6.0]])

                def f(places, image=image, order=order, mode=mode):
                    return ndimage.map_coordinates(image, places, order=order, mode=mode)

                found = ad.vjp(f, places)[0]
                np.testing.assert_allclose(found, f(places), rtol=1e-9, atol=1e-9)


def test_other_ways_to_go_on_are_refused() -> None:
    for mode in ("wrap", "grid-constant"):
        refused(lambda mode=mode: ad.grad(lambda x: np.sum(ndimage.shift(IMAGE, x, mode=mode)))(0.3))


@pytest.mark.parametrize("mode", ["grid-wrap", "grid-mirror"])
def test_grids_go_on_as_the_image_does(mode: str) -> None:
    def moved_along(x: float) -> float:
        return np.sum(ndimage.shift(IMAGE, x, mode=mode) * IMAGE)

    difference = (moved_along(0.3 + 1e-6) - moved_along(0.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(ad.grad(moved_along)(0.3), difference, rtol=1e-6)
