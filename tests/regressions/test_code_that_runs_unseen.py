"""Code of the user's that runs where nobody looks: handlers, hooks, callbacks, methods by which objects are looked at.

The derivative is right, or the function is refused. Before, what such code wrote counted as a constant.
"""

from __future__ import annotations

import bisect
import concurrent.futures
import contextlib
import contextvars
import copy
import ctypes
import gc
import heapq
import io
import itertools
import json
import logging
import pickle
import re
import sys
import types
import warnings
import weakref

import numpy as np
import pytest

import adjoint as ad

memory = [0.0, 0.0]
"""The first is written by what nobody looks into, of what is handed to it or of the second."""
table = {"a": 0.0}
row = np.zeros(2)
box = types.SimpleNamespace(v=0.0)
total = 0.0


def keep(value):
    memory[0] = value * value
    return value


def keep_in_table(value):
    table["a"] = value * value


def keep_in_row(value):
    row[0] = value * value


def keep_in_box(value):
    box.v = value * value


def keep_in_variable(value):
    global total
    total = value * value


def carry_over(*args, **kwargs):
    memory[0] = memory[1] ** 2
    return "a"


class Handler(logging.Handler):
    def emit(self, record):
        memory[0] = record.args[0]


class Carrying(logging.Handler):
    def emit(self, record):
        carry_over()


class Filter(logging.Filter):
    def filter(self, record):
        memory[0] = record.args[0]
        return False


class Formatter(logging.Formatter):
    def format(self, record):
        memory[0] = record.args[0]
        return ""


class Keeper(logging.Handler):
    def __init__(self):
        super().__init__()
        self.values = [0.0]

    def emit(self, record):
        self.values[0] = record.args[0]


class Sink(io.StringIO):
    def write(self, text):
        carry_over()
        return super().write(text)


def logger(name, handler=None, filter=None):
    made = logging.getLogger(f"adjoint.tests.unseen.{name}")
    made.propagate = False
    made.setLevel(logging.DEBUG)
    made.handlers = [handler or logging.StreamHandler(io.StringIO())]
    made.filters = [filter] if filter else []
    return made


keeper = Keeper()
formatting = logging.StreamHandler(io.StringIO())
formatting.setFormatter(Formatter())
handled, carried = logger("handled", Handler()), logger("carried", Carrying())
filtered, kept = logger("filtered", filter=Filter()), logger("kept", keeper)
formatted = logger("formatted", formatting)
quiet = logger("quiet")
sink = Sink()
pool = concurrent.futures.ThreadPoolExecutor(1)
in_c = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(keep)
elementwise = np.frompyfunc(keep, 1, 1)


def by_a_handler(x):
    handled.info("%s", x * x)
    return x + memory[0]


def by_a_handler_that_is_handed_nothing(x):
    memory[1] = x
    carried.info("here")
    return x + memory[0]


def by_a_filter(x):
    filtered.info("%s", x * x)
    return x + memory[0]


def by_a_formatter(x):
    formatted.info("%s", x * x)
    return x + memory[0]


def by_a_handler_that_keeps_it(x):
    kept.info("%s", x * x)
    return x + keeper.values[0]


def by_a_warning(x):
    memory[1] = x
    warnings.warn("here")
    return x + memory[0]


def by_a_replacement(x):
    memory[1] = x
    re.sub("b", carry_over, "b")
    return x + memory[0]


def by_a_file(x):
    memory[1] = x
    print("here", file=sink)
    return x + memory[0]


def by_a_pool(x):
    pool.submit(keep, x).result()
    return x + memory[0]


def by_a_map_of_a_pool(x):
    list(pool.map(keep, [x]))
    return x + memory[0]


def by_a_pool_into_a_table(x):
    pool.submit(keep_in_table, x).result()
    return x + table["a"]


def by_a_pool_into_an_array(x):
    pool.submit(keep_in_row, x).result()
    return x + row[0]


def by_a_pool_into_an_object(x):
    pool.submit(keep_in_box, x).result()
    return x + box.v


def by_a_pool_into_a_variable(x):
    pool.submit(keep_in_variable, x).result()
    return x + total


class Held:
    def __init__(self, v):
        self.v = v
        self.w = 0.0


def default(held):
    memory[0] = held.v**2
    return 1


def by_json(x):
    json.dumps(Held(x), default=default)
    return x + memory[0]


def by_a_context(x):
    contextvars.copy_context().run(keep, x)
    return x + memory[0]


def by_an_exit(x):
    with contextlib.ExitStack() as stack:
        stack.callback(keep, x)
    return x + memory[0]


def by_a_finalizer(x):
    held = Held(x)
    weakref.finalize(held, keep, x)
    del held
    gc.collect()
    return x + memory[0]


def by_a_key_of_bisect(x):
    bisect.bisect([x, x], x, key=keep)
    return x + memory[0]


def by_a_function_made_for_arrays(x):
    elementwise(np.array([x]))
    return x + memory[0]


def by_c(x):
    in_c(x)
    return x + memory[0]


class Deleted:
    def __init__(self, v):
        self.v = v

    def __del__(self):
        memory[0] = self.v**2


def by_deletion(x):
    held = Deleted(x)
    del held
    return x + memory[0]


def by_what_python_models(x):
    """Handed to what is lowered: right."""
    heapq.nsmallest(1, [x, x], key=keep)
    sorted([x, x], key=keep)
    any(map(keep, [x]))
    list(itertools.starmap(keep, [(x,)]))
    return x + memory[0]


class Text:
    """An object that changes whenever somebody looks at it."""

    def __init__(self, v):
        self.v = v
        self.w = 0.0

    def look(self):
        self.w = self.v**2
        memory[0] = self.v**2

    def __str__(self):
        self.look()
        return "text"

    __repr__ = __str__

    def __format__(self, spec):
        return str(self)

    def __eq__(self, other):
        self.look()
        return self is other

    def __hash__(self):
        self.look()
        return 5

    def __lt__(self, other):
        self.look()
        return self.v < other.v

    def __index__(self):
        self.look()
        return 1

    def __next__(self):
        self.look()
        raise StopIteration

    def __iter__(self):
        return self

    def __reduce__(self):
        self.look()
        return (Text, (1.0,))

    def __fspath__(self):
        self.look()
        return "a"

    def __bytes__(self):
        self.look()
        return b""


LOOKS = {
    "print": lambda t: print(t, file=io.StringIO()),
    "str": str,
    "repr": repr,
    "format": format,
    "format, of a form": lambda t: format(t, ">8"),
    "f-string": lambda t: f"{t}",
    "f-string, by repr": lambda t: f"{t!r}",
    "%": lambda t: "%s" % t,  # noqa: UP031
    "% of a tuple": lambda t: "%s %s" % (t, 1),  # noqa: UP031
    "str.format": lambda t: "{}".format(t),  # noqa: UP032
    "str.format_map": lambda t: "{a}".format_map({"a": t}),
    "str of a list": lambda t: str([t]),
    "str of a dict": lambda t: str({"a": t}),
    "join of strs": lambda t: "".join(map(str, [t])),
    "join": lambda t: ",".join(t),
    "index": lambda t: [1, 2][t],
    "set": lambda t: {t, Text(2.0)},
    "set, by a list": lambda t: set([t, Text(2.0)]),
    "update of a set": lambda t: set().update(t),
    "dict": lambda t: {t: 1, 2: 2},
    "bisect": lambda t: bisect.bisect([Text(2.0)], t),
    "bytes": bytes,
    "sorted": lambda t: sorted([t, Text(2.0)]),
    "min": lambda t: min([t, Text(2.0)]),
    "in": lambda t: t in [Text(2.0)],
    "pickle": pickle.dumps,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "log": lambda t: quiet.info("%s", t),
    "sizeof": sys.getsizeof,
}


def looked_at(look):
    def f(x):
        held = Text(x)
        look(held)
        return x + held.w + memory[0] * memory[1]

    return f


WRITERS = [f for name, f in globals().items() if name.startswith("by_")]


def right_or_refused(f):
    old = warnings.showwarning
    try:
        warnings.showwarning = carry_over
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = carry_over
            for derivative in (lambda x: ad.jvp(f, (x,), (1.0,))[1], ad.grad(f)):
                memory[:], table["a"], row[0], box.v, keeper.values[0] = [0.0, 0.0], 0.0, 0.0, 0.0, 0.0
                try:
                    found = derivative(1.3)
                except ad.DifferentiationError as refusal:
                    assert all(problem.code != "AD0901" for problem in refusal.diagnostics), refusal
                    continue
                expected = difference(f)
                assert found == pytest.approx(expected, rel=1e-5), found
    finally:
        warnings.showwarning = old


def difference(f, x=1.3, h=1e-6):
    ends = []
    for at in (x + h, x - h):
        memory[:] = [0.0, 0.0]
        ends.append(f(at))
    return (ends[0] - ends[1]) / (2 * h)


@pytest.mark.parametrize("f", WRITERS, ids=lambda f: f.__name__)
def test_what_runs_unseen(f):
    right_or_refused(f)


@pytest.mark.parametrize("look", LOOKS)
def test_objects_that_change_when_they_are_looked_at(look):
    right_or_refused(looked_at(LOOKS[look]))


def test_the_refusal_says_what_runs():
    with pytest.raises(ad.DifferentiationError, match=r"'info' may run 'Handler.emit'"):
        ad.grad(by_a_handler)(1.3)


def test_texts_that_are_written_once():
    class Point:
        def __init__(self, v):
            self.v = v
            self.text = None

        def __str__(self):
            if self.text is None:
                self.text = f"at {self.v}"
            return self.text

    def f(x):
        point = Point(x)
        return len(str(point)[:2]) * point.v**2 + len(f"{point}"[:1])

    assert ad.grad(f)(1.3) == pytest.approx(5.2)


# -- what is right stays right

settings = {"slope": 2.0}
history: list[float] = []


class Reporting(logging.Handler):
    """Reads settings, and keeps lines of its own."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{settings['slope']} {record.getMessage()}")


reporting = logger("reporting", Reporting())


class Point:
    def __init__(self, v):
        self.v = v

    def __repr__(self):
        return f"Point({self.v!r}, {settings['slope']})"


def logs(x):
    quiet.info("%s", x)
    return settings["slope"] * x * x


def reports(x):
    reporting.info("at %s", x)
    history.append(x)
    return 2.0 * x * x


def prints(x):
    point = Point(x)
    print(point, f"{point!r}", [point], file=io.StringIO())
    return settings["slope"] * point.v**2


def warns(x):
    if x < 0:
        warnings.warn("negative", stacklevel=2)
    return settings["slope"] * x * x


@pytest.mark.parametrize("f", [logs, reports, prints, warns], ids=lambda f: f.__name__)
def test_what_only_looks_is_no_obstacle(f):
    assert ad.grad(f)(1.3) == pytest.approx(5.2)
    assert ad.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(5.2)


def test_a_handler_that_is_added_later():
    log = logger("later")

    def f(x):
        log.info("%s", x * x)
        return x + memory[0]

    assert ad.grad(f)(1.3) == 1.0
    log.addHandler(Handler())
    with pytest.raises(ad.DifferentiationError, match=r"Handler\.emit"):
        ad.grad(f)(1.3)
