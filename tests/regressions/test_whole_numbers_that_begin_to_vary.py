"""Arrays of whole numbers that become arrays that vary, in loops and branches, while views of them are kept."""

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X = np.array([0.3, 0.7, 0.9, 1.4])


def last_two_before(x):
    b = (x > 0.5).astype(int)
    for m in range(3):
        before = b[-2:]
        b = b * x * (m + 1.0)
    b[:1] = 0.0
    return np.sum(b) + np.sum(before * before)


def once(x):
    b = np.array([1, 2, 3, 4])
    for _ in range(1):
        before = b[1:]
        b = b * x
    b[:1] = 0.0
    return np.sum(b) + np.sum(before * before)


def reshaped(x):
    b = np.array([1, 2, 3, 4])
    for _ in range(3):
        before = b.reshape(2, 2)
        b = b * x
    before[0] = 5
    return np.sum(b) + np.sum(before * before)


def itself(x):
    b = np.array([1, 2, 3, 4])
    for _ in range(3):
        before = b
        b = b * x
        b[0] = 2.0 * x[1]
    return np.sum(b) + np.sum(before * before)


def while_it_varies(x):
    b = np.arange(4)
    m = 0
    while m < 3:
        before = b[::-1]
        b = b * x
        m += 1
        before[0] = 5
    return np.sum(b) + np.sum(before * before)


def left_early(x, bound=1.0):
    b = np.arange(4)
    for m in range(3):
        before = b[1:]
        if x[0] * m > bound:
            break
        b = b * x
        b[0] = 2.0 * x[1]
    return np.sum(b) + np.sum(before * before)


def written_by_a_condition(x):
    b = np.array([1, 2, 3, 4])
    for m in range(3):
        before = b[1:]
        if m > 0:
            before[0] = x[2]
        b = b * x
    b[0] = 2.0 * x[1]
    return np.sum(b) + np.sum(before * before)


def of_rows(x):
    b = [np.array([1, 2]), np.array([3, 4])]
    for _ in range(2):
        before = b
        b = [row * x[:2] for row in b]
        b[0][0] = x[1]
    return sum(np.sum(row) for row in b) + np.sum(np.array(before) ** 2)


def given(x, c=np.arange(4)):
    b = c
    for _ in range(3):
        before = b[1:]
        b = b * x
    b[0] = x[1]
    return np.sum(b) + np.sum(before * before)


RIGHT = (
    last_two_before,
    once,
    reshaped,
    itself,
    while_it_varies,
    left_early,
    written_by_a_condition,
    of_rows,
    given,
)


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_derivatives(function):
    check_grads(function, (X,))


def test_zeros_like_zeros_like_whole_numbers() -> None:
    ad.testing.check_grads(once, (X,))


def test_as_an_argument():
    found = ad.grad(given)(X, np.arange(4))
    assert np.allclose(found, ad.grad(given)(X))


@pytest.mark.parametrize("function", [itself, given], ids=lambda function: function.__name__)
def test_machine_code(function):
    pytest.importorskip("llvmlite")
    assert np.allclose(ad.grad(function, native=True)(X), ad.grad(function)(X))


def chosen(x):
    b = np.array([1, 2, 3, 4])
    if x[0] > 1.0:
        b = b * x
    return b


def stored_at_a_place(x):
    b = chosen(x)
    b[0] = 2.0 * x[1]
    return np.sum(b * x)


def stored_by_a_mask(x):
    b = chosen(x)
    b[x > 0.5] = x[1]
    return np.sum(b * x)


def copied_to(x):
    b = chosen(x)
    np.copyto(b, x, casting="unsafe")
    return np.sum(b * x)


def filled(x):
    b = chosen(x)
    b.fill(x[0])
    return np.sum(b * x)


def stored_in_a_row(x):
    b = [np.array([1, 2])]
    if x[0] > 1.0:
        b = [b[0] * x[:2]]
    b[0][0] = x[1]
    return np.sum(b[0] * x[:2])


@pytest.mark.parametrize("function", [stored_at_a_place, stored_by_a_mask, copied_to, filled, stored_in_a_row])
def test_what_is_cut_off_is_refused(function):
    refused = pytest.raises(ad.DifferentiationError, match="AD0408")
    with refused:
        ad.grad(function, native=False)(X)
    with refused:
        ad.jvp(function, (X,), (np.ones(4),))
    check_grads(function, (X + 1.0,))  # where it holds floats


def test_constants_are_cut_off_as_ever():
    def cost(x):
        b = chosen(x)
        b[0] = 2.7
        return np.sum(b * x)

    assert np.allclose(ad.grad(cost)(X), [2.0, 2.0, 3.0, 4.0])
