"""Recursive functions of lists of objects, that make lists of other lengths for themselves."""

import math
from dataclasses import dataclass

import pytest

from adjoint.testing import check_grads


@dataclass(frozen=True)
class Complex:
    re: float
    im: float = 0.0

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __sub__(self, other):
        return Complex(self.re - other.re, self.im - other.im)

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)


def transform(values):
    n = len(values)
    if n == 1:
        return values
    even, odd = transform(values[0::2]), transform(values[1::2])
    result = list(values)
    for k in range(n // 2):
        angle = -2 * math.pi * k / n
        turned = Complex(math.cos(angle), math.sin(angle)) * odd[k]
        result[k] = even[k] + turned
        result[k + n // 2] = even[k] - turned
    return result


@pytest.mark.xfail(reason="two forms of the function call each other, and one gets further arguments", strict=True)
def test_fast_fourier_transform():
    signal = [Complex(1.0, 0.5), Complex(-0.3, 0.2), Complex(0.7, -0.1), Complex(0.2, 0.9)]
    check_grads(lambda values: transform(values)[1].re, (signal,))
