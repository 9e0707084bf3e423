"""What has no form in LLVM IR is called as Python out of machine code, with the arrays as they lie in memory."""

from __future__ import annotations

import bisect
import gc
import sys
import threading

import numpy as np
import pytest
from scipy import special

import adjoint as ad
from adjoint import progress
from adjoint.dispatch import specialize
from adjoint.native.kept import known_objects
from adjoint.native.llvm import callbacks

X = np.array([0.3, 0.7, 1.1, 1.9])


def products(x):
    return np.sum(np.kron(x, np.outer(x, x)) ** 2) * np.sum(np.convolve(x, x[::-1]))


def factors(x):
    q, r = np.linalg.qr(np.outer(x, x) + np.eye(len(x)))
    return np.sum(r * r) + q[0, 1]


def spectrum(x):
    return np.real(np.fft.fft(x)[1]) * np.imag(np.fft.fft(x * x)[1])


def special_functions(x):
    total = 0.0
    for i in range(len(x)):
        total += special.gamma(x[i]) * special.jv(1, x[i])
    return total


def in_parts(x):
    wide = np.outer(x, x)[::2, ::-1]
    return np.sum(np.kron(wide, wide.T)[1:, ::3])


def from_lists(x):
    rows = []
    for i in range(len(x)):
        rows.append(x[i] * x[i])
    return np.interp(x[0], np.array([0.0, 1.0, 2.0, 3.0]), np.array(rows))


@pytest.mark.parametrize(
    "function", [products, factors, spectrum, special_functions, in_parts, from_lists], ids=lambda f: f.__name__
)
def test_values_and_gradients_are_those_of_python(function, own):
    x = X.copy()
    value, gradient = ad.value_and_grad(function, native="strict")(x)
    expected, slopes = ad.value_and_grad(function)(X)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-12)
    assert own and np.array_equal(x, X)


def test_results_are_laid_out_as_they_come(own):
    def turned(x):
        return np.kron(x, np.ones((2, 1))), np.linalg.pinv(x)

    found = ad.compile(turned, native="strict")(X.reshape(2, 2))
    for one, other in zip(found, turned(X.reshape(2, 2)), strict=True):
        assert one.strides == other.strides and np.array_equal(one, other)
    assert own


def test_exceptions_are_those_of_python(own):
    def solved(x):
        return np.sum(np.linalg.pinv(np.outer(x, x) * np.inf)) + np.sum(x)

    for native in (False, "strict"):
        with np.errstate(all="ignore"), pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
            ad.compile(solved, native=native)(X)
    assert own


def test_memory_is_given_up(own):
    def f(x):
        return np.sum(np.kron(x, np.outer(x, x))[0, ::2])

    run = ad.grad(f, native="strict")
    counts = []
    for _ in range(3):
        for _ in range(200):
            run(X)
        gc.collect()
        counts.append(sys.getallocatedblocks())
    assert counts[2] < counts[1] + 100 and own


def test_threads_at_once(own):
    run = ad.grad(products, native="strict")
    expected = [ad.grad(products)(X * k) for k in range(4)]
    run(X)
    found = [[] for _ in range(4)]

    def work(k):
        found[k] += [run(X * k) for _ in range(50)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for mine, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.stack(mine), np.broadcast_to(wanted, (50, 4)), rtol=1e-12)
    assert own


def test_what_another_process_needs_is_all_there(monkeypatch):
    """Calls of Python are found in the cache as the machine code is that makes them."""
    units = []
    loaded = known_objects.known_object
    monkeypatch.setattr(known_objects, "known_object", lambda entry: units.append(loaded(entry)) or units[-1])
    for _ in range(2):
        specialize.forget()
        gradient = ad.grad(factors, native="strict")(X)
        np.testing.assert_allclose(gradient, ad.grad(factors)(X), rtol=1e-12)
    found = [unit for unit in units if unit is not None]
    assert found and all(unit.callbacks for unit in found)
    again = [callbacks.of_plain(callback.plain()) for callback in found[-1].callbacks]
    assert [each.symbol for each in again] == [each.symbol for each in found[-1].callbacks]
    assert all(each.load() for each in again)


def test_lines_that_run_as_python_are_told_before(monkeypatch, tmp_path):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))  # where nothing is kept yet
    said = []
    monkeypatch.setattr(progress.Progress, "leaves", lambda self, lines: said.append(sorted(lines)))

    def f(x):
        y = x * 3.75
        return np.sum(np.kron(y, np.outer(y, y)))

    specialize.forget()
    assert ad.compile(f, native="strict")(X) == f(X)
    assert said == [[f.__code__.co_firstlineno + 2]]


class Table:
    def __init__(self, x):
        self.x, self.rise = x, []
        for i in range(len(x) - 1):
            self.rise.append(np.sin(x[i + 1]) - x[i])

    def place(self, at):
        if at < self.x[0] or at > self.x[-1]:
            return None
        return bisect.bisect(self.x, at) - 1

    def value(self, at):
        place = self.place(at)
        return None if place is None else self.rise[place] * at

    def slope(self, at):
        place = self.place(at)
        return None if place is None else self.rise[place] ** 2


def looked_up(x):
    table, total = Table(x), 0.0
    for i in range(3):
        at = x[0] * (1.0 + 0.3 * i)
        total += table.value(at) ** 2 + 2 * table.slope(at)
    return total


def angle(x, zero_to_two_pi=False):
    given = isinstance(x, float)
    x = np.asarray(x).flatten()
    turned = x % (2 * np.pi) if zero_to_two_pi else (x + np.pi) % (2 * np.pi) - np.pi
    return turned.item() if given else turned


def angles(x):
    total = 0.0
    for i in range(3):
        total += angle(float(x[i]) * 7.0) * x[i] + np.sum(angle(x * 5.0, True))
    return total


def moved(before, by):
    return by if before is None else before @ by


def moves(x):
    found, error = None, 1.0
    while error > 1e-3:
        found = moved(found, np.outer(x, x) + np.eye(len(x)))
        error *= 0.1
    return np.sum(found[0:2, 1] * x[:2])


@pytest.mark.parametrize("function", [looked_up, angles, moves], ids=lambda f: f.__name__)
def test_what_may_be_none_or_of_either_owner_is_compiled(function, own):
    expected = ad.grad(function)(X)
    np.testing.assert_allclose(ad.grad(function, native="strict")(X), expected, rtol=1e-12)
    step = 1e-6 * np.eye(len(X))
    differences = [(function(X + each) - function(X - each)) / 2e-6 for each in step]
    np.testing.assert_allclose(expected, differences, rtol=1e-6, atol=1e-6)
    assert own


def test_none_beside_numbers_ends_a_path():
    """So what follows knows that values are numbers: no cotangent is fitted to what may be None."""
    assert "unbroadcast" not in ad.source(ad.grad(looked_up), X)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*\* or pow\(\): 'NoneType' and 'int'"):
        ad.grad(looked_up)(np.array([2.0, 1.0, 0.5, 0.1]))


def test_texts_beside_arrays_end_a_path():
    """The error is one that Python has: NumPy's own classes are made of other arguments."""

    def f(x, unit):
        scale = unit if x[0] > 5.0 else 2.0
        return np.sum(x * scale)

    np.testing.assert_allclose(ad.grad(f)(X, "km"), np.full(4, 2.0))
    with pytest.raises(TypeError):
        ad.grad(f)(X + 9.0, "km")


def raveled(x):
    flat = np.ravel(np.broadcast_to(x * 2.0, (2, *np.shape(x))))
    return np.sum(flat * flat)


def raveled_as_it_lies(x):
    flat = np.ravel(np.broadcast_to(np.outer(x, x), (3, 3)))
    return np.sum(flat * flat)


def of_rows_beside_each_other(x):
    rows = np.ascontiguousarray(np.broadcast_to(x * 2.0, (2, *np.shape(x))))
    return np.sum(rows * rows[0])


@pytest.mark.parametrize("f", [raveled, raveled_as_it_lies, of_rows_beside_each_other])
def test_views_that_nobody_may_write_are_read(f):
    x = np.array([0.7, -1.2, 1.9])
    value, gradient = ad.value_and_grad(f, native=True)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    np.testing.assert_allclose(gradient, ad.grad(f)(x), rtol=1e-12)
