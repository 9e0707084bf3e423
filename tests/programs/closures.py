"""Nested functions, captured variables, nonlocal, late binding, lambdas."""

import math

from programs.registry import program


@program(1.5)
def local_function(x):
    def square(t):
        return t * t

    return square(x) + square(2.0 * x)


@program(1.5, 0.5)
def captures(x, y):
    def scaled(t):
        return t * y

    return scaled(x) * scaled(y)


@program(1.5, 0.5)
def captures_local(x, y):
    z = x * y

    def inner():
        return z * z + x

    return inner() * 2.0


@program(1.5)
def lambda_in_variable(x):
    square = lambda t: t * t
    return square(x) * square(square(x))


@program(1.5)
def lambda_called_at_once(x):
    return (lambda t, u: t * u)(x, x + 1.0)


@program(1.5)
def lambda_default(x):
    f = lambda t, s=x * x: t * s
    return f(2.0) + f(x)


def make_adder(amount):
    def add(t):
        return t + amount

    return add


def make_multiplier(factor):
    return lambda t: t * factor


def compose(f, g):
    return lambda t: f(g(t))


@program(1.5, 0.5)
def function_returned(x, y):
    add = make_adder(x * y)
    return add(x) * add(y)


@program(1.5, 0.5)
def composed(x, y):
    h = compose(make_adder(y), make_multiplier(x))
    return h(x) * h(y)


@program(1.5)
def composed_in_a_loop(x):
    f = math.sin
    for _ in range(3):
        f = compose(f, make_multiplier(1.1))
    return f(x)


@program(1.5)
def nonlocal_counter(x):
    total = 0.0

    def add(t):
        nonlocal total
        total += t * t

    add(x)
    add(2.0 * x)
    return total * x


@program(1.5)
def nonlocal_in_loop(x):
    state = x

    def step(k):
        nonlocal state
        state = state * 0.5 + k * x

    for i in range(4):
        step(i)
    return state * state


@program(1.5)
def late_binding(x):
    scale = 2.0

    def f(t):
        return t * scale

    a = f(x)
    scale = x
    return a + f(x)


@program(1.5)
def late_binding_in_list(x):
    fs = [lambda t: t * i for i in range(3)]
    return sum(f(x) for f in fs)


@program(1.5)
def early_binding_in_list(x):
    fs = [lambda t, i=i: t**i for i in range(4)]
    return sum(f(x) for f in fs)


@program(1.5)
def deep_nesting(x):
    def outer(a):
        def middle(b):
            def inner(c):
                return a * b * c + x

            return inner(b * 2.0)

        return middle(a + 1.0)

    return outer(x)


@program(1.5)
def closure_in_loop(x):
    total = 0.0
    for i in range(4):

        def term(t):
            return t ** (i + 1) * x

        total += term(0.5 * x)
    return total


@program(1.5)
def closure_in_branch(x):
    if x > 1.0:

        def f(t):
            return t * t

    else:

        def f(t):
            return -t

    return f(x) * x


@program(1.5)
def lambda_chosen_by_ternary(x):
    f = (lambda t: t * t) if x > 1.0 else (lambda t: t)
    return f(x)


@program(1.5, "sin")
@program(1.5, "square")
def lambda_from_dict(x, name):
    table = {"sin": math.sin, "square": lambda t: t * t}
    return table[name](x) * x


@program(1.5)
def callback_with_capture(x):
    def apply_twice(f, t):
        return f(f(t))

    return apply_twice(lambda t: t * x + 1.0, 2.0)


@program(1.5)
def closure_returns_closures(x):
    def pair(a):
        return (lambda t: t + a), (lambda t: t * a)

    add, mul = pair(x * x)
    return mul(add(x))


captured_constant = 3.0


@program(1.5)
def captured_module_value(x):
    f = lambda t: t * captured_constant
    return f(x) * x


def outer_factory(k):
    offset = k * 0.5

    def g(x):
        return (x + offset) ** 2

    return g


program(1.5)(outer_factory(3.0))
program(1.5)(lambda x: x * x + math.sin(x))
