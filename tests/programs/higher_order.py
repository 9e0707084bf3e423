"""Functions as values: arguments, elements, fields, partials, folds."""

import functools
import itertools
import math
import operator

import numpy as np

from programs.registry import program


def square(x):
    return x * x


def apply(f, x):
    return f(x) * 2.0


def twice(f, x):
    return f(f(x))


def integrate(f, a, b, n=8):
    h = (b - a) / n
    return h * sum(f(a + (i + 0.5) * h) for i in range(n))


def newton(f, df, x, steps):
    for _ in range(steps):
        x = x - f(x) / df(x)
    return x


def rk4_step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def memo_free(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


@memo_free
def decorated(x):
    return x * x * x


@program(1.5)
def function_arguments(x):
    return apply(square, x) + apply(math.sin, x) + apply(lambda t: t**3, x) + apply(np.exp, x)


@program(1.5, math.sin)
@program(1.5, square)
@program(1.5, lambda t: t * t * t)
def function_as_own_argument(x, f):
    return f(x) * x


@program(0.5)
def loop_over_functions(x):
    for f in [math.sin, lambda t: t * t, square]:
        x = f(x) + 0.3
    return x


@program(0.5)
def loop_over_pairs_with_functions(x):
    total = 0.0
    for weight, f in ((0.5, math.sin), (2.0, math.cos), (x, square)):
        total += weight * f(x)
    return total


@program(0.5)
def compose_twice(x):
    return twice(lambda t: t * x + 1.0, x)


@program(0.5, 2.0)
def integral_with_capture(a, k):
    return integrate(lambda t: math.exp(-k * t * t), 0.0, a)


@program(2.0)
def newton_with_lambdas(c):
    return newton(lambda x: x * x - c, lambda x: 2.0 * x, 1.0, 5)


@program(1.0, 0.7)
def ode_with_callback(y, rate):
    for i in range(4):
        y = rk4_step(lambda t, u: -rate * u + math.sin(t), 0.1 * i, y, 0.1)
    return y


@program([1.0, 2.0, 3.0])
def reduce_with_lambda(xs):
    return functools.reduce(lambda a, b: a * b + 1.0, xs)


@program([1.0, 2.0, 3.0])
def reduce_with_operator(xs):
    return functools.reduce(operator.mul, xs, 2.0)


@program(1.5)
def partial(x):
    f = functools.partial(pow_of, n=3)
    g = functools.partial(pow_of, x)
    return f(x) * g(2)


def pow_of(x, n):
    return x**n


@program(1.5)
def decorated_callee(x):
    return decorated(x) + 1.0


program(1.5)(decorated)


@program([1.0, 2.0, 3.0])
def filter_and_map(xs):
    return sum(map(square, filter(lambda t: t > 1.5, xs)))


@program([1.0, 2.0, 3.0])
def math_reductions(xs):
    return math.fsum(xs) * math.prod(xs)


@program([1.0, 2.0, 3.0])
def accumulate(xs):
    return sum(itertools.accumulate(xs, operator.mul))


@program([1.0, 2.0], [3.0, 4.0])
def product_of_iterables(xs, ys):
    return sum(x * y**2 for x, y in itertools.product(xs, ys))


@program([3.0, -1.0, 2.0])
def sorted_by_key(xs):
    ordered = sorted(xs, key=lambda t: -abs(t))
    return ordered[0] * ordered[1] + ordered[2] ** 3


@program([3.0, -1.0, 2.0])
def max_by_key(xs):
    return max(xs, key=abs) * min(xs, key=lambda t: t * t)


@program(0.5)
def operators_as_functions(x):
    return operator.add(operator.mul(x, x), operator.truediv(1.0, x))


@program(0.7)
def church_numerals(x):
    def repeat(n):
        return lambda f: lambda t: functools.reduce(lambda acc, _: f(acc), range(n), t)

    return repeat(3)(lambda t: t * t + 0.1)(x)


@program(lambda rng: rng.normal(size=(3, 2)), np.tanh)
@program(lambda rng: rng.normal(size=(3, 2)), lambda t: t * t)
def activation_argument(m, act):
    return np.sum(act(m) * m)


@program(0.5)
def star_call(x):
    args = (x, 2)
    options = {"n": 3}
    return pow_of(*args) + pow_of(x, **options)


@program(0.3, [0.5, -0.2, 0.9])
def pipeline(x, params):
    stages = [lambda t, p: t + p, lambda t, p: t * p, lambda t, p: math.tanh(t - p)]
    for stage, p in zip(stages, params):
        x = stage(x, p)
    return x


@program(0.65, np.array([0.1, 0.4, -0.3]))
def functions_handed_down_a_recursion(x, v):
    def wave(z):
        return math.sin(z) * x

    def repeated(f, z, n):
        return z if n == 0 else repeated(f, f(z), n - 1)

    total = repeated(wave, x, 3) + repeated(lambda z: z * 0.78, wave(x), 2)
    w = v.copy()
    np.subtract.at(w, [1, 0, 0], total)
    return total + w @ w


@program(np.array([1.5, -0.5, 2.0]), [0.3, 1.2, -0.4])
def operators_between_arrays_and_lists(x, y):
    folded = functools.reduce(operator.sub, [x, y, operator.truediv(y, x)])
    (difference,) = map(operator.sub, [x], [y])
    return np.sum(folded * operator.mod(x, [0.7, 0.4, 1.1])) + sum(operator.concat(y, y)) * difference[1] ** 2
