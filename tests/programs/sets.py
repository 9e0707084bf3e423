"""Sets of names and whole numbers, which decide what is computed."""

import inspect

from programs.registry import program


@program(0.7, 3)
def differences(x, n):
    parameters = {"w": x, "b": x * x, "bias": 2.0 * x}
    total = sum(parameters[name] for name in sorted(set(parameters) - {"bias"}))
    for k in {1, 2, 3} - {n}:
        total += x**k
    return total * sum({1, 2, 3} - {1}) + len(parameters.keys() - {"w"}) * x


@program(0.7, 3)
def operators_and_methods(x, n):
    small = set(range(5))
    small -= {n}
    small.add(9)
    small.discard(0)
    more, others = small | {7}, small ^ {1, 20}
    total = x * (len(small) + max(more) + min(others) + sum(more))
    return total * total * (2.0 if small <= more else 3.0) * (2.0 if {1} < small else 5.0)


@program(0.7, 3)
def seen_before(x, n):
    seen, total = set(), 0.0
    for k in (1, 2, 1, n, 2):
        if k in seen:
            continue
        seen.add(k)
        total += x**k
    return total * len(seen)


def scaled(x, b=1.0, c=1.0):
    return x * b + c


def accepted(function, **named):
    for name in set(named.keys()) - set(inspect.signature(function).parameters):
        named.pop(name)
    return named


@program(0.7)
def arguments_that_a_function_takes(x):
    table = {"b": x, "d": 3.0}
    total = scaled(x, **accepted(scaled, b=x, d=2.0))
    for name in set(table) - set(("d",)):
        total = total * table[name]
    return total + sum(table[name] for name in frozenset(table) & {"d"})
