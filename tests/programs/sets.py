"""Sets of names and whole numbers, which decide what is computed."""

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
