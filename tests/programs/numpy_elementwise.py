"""Element-wise NumPy: functions, operators, broadcasting, selection, dtypes."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


def positive(*shape):
    return lambda rng: rng.uniform(0.5, 2.0, size=shape)


@program(normal(4))
def array_result(x):
    return np.sin(x) * x


@program(positive(4))
def elementary(x):
    return np.exp(x) + np.log(x) - np.sqrt(x) + np.log1p(x) * np.expm1(x) + np.log2(x) + np.log10(x) + np.exp2(x)


@program(lambda rng: rng.uniform(-0.8, 0.8, size=4))
def trigonometric(x):
    return np.sin(x) + np.cos(x) * np.tan(x) - np.arcsin(x) + np.arccos(x) * np.arctan(x)


@program(lambda rng: rng.uniform(-0.8, 0.8, size=4))
def hyperbolic(x):
    return np.sinh(x) * np.cosh(x) + np.tanh(x) - np.arcsinh(x) * np.arctanh(x) + np.arccosh(2.0 + x)


@program(positive(4), normal(4))
def operators(x, y):
    return (x + y) * (x - y) / x - (-y) ** 2 + x**1.5 + x**y


@program(normal(3, 4), normal(4))
def broadcast_row(m, v):
    return m * v + v


@program(normal(3, 4), normal(3, 1))
def broadcast_column(m, v):
    return m * v - v / (1.0 + m * m)


@program(normal(3, 4), 2.0)
def broadcast_scalar(m, k):
    return m * k + k


@program(normal(3, 1), normal(1, 4))
def broadcast_both(a, b):
    return a * b + a


@program(2.0, normal(3))
def scalar_first(k, v):
    return np.sum(k / (2.0 + v * v) - k * v)


@program(normal(4), normal(4))
def maximum_minimum(x, y):
    return np.maximum(x, y) * np.minimum(x, 0.6) + np.fmax(y, 0.0)


@program(normal(5))
def where(x):
    return np.sum(np.where(x > 0, x * x, np.exp(x)))


@program(normal(5), normal(5))
def where_two(x, y):
    return np.where(x > y, x, 2.0 * y)


@program(normal(5))
def clip(x):
    return np.clip(x, -0.5, 0.5) * x


@program(normal(5))
def absolute_and_sign(x):
    return np.abs(x) * x + np.sign(x) * x


@program(normal(5), normal(5))
def sign_of_complex_numbers(x, y):
    direction = np.sign(x + 1j * y)
    return direction.real * x + direction.imag


@program(normal(5))
def constants_of_x(x):
    return np.floor(x) * x + np.ceil(x) + np.round(x) * x + np.isnan(x) * x


@program(positive(4), normal(4))
def two_argument_functions(x, y):
    return np.arctan2(y, x) + np.hypot(x, y) + np.logaddexp(x, y) + np.power(x, y)


@program(positive(4))
def squares_and_reciprocals(x):
    return np.square(x) + np.reciprocal(x) + np.cbrt(x) + np.negative(x) * np.positive(x)


@program(normal(4))
def softplus_and_sigmoid(x):
    sigmoid = 1.0 / (1.0 + np.exp(-x))
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0) + sigmoid * (1.0 - sigmoid)


@program(0.7)
def ufunc_of_float(x):
    return np.sin(x) * np.exp(x) + np.sqrt(x)


@program(np.float64(0.7))
def numpy_scalar(x):
    return np.sin(x) * x


@program(lambda rng: rng.normal(size=4).astype(np.float32))
def single_precision(x):
    return np.sum(np.tanh(x) * x)


@program(lambda rng: rng.normal(size=4).astype(np.float32), 0.5)
def single_precision_times_float(x, k):
    return np.sin(x * k) + k


@program(np.float32(0.5), order=1)
def single_precision_scalar(x):
    return np.exp(x) * x


@program(normal(4), np.array([1, 2, 3, 4]))
def with_integer_array(x, n):
    return x**n + n * x + n // 2


@program(normal(4))
def comparison_mask(x):
    return x * (x > 0) + 0.1 * x * (x <= 0)


@program(normal(5))
def branch_per_element(x):
    total = 0.0
    for v in x:
        total += v * v if v > 0 else np.exp(v)
    return total


@program(normal(3), normal(3))
def augmented_rebinds(x, y):
    z = x * y
    z = z + x
    return z * z


@program(normal(3, 4))
def gelu(x):
    return 0.5 * x * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


@program(normal(2, 3, 4), normal(3, 1), normal(4))
def broadcast_three(a, b, c):
    return np.sum(a * b * c + b / (1.0 + c * c))


@program(normal(4))
def degrees(x):
    return np.deg2rad(x) + np.rad2deg(x) * 0.01 + np.sinc(x)


@program(0.5, 3)
def zero_dimensional(x, n):
    a = np.asarray(x)
    return a * n + np.sin(a)


@program(normal(4))
def made_finite(x):
    holes = np.where(x > 0.5, np.inf, np.where(x < -0.5, np.nan, x))
    return np.nan_to_num(holes, nan=1.0, posinf=2.0) * x + np.nan_to_num(x) ** 2


@program(normal(4), 0.7)
def quotients_and_remainders(x, y):
    quotient, remainder = np.divmod(x * 3.3, y)
    return quotient * x + remainder**2
