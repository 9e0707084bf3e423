"""What a mask makes zero is left out, whatever slope lies behind it: in reverse mode as in forward mode."""

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.0, 2.0, 3.0])


def in_place(x):
    y = x * 1.0
    y *= x > 1.0
    return np.sum(np.sqrt(y))


PROGRAMS = {
    "behind": lambda x: np.sum(np.sqrt(x * (x > 1.0))),
    "before": lambda x: np.sum(np.sqrt((x > 1.0) * x)),
    "a function": lambda x: np.sum(np.sqrt(np.multiply(x, x > 1.0))),
    "numbers": lambda x: sum(np.sqrt(v * (v > 1.0)) for v in x),
    "in place": in_place,
    "rows": lambda x: np.sum(np.sqrt(np.outer(np.ones(2), x) * (x > 1.0))) / 2.0,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_roots_of_what_a_mask_leaves_out(name) -> None:
    f, expected = PROGRAMS[name], np.array([0.0, 0.5 / np.sqrt(2.0), 0.5 / np.sqrt(3.0)])
    with np.errstate(all="ignore"):
        for native in (False, True):
            np.testing.assert_allclose(ad.grad(f, native=native)(X), expected)
        forward = [ad.jvp(f, (X,), (along,))[1] for along in np.eye(3)]
        np.testing.assert_allclose(forward, expected)
    second = ad.hvp(f, (np.array([0.5, 2.0, 3.0]),), (np.ones(3),))[0]
    np.testing.assert_allclose(second, [0.0, -0.25 * 2.0**-1.5, -0.25 * 3.0**-1.5])
