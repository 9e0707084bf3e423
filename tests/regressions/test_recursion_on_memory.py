"""Recursive functions that return memory that is written afterwards: it matters that it is the same memory."""

import numpy as np
import pytest

import adjoint as ad

X = np.array([1.1, 0.7, -1.3])


def test_argument_is_returned_and_written() -> None:
    def f(x, n):
        def shake(a, n):
            if n == 0:
                return a
            a[n % 3] *= 2.0
            return shake(a, n - 1)

        a = x.copy()
        b = shake(a, n)
        b[0] = 5.0
        return np.sum(a * b)

    with pytest.raises(ad.DifferentiationError, match="a recursive function returns memory that varies"):
        ad.grad(f)(X, 2)


def test_argument_is_written_after_it_was_returned() -> None:
    def f(x, n):
        def same(a, n):
            return a if n == 0 else same(a, n - 1)

        a = x.copy()
        b = same(a, n)
        a[0] = 5.0
        return np.sum(a * b)

    with pytest.raises(ad.DifferentiationError, match="a recursive function returns memory that varies"):
        ad.grad(f)(X, 2)


def test_one_array_is_returned_twice_and_written() -> None:
    def f(x, n):
        def pair(n):
            if n == 0:
                ones = np.ones(3)
                return ones, ones
            p, _ = pair(n - 1)
            r = p * x
            return r, r

        p, q = pair(n)
        p[0] = 7.0
        return np.sum(p * q)

    with pytest.raises(ad.DifferentiationError, match="a recursive function returns memory that varies"):
        ad.grad(f)(X, 2)


def test_captured_buffer_is_returned_and_written() -> None:
    def f(x, n):
        buffer = np.zeros(3)

        def fill(n):
            buffer[n] = x[n]
            return buffer if n == 0 else fill(n - 1)

        y = fill(n)
        buffer[0] = 9.0
        return np.sum(y * x)

    with pytest.raises(ad.DifferentiationError, match="a recursive function returns memory that varies"):
        ad.grad(f)(X, 2)
