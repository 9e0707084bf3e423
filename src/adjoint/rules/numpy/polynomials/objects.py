"""Polynomials as objects, ``np.poly1d``: in Python, read by the compiler in place of NumPy's class."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.runtime.array_functions.places import leading_zeros


class Poly1d:
    """A polynomial by its coefficients, from the highest power down.

    Zeros in front are kept: a coefficient has a derivative where it is zero, too. Who asks for the coefficients or
    for the order does not see them.
    """

    def __init__(self, coefficients):
        self.given = coefficients

    @property
    def coeffs(self):
        return self.given[leading_zeros(self.given) :]

    @property
    def c(self):
        return self.coeffs

    @property
    def coef(self):
        return self.coeffs

    @property
    def coefficients(self):
        return self.coeffs

    @property
    def order(self):
        return len(self.coeffs) - 1

    @property
    def o(self):
        return self.order

    @property
    def roots(self):
        return np.roots(self.coeffs)

    @property
    def r(self):
        return self.roots

    def __call__(self, val):
        if isinstance(val, Poly1d):
            result = Poly1d(np.zeros(1))
            for coefficient in self.given:
                result = result * val + coefficient
            return result
        return np.polyval(self.given, val)

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self.coeffs)

    def __getitem__(self, power):
        return self.given[len(self.given) - 1 - power] if 0 <= power < len(self.given) else 0.0

    def __neg__(self):
        return Poly1d(-self.given)

    def __pos__(self):
        return self

    def __add__(self, other):
        return Poly1d(np.polyadd(self.given, coefficients_of(other)))

    def __radd__(self, other):
        return Poly1d(np.polyadd(coefficients_of_number(other), self.given))

    def __sub__(self, other):
        return Poly1d(np.polysub(self.given, coefficients_of(other)))

    def __rsub__(self, other):
        return Poly1d(np.polysub(coefficients_of_number(other), self.given))

    def __mul__(self, other):
        return Poly1d(np.convolve(self.given, coefficients_of(other)))

    def __rmul__(self, other):
        return Poly1d(np.convolve(coefficients_of_number(other), self.given))

    def __truediv__(self, divisor):
        return Poly1d(self.given / divisor)

    def __pow__(self, power):
        result = np.ones(1)
        for _ in range(power):
            result = np.convolve(result, self.given)
        return Poly1d(result)

    def deriv(self, m=1):
        return Poly1d(np.polyder(self.given, m))

    def integ(self, m=1, k=0):
        return Poly1d(np.polyint(self.given, m, k))


def coefficients_of(other):
    """The coefficients of a polynomial, or of the number or the array that stands for one."""
    return other.given if isinstance(other, Poly1d) else np.atleast_1d(other)


def coefficients_of_number(other):
    """Those of what stands to the left of a polynomial: of NumPy's numbers and arrays Python makes another array."""
    if isinstance(other, (np.ndarray, np.generic)):
        raise TypeError("a number or an array of NumPy to the left of a polynomial makes an array of it")
    return np.atleast_1d(other)
