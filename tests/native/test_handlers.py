"""Handlers of exceptions: of arithmetic they are machine code; what guards anything else runs as Python."""

import contextlib
import math

import numpy as np
import pytest

import adjoint as ad
from native.agreement import compare

pytest.importorskip("llvmlite")


def one_class(x):
    try:
        y = math.log(x - 3.0)
    except ValueError:
        y = x * x
    return y


def several_classes(x):
    try:
        y = 1.0 / (x - 2.0)
    except (OverflowError, ZeroDivisionError):
        y = 3.0 * x
    return y


def place_that_is_not_there(x):
    table = np.array([x, x * x])
    try:
        y = table[5]
    except Exception:
        y = table[1]
    return y


def handler_that_raises(x):
    try:
        y = math.log(x - 3.0)
    except Exception:
        y = x / (x - 2.0)
    return y


def bare(x):
    try:
        y = math.log(x - 3.0)
    except:  # noqa: E722
        y = x * x
    return y


def named(x):
    try:
        if x > 1:
            raise ValueError("large")
        y = x
    except ValueError as problem:
        y = x * len(str(problem))
    return y


def stores_before(x):
    a = np.zeros(2)
    try:
        a[0] = x * x
        a[1] = math.log(x - 3.0)
    except ValueError:
        a[1] = 2.0 * x
    return a[0] + a[1]


def at_last(x):
    try:
        y = x * x
    finally:
        x = 3.0 * x
    return x * y


def suppressed(x):
    with contextlib.suppress(ValueError):
        x = math.log(x - 3.0)
    return 2.0 * x


def under_a_context(x):
    with np.errstate(divide="raise", over="ignore"):
        y = np.log(x) * x
    return y


def under_a_context_that_calls(x):
    with np.errstate(call=print):
        y = np.log(x) * x
    return y


def whole_numbers(x):
    try:
        y = x * float(10 ** int(x))
    except OverflowError:
        y = x
    return y


def singular(x):
    a = np.array([[x, 2.0], [1.0, 1.0]])
    try:
        b = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return x * x
    return np.sum(b @ b)


def not_positive_in_a_loop(x):
    total, count = 0.0, 0
    for i in range(4):
        a = np.array([[x, 1.0 + i], [1.0 + i, x * x]])
        try:
            low = np.linalg.cholesky(a)
            total += low[1, 1] * x
        except np.linalg.LinAlgError:
            count += 1
    return total + count * x


def written_before_it_fails(x):
    a, b = np.zeros(3), np.array([x, x * x])
    kept = []
    for i in range(3):
        try:
            kept.append(x * i)
            a[i] = 2.0 * b[i]
        except IndexError:
            a[0] *= len(kept)
    return np.sum(a) + sum(kept)


PROGRAMS = [
    *(place_that_is_not_there, whole_numbers, singular, not_positive_in_a_loop, written_before_it_fails),
    *(named, stores_before, at_last, under_a_context, under_a_context_that_calls),
]


def _outcome(derivative, x):
    try:
        return derivative(x)
    except ArithmeticError as problem:
        return repr(problem)


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_machine_code_may_not_handle_runs_as_python(f):
    def directional(x, native=None):
        return ad.jvp(f, (x,), (1.0,), native=native)

    for x in (2.0, 5.0):
        expected = _outcome(ad.value_and_grad(f), x)
        for _ in range(2):
            assert _outcome(ad.value_and_grad(f, native="strict"), x) == pytest.approx(expected, rel=1e-13)
        expected = _outcome(directional, x)
        assert _outcome(lambda x: directional(x, "strict"), x) == pytest.approx(expected, rel=1e-13)


def in_a_loop(x, n):
    total = 0.0
    for i in range(n):
        try:
            if x - i == 2.0:
                raise ValueError("two")
            y = math.sqrt(x - i) / (x - i)
        except ZeroDivisionError:
            y = x * x
        except (ValueError, OverflowError):
            y = 3.0 * x + i
        total += y * x
    return total


def nested(x):
    try:
        try:
            y = math.exp(x * 300.0)
        except OverflowError:
            y = 1.0 / (x - 3.0)
    except ArithmeticError:
        y = -x
    return x * y


def passed_on(x):
    try:
        y = math.log(x)
    except ZeroDivisionError:
        y = 2.0 * x
    return y * x


def reads(x, i):
    total = 0.0
    for k in range(i):
        try:
            total += math.log(float(x[k])) * x[0]
        except ValueError:
            total += x[k] ** 2
    return total


COMPILED = [
    *((f, (x,)) for f in (one_class, several_classes, handler_that_raises, bare, suppressed) for x in (2.0, 5.0)),
    *((in_a_loop, (x, n)) for x in (4.0, 2.5) for n in (0, 7)),
    *((nested, (x,)) for x in (1.0, 3.0, 5.0)),
    *((passed_on, (x,)) for x in (2.0, -1.0)),
    (reads, (np.array([1.5, -2.0, 0.5]), 3)),
]


@pytest.mark.parametrize(("f", "args"), COMPILED)
@pytest.mark.parametrize("mode", ["gradient", "reverse", "forward"])
def test_handlers_of_arithmetic_are_machine_code(f, args, mode):
    outcome = compare(f, args, mode)
    assert outcome.kind == "same", outcome.message


def test_what_refuses_nothing_handles_nothing():
    """Under ``fastmath`` machine code does not check what a logarithm is taken of."""
    assert ad.grad(one_class, native="strict", fastmath=True)(2.0) == ad.grad(one_class)(2.0)


def silenced(x, a):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.sum(np.where(a > 0.0, np.log(a), 0.0))
        for _ in range(3):
            with np.errstate(all="warn"):
                if y > 5.0:
                    return y * x
                y = y * x
    with np.errstate(over="ignore"):
        a[0] = y / a[0]
    return np.sum(a) + y


@pytest.mark.parametrize(("mode", "x"), [("gradient", 3.0), ("gradient", 1.0), ("forward", 3.0), ("reverse", 1.0)])
def test_nothing_warns_so_blocks_that_silence_run_plainly(mode, x):
    outcome = compare(silenced, (x, np.array([2.0, 0.0, -1.0, 4.0])), mode)
    assert outcome.kind == "same", outcome.message


def test_what_is_one_object_stays_one():
    def f(x, a, b):
        try:
            factor = 2.0 if a is b else 3.0
            y = x * (a[5] if x < 0.0 else factor)
        except IndexError:
            y = x * b[0]
        return y

    one = np.ones(2)
    with pytest.raises(ad.DifferentiationError, match="which object something is"):
        ad.grad(f, native="strict")(2.0, one, one)
    assert ad.grad(f)(2.0, one, one) == 2.0
    assert ad.grad(f)(2.0, one, one.copy()) == 3.0
