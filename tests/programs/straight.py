"""Straight-line arithmetic and the functions of `math`."""

import math

from programs.registry import program


@program(2.0)
def identity(x):
    return x


@program(2.0, 3.0)
def unused_argument(x, y):
    return x * x


@program(1.5)
def constant_result(x):
    return 4.0


@program(2.0, 3.0)
def all_operators(x, y):
    a = x + y
    b = x - y
    c = a * b
    d = c / x
    e = d**2
    f = -e
    return +f + 1.5 * a - b


@program(2.3, 0.7)
def power_of_both(x, y):
    return x**y


@program(0.4)
def powers(x):
    return x**3 + x**-2 + x**0.5 + 2.0**x + (-x) ** 2


@program(7.3, 2.1)
def modulo(x, y):
    return x % y


@program(7.3, 2.1)
@program(-7.3, 2.1)
def floor_division(x, y):
    return (x // y) * x + y


@program(0.4, 3.0)
def damped_wave(x, k):
    e = math.exp(-k * x)
    return e * math.sin(x)


@program(0.3)
def trigonometry(x):
    return math.sin(x) + math.cos(2 * x) * math.tan(x) - math.asin(x) + math.acos(x) * math.atan(x)


@program(0.3)
def hyperbolic(x):
    return math.sinh(x) * math.cosh(x) - math.tanh(x) + math.asinh(x) + math.acosh(1 + x) + math.atanh(x)


@program(0.7)
def logarithms(x):
    return math.log(x) + math.log2(x) * math.log10(x) + math.log1p(x) - math.expm1(x)


@program(0.7)
def roots(x):
    return math.sqrt(x) + math.sqrt(1.0 + x * x)


@program(1.2, -0.4)
def two_argument_functions(y, x):
    return math.atan2(y, x) + math.hypot(x, y) + math.pow(y, 2.5)


@program(0.3)
def special_functions(x):
    return math.erf(x) - math.erfc(2 * x) * x


@program(-1.7)
@program(1.7)
def absolute(x):
    return abs(x) * x + math.fabs(x)


@program(2.0, 3.0, 1.0)
def min_max(x, y, z):
    return max(x, y) * min(y, z) + max(x, y, z) * min(x, 1.5)


@program(3.0)
def name_reused(x):
    x = x * x
    x = x + 1.0
    x = math.sin(x)
    return x


@program(2.0, 3.0)
def swap(x, y):
    x, y = y, x
    return x * x * y


@program(2.0, 3.0)
def augmented(x, y):
    z = x
    z += y
    z *= x
    z -= 2.0
    z /= y
    z **= 2
    return z


@program(0.7)
def fan_out(x):
    y = math.sin(x)
    return y * y + y * x + x


@program(2.0)
def dead_code(x):
    y = x * x
    z = math.exp(x)
    z = 0.0
    return y + z


@program(1.3, 0.4, 0.8)
def black_scholes_like(s, sigma, t):
    d1 = (math.log(s) + 0.5 * sigma * sigma * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    cdf1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
    cdf2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
    return s * cdf1 - cdf2


@program(1.0, 2.0)
def two_results(x, y):
    return x * y, x + y * y


@program(1.0, 2.0)
def nested_results(x, y):
    return {"product": x * y, "parts": [x * x, (y * y, 3)]}


@program(2.5)
def integer_constants(x):
    n = 3
    return n * x + x * 2 - 7 // 2 * x + 10 / 4


@program(0.5)
def math_constants(x):
    return math.pi * x + math.e**x + math.degrees(x) + math.radians(x)


@program(1.4)
def floats_of_floats(x):
    return float(x) * math.floor(x) + round(x) * x + int(x) * x + math.ceil(x) + math.trunc(x) * x


@program(1.4, 2.2)
def copysign(x, y):
    return math.copysign(x, -y) * y


@program(0.8)
def deep_expression(x):
    return math.sin(math.cos(math.exp(math.log(1.0 + math.tanh(x * x + 0.5) ** 2))))
