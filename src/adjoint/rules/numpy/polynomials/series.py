"""Power series of ``numpy.polynomial`` as objects: coefficients from the lowest power on, and the maps of domains."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
import numpy.polynomial.polynomial as ascending

from adjoint.rules.declare import definition
from adjoint.runtime.array_functions.places import leading_zeros


def _trimmed(coefficients):
    """Without the highest powers that are zero."""
    return coefficients[: max(len(coefficients) - leading_zeros(np.flip(coefficients)), 1)]


class PowerSeries:
    """Stands for a polynomial that varies."""

    __adjoint_stands_for__ = np.polynomial.Polynomial

    def __init__(self, coef, domain=None, window=None, symbol="x"):
        self.coef = np.atleast_1d(coef) + 0.0
        self.domain = np.array([-1.0, 1.0]) if domain is None else np.asarray(domain)
        self.window = np.array([-1.0, 1.0]) if window is None else np.asarray(window)
        self.symbol = symbol

    def mapparms(self):
        (low, high), (first, last) = self.domain, self.window
        return (high * first - low * last) / (high - low), (last - first) / (high - low)

    def __call__(self, arg):
        offset, scale = self.mapparms()
        if not isinstance(arg, PowerSeries):
            return ascending.polyval(offset + scale * arg, self.coef)
        inner = arg * scale + offset
        result = inner * 0.0 + self.coef[-1]
        for k in range(len(self.coef) - 2, -1, -1):
            result = result * inner + self.coef[k]
        return result

    def convert(self, domain=None, kind=None, window=None):
        if kind is not None and kind is not np.polynomial.Polynomial:
            raise NotImplementedError("another kind of polynomial")
        line = PowerSeries(np.array([0.0, 1.0]), domain, window)
        offset, scale = line.mapparms()
        return self(PowerSeries(np.array([-offset / scale, 1.0 / scale]), domain, window))

    def __len__(self):
        return len(self.coef)

    def __iter__(self):
        return iter(self.coef)

    def degree(self):
        return len(self.coef) - 1

    def copy(self):
        return self._like(self.coef)

    def _like(self, coefficients):
        return PowerSeries(coefficients, self.domain, self.window, self.symbol)

    def _of(self, other):
        """The coefficients of another one, or of the number or the sequence that stands for one."""
        if not isinstance(other, PowerSeries):
            return np.atleast_1d(other)
        if not (np.all(self.domain == other.domain) and np.all(self.window == other.window)):
            raise TypeError("Domains differ")
        return other.coef

    def roots(self):
        (low, high), (first, last) = self.window, self.domain
        found = ascending.polyroots(self.coef)
        return (high * first - low * last) / (high - low) + (last - first) / (high - low) * found

    def deriv(self, m=1):
        _, scale = self.mapparms()
        found = self.coef
        for _ in range(m):
            found = found[1:] * np.arange(1.0, len(found)) * scale if len(found) > 1 else 0.0 * found
        return self._like(found)

    def integ(self, m=1, k=(), lbnd=None):
        offset, scale = self.mapparms()
        start = 0.0 if lbnd is None else offset + scale * lbnd
        constants = [k] if np.ndim(k) == 0 else list(k)
        found = self.coef
        for place in range(m):
            risen = np.append(np.zeros(1), found / np.arange(1.0, len(found) + 1.0) / scale)
            constant = constants[place] if place < len(constants) else 0.0
            found = np.append(np.atleast_1d(constant - ascending.polyval(start, risen)), risen[1:])
        return self._like(found)

    def trim(self, tol=0):
        if tol != 0:
            raise NotImplementedError("a tolerance")
        return self._like(_trimmed(self.coef))

    def __neg__(self):
        return self._like(-self.coef)

    def __pos__(self):
        return self

    def __add__(self, other):
        return self._like(_trimmed(_sum(self.coef, self._of(other))))

    def __radd__(self, other):
        return self._like(_trimmed(_sum(self._of(other), self.coef)))

    def __sub__(self, other):
        return self._like(_trimmed(_sum(self.coef, -self._of(other))))

    def __rsub__(self, other):
        return self._like(_trimmed(_sum(self._of(other), -self.coef)))

    def __mul__(self, other):
        return self._like(_trimmed(np.convolve(self.coef, self._of(other))))

    def __rmul__(self, other):
        return self._like(_trimmed(np.convolve(self._of(other), self.coef)))

    def __truediv__(self, divisor):
        return self._like(self.coef / divisor)

    def __pow__(self, power):
        found = np.ones(1)
        for _ in range(power):
            found = np.convolve(found, self.coef)
        return self._like(found)


def _sum(a, b):
    """The sum of coefficients, of which there are more in one."""
    return np.pad(a, (0, max(len(b) - len(a), 0))) + np.pad(b, (0, max(len(a) - len(b), 0)))


definition(np.polynomial.Polynomial, PowerSeries, arrays=())
