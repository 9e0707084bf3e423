"""Code that is not differentiated: strings, printing, configuration, counters."""

import configparser
import csv
import io
import math
import os
import time
from enum import Enum

import numpy as np

from programs.registry import program


class Method(Enum):
    EULER = 1
    MIDPOINT = 2


def report(message, *values):
    return f"{message}: {values}"


@program(2.0)
def f_string(x):
    label = f"x={x:.3f}"
    return x * x * len(label[:3])


@program(2.0)
def printing(x):
    print("value", x, end="")
    return x * x


@program(2.0, {"steps": 3, "verbose": False, "name": "run-1"})
def configuration(x, config):
    for step in range(config["steps"]):
        x = x * 1.1
        if config["verbose"]:
            print(step, x)
    if config["name"].startswith("run"):
        x = x * x
    return x


@program(2.0)
def counters(x):
    hits = 0
    for i in range(6):
        x = math.sin(x) + 1.0
        if x > 1.5:
            hits += 1
    return x * hits


@program(2.0)
def history_of_strings(x):
    log = []
    for i in range(3):
        x = x * 1.5
        log.append(f"{i}: {x}")
    return x * len(log)


@program(2.0)
def call_with_message(x):
    report("here", x)
    text = report("again", x, x * x)
    return x * (2.0 if text.startswith("again") else 1.0)


@program(2.0, Method.EULER)
@program(2.0, Method.MIDPOINT)
def enumeration(y, method):
    for _ in range(3):
        if method is Method.EULER:
            y = y - 0.1 * y
        else:
            y = y - 0.1 * (y - 0.05 * y)
    return y


@program(2.0)
def sets_and_membership(x):
    seen = set()
    total = 0.0
    for i in [1, 2, 2, 3, 1]:
        if i in seen:
            continue
        seen.add(i)
        total += x**i
    return total


@program(2.0)
def integer_arithmetic(x):
    n = 17
    bits = 0
    while n:
        bits += n & 1
        n >>= 1
    return x**bits + x * (7 % 4) + x * (-7 // 2)


@program(2.0)
def string_table(x):
    table = {"a": 1, "b": 2}
    total = 0.0
    for letter in "abba":
        total += table[letter] * x
    return total * x


@program(2.0)
def library_calls(x):
    started = time.perf_counter()
    separator = os.path.join("a", "b")
    y = x * x * len(separator)
    elapsed = time.perf_counter() - started
    return y if elapsed >= 0 else x


@program(2.0)
def random_numbers(x):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=3)
    return np.sum(x * noise + x * x)


@program(2.0)
def docstring_and_annotations(x: float) -> float:
    """Has a docstring, annotations and an inner import."""
    import math as m

    y: float = m.sin(x)
    z: float
    z = y * x
    return z


@program(2.0)
def delete(x):
    y = x * x
    z = y * x
    del y
    return z


@program(lambda rng: rng.normal(size=3))
def shape_strings(x):
    if x.dtype == np.float64 and x.ndim == 1:
        return np.sum(x) * x.shape[0]
    raise TypeError(f"bad array {x.dtype}")


@program(2.0)
def isinstance_checks(x):
    if isinstance(x, float) and not isinstance(x, str):
        return x * x
    return x


@program(2.0, 3)
def integer_argument(x, n):
    return x**n * n + float(n) / x


@program(2.0, (1, 2, 3), "abc", None, True)
def mixed_inactive_arguments(x, shape, name, nothing, flag):
    y = x * shape[1] if flag else x
    if nothing is None:
        y = y * len(name)
    return y * y


@program(2.0)
def global_statement(x):
    return _scale() * x


def _scale():
    return 3.0


SETTINGS = configparser.ConfigParser()
SETTINGS.read_string("[model]\nscale = 2.5\n")


@program(1.3)
def settings_of_files_and_of_the_environment(x):
    scale = SETTINGS.getfloat("model", "scale") + float(SETTINGS["model"]["scale"])
    if "PATH" in os.environ:
        scale += float(os.environ.get("NOT_IN_THE_ENVIRONMENT", "2"))
    return scale * x * x


@program(1.3)
def text_in_memory(x):
    lines = io.StringIO("1.5,2\n")
    first, _ = next(csv.reader(lines))
    written = io.StringIO()
    print("abc", file=written)
    return float(first) * x * x * len(written.getvalue())
