"""Values of one of several structures, where a call or a statement needs one."""

import enum

import numpy as np

from programs.registry import program

ARRAY = np.array([0.3, 0.2, 0.4])


@program(ARRAY, 1.5)
@program(ARRAY, 0.5)
def argument_by_name(a, k):
    start = np._NoValue if k > 1 else 0.1
    return np.sum(np.diff(a, prepend=start) ** 2)


@program(0.7, 1.5)
@program(0.7, 0.5)
def display_of_it(x, k):
    extra = None if k > 1 else x
    pair = np.array([x, 2.0 if extra is None else extra])
    text = f"{extra} and {[extra]}"
    return np.sum(pair) * x if "None" in text else np.prod(pair)


@program(ARRAY, 1.5)
@program(ARRAY, 0.5)
def bound_of_a_slice(a, k):
    stop = None if k > 1 else 2
    total = np.sum(a[:stop] ** 2)
    return total * 2.0 if stop is None else total


@program(0.7, 1.5)
@program(0.7, 0.5)
def condition_of_it(x, k):
    weights = (x, 2.0) if k > 1 else None
    total = x
    while np.all(np.isfinite([1.0 if weights is None else weights[0]])) and total < 2.0:
        total = total * 1.5 + (0.0 if weights is None else weights[1] * x)
    return total


@program(0.7, 1.5)
@program(0.7, 0.5)
def returned_by_a_call(x, k):
    def found():
        return (x, x * x) if k > 1 else x * 3.0

    return np.sum(np.sin(np.asarray(found())))


class Step(enum.Enum):
    ADD = 1
    MULTIPLY = 2

    def apply(self, a, b):
        return a + b if self is Step.ADD else a * b


@program(0.7, 4)
def member_by_a_value_known_at_run_time(x, n):
    total = x
    for i in range(n):
        total = Step(1 + i % 2).apply(total, 1.0 + x)
    return total
