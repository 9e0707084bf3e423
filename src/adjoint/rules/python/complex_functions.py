"""Rules of the module ``cmath``: of numbers that may be real, and give complex ones."""

# mypy: allow-untyped-defs, allow-untyped-calls

import cmath
import math

from adjoint.rules.declare import case, definition, elementwise, general, no_derivative, number
from adjoint.runtime.array_functions.arrays import unbroadcast

LN10 = 2.302585092994046
Z = complex(0.6, -0.4)
COMPLEX = [case(Z)]

elementwise(cmath.exp, lambda z, y: y, cases=COMPLEX)
elementwise(cmath.log10, scaled=lambda ct, z, y: ct / (z * LN10), domain=(0.5, 2.0), cases=COMPLEX)
elementwise(cmath.sqrt, scaled=lambda ct, z, y: ct / (2 * y), domain=(0.5, 2.0), cases=COMPLEX)
elementwise(cmath.sin, lambda z, y: cmath.cos(z), cases=COMPLEX)
elementwise(cmath.cos, lambda z, y: -cmath.sin(z), cases=COMPLEX)
elementwise(cmath.tan, lambda z, y: 1 + y * y, domain=(-1.0, 1.0), cases=COMPLEX)
elementwise(cmath.asin, scaled=lambda ct, z, y: ct / cmath.sqrt(1 - z * z), domain=(-0.8, 0.8), cases=COMPLEX)
elementwise(cmath.acos, scaled=lambda ct, z, y: -ct / cmath.sqrt(1 - z * z), domain=(-0.8, 0.8), cases=COMPLEX)
elementwise(cmath.atan, scaled=lambda ct, z, y: ct / (1 + z * z), cases=COMPLEX)
elementwise(cmath.sinh, lambda z, y: cmath.cosh(z), cases=COMPLEX)
elementwise(cmath.cosh, lambda z, y: cmath.sinh(z), cases=COMPLEX)
elementwise(cmath.tanh, lambda z, y: 1 - y * y, cases=COMPLEX)
elementwise(cmath.asinh, scaled=lambda ct, z, y: ct / cmath.sqrt(z * z + 1), cases=COMPLEX)
elementwise(
    cmath.acosh,
    scaled=lambda ct, z, y: ct / (cmath.sqrt(z - 1) * cmath.sqrt(z + 1)),
    domain=(1.2, 3.0),
    cases=COMPLEX,
)
elementwise(cmath.atanh, scaled=lambda ct, z, y: ct / (1 - z * z), domain=(-0.8, 0.8), cases=COMPLEX)


def _log_jvp(dots, y, z, base=None):
    if base is None:
        return dots[0] / z
    if dots[1] is None:  # of a whole number
        return dots[0] / (z * cmath.log(base))
    return (dots[0] / z - dots[1] * y / base) / cmath.log(base)


def _log_vjp(ct, y, z, base=None):
    if base is None:
        return (unbroadcast(ct / z, z),)
    return (unbroadcast(ct / (z * cmath.log(base)), z), unbroadcast(-ct * y / (base * cmath.log(base)), base))


general(cmath.log, _log_jvp, _log_vjp, cases=[case(Z), case(1.3), case(Z, 3.0), case(Z, complex(0.7, 0.5))])


definition(cmath.phase, lambda z: math.atan2(z.imag, z.real), cases=[*COMPLEX, case(1.3)])
definition(cmath.polar, lambda z: (abs(z), math.atan2(z.imag, z.real)), cases=[*COMPLEX, case(1.3)])
definition(cmath.rect, lambda r, phi: complex(r * math.cos(phi), r * math.sin(phi)), cases=[case(number(), number())])
no_derivative(cmath.isnan, cmath.isinf, cmath.isfinite, cmath.isclose)
