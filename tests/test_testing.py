"""The gradient checker finds what it promises to find; derivatives here are written by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from adjoint import testing


def square(x):
    return x * x


def operators(slope=2.0, forward=2.0, value=1.0, change=lambda x: None, keep=False):
    """Operators that know only `square` at floats and arrays; the arguments put errors in."""
    uses = []

    def jvp(f, primals, tangents):
        (x,), (t,) = primals, tangents
        return value * x * x, forward * x * t

    def vjp(f, x):
        kept = np.copy(x)

        def pullback(seed):
            uses.append(1)
            if keep:
                return (seed,)
            return (slope * kept * seed if np.ndim(x) else float(slope * kept * seed),)

        result = value * x * x
        change(x)
        return result, pullback

    return SimpleNamespace(jvp=jvp, vjp=vjp)


def check(monkeypatch, x, errors, **options):
    monkeypatch.setattr(testing, "jvp_vjp", operators(**errors))
    testing.check_grads(square, (x,), order=1, **options)


@pytest.mark.parametrize("x", [3.0, np.array([1.0, -2.0])], ids=["float", "array"])
def test_right_derivatives_pass(monkeypatch, x):
    check(monkeypatch, x, {})
    check(monkeypatch, x, {}, analytic=True)


def test_a_complex_step_that_loses_its_imaginary_part_proves_nothing(monkeypatch):
    monkeypatch.setattr(testing, "jvp_vjp", operators(slope=0.0, forward=0.0))
    with pytest.raises(AssertionError, match="disagrees with differences"):
        testing.check_grads(lambda x: np.real(x) ** 2, (3.0,), order=1)


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        ({"slope": 2.001}, "reverse mode .* disagrees with differences"),
        ({"forward": 1.999}, "forward mode .* disagrees with differences"),
        ({"value": 1.01}, "the value differs"),
        ({"slope": np.nan}, "reverse mode"),
        ({"change": lambda x: x.fill(0.0)}, "arguments are not left"),
        ({"keep": True}, "shares memory"),
    ],
)
def test_errors_are_found(monkeypatch, errors, message):
    with pytest.raises(AssertionError, match=message):
        check(monkeypatch, np.array([1.0, -2.0]), errors)


def test_single_modes(monkeypatch):
    check(monkeypatch, 3.0, {"slope": 5.0}, modes=("fwd",))
    check(monkeypatch, 3.0, {"forward": 5.0}, modes=("rev",))


def test_message_has_direction_and_steps(monkeypatch):
    with pytest.raises(AssertionError, match=r"(?s)step 0.001.*complex step.*direction"):
        check(monkeypatch, 3.0, {"forward": 1.0})


def test_leaves_of_structures():
    shared = np.ones(2)
    value = {"a": 1.0, "b": [shared, (2, "s", None)], "c": SimpleNamespace(x=shared)}
    assert testing.leaves(value)[0][0] == (("item", "a"),)
    np.testing.assert_array_equal(testing.flatten(value), np.ones(5))


def test_clone_keeps_sharing_and_shares_nothing():
    class Cell:
        __slots__ = ("value",)

        def __init__(self, value):
            raise AssertionError("the constructor must not run")

    cell = object.__new__(Cell)
    cell.value = np.ones(2)
    copied = testing.clone((cell, cell, [cell.value]))
    assert copied[0] is copied[1]
    assert copied[2][0] is copied[0].value
    assert not np.shares_memory(copied[0].value, cell.value)
