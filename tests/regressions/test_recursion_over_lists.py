"""Recursive functions of lists of objects, that make lists of other lengths for themselves."""

import math
from dataclasses import dataclass

from adjoint.testing import check_grads
from regressions.support import right_or_refused


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


def test_fast_fourier_transform() -> None:
    signal = [Complex(1.0, 0.5), Complex(-0.3, 0.2), Complex(0.7, -0.1), Complex(0.2, 0.9)]
    right_or_refused(lambda values: transform(values)[1].re, signal)


def energy(values, k):
    """Two forms of it call each other, and both need ``k`` from outside."""

    def of(part):
        if len(part) == 1:
            return part[0].re * k
        return of(part[0::2]) * k + of(part[1::2]) * part[0].im

    return of(values)


def test_forms_that_call_each_other_and_need_a_variable_from_outside() -> None:
    signal = [Complex(1.0, 0.5), Complex(-0.3, 0.2), Complex(0.7, -0.1), Complex(0.2, 0.9)]
    check_grads(energy, (signal, 0.7))
