"""A derivative is declared of a function that writes something outside of itself: programs that read it are refused."""

import functools
import operator
from typing import ClassVar

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.6, -0.4])


class Layer:
    made = 0
    table: ClassVar[dict[str, float]] = {}

    def __init__(self):
        self.calls, self.ready, self.w, self.parts = 0, False, np.ones(2), {"k": 1.0}

    def note(self):
        self.calls += 1

    @classmethod
    def note_class(cls):
        cls.made += 1

    @staticmethod
    def note_by_name():
        Layer.made += 1


class Counted:
    made = 0

    def __init__(self):
        Counted.made += 1


class Derived(Layer):
    pass


LAYER, OTHER, DERIVED, LAYERS = Layer(), Layer(), Derived(), [Layer(), Layer()]
STATE, ITEMS, COUNT, LOG = {"n": 0, "inner": {"k": 0}}, [0.5], 0, []
BUFFER = np.zeros(2)
VIEW = BUFFER[1:]


def _state():
    return STATE


def _note_in(state):
    state["n"] += 1


def _note():
    STATE["n"] += 1


@functools.lru_cache
def _note_once():
    STATE["n"] += 1


def _through_an_alias():
    state = STATE
    state["n"] = 3


def _each_layer():
    for layer in LAYERS:
        layer.calls += 1


def _by_its_name():
    globals()["COUNT"] = 3


def _own():
    _own.calls += 1


_own.calls = 0
WRITING = {
    "an item": (lambda: operator.setitem(STATE, "n", 1), lambda: STATE["n"]),
    "a helper": (_note, lambda: STATE["n"]),
    "a helper that remembers": (_note_once, lambda: STATE["n"]),
    "what a helper is given": (lambda: _note_in(STATE), lambda: STATE["n"]),
    "what a helper returns": (lambda: _note_in(_state()), lambda: STATE["n"]),
    "an alias": (_through_an_alias, lambda: STATE["n"]),
    "a method of dicts": (lambda: STATE.update(n=7), lambda: STATE.get("n")),
    "a dict in a dict": (lambda: STATE["inner"].update(k=1), lambda: STATE["inner"]["k"]),
    "how many items": (lambda: ITEMS.append(1.0), lambda: len(ITEMS)),
    "an attribute": (lambda: setattr(LAYER, "calls", 5), lambda: LAYER.calls),
    "by a method": (lambda: LAYER.note(), lambda: LAYER.calls),
    "a flag": (lambda: setattr(LAYER, "ready", True), lambda: 2.0 if LAYER.ready else 1.0),
    "by a partial function": (functools.partial(Layer.note, LAYER), lambda: LAYER.calls),
    "the names of an object": (lambda: vars(LAYER).update(calls=3), lambda: LAYER.calls),
    "a container of an object": (lambda: LAYER.parts.update(k=2.0), lambda: LAYER.parts["k"]),
    "an array of an object": (lambda: LAYER.w.fill(2.0), lambda: np.sum(LAYER.w)),
    "objects in a list": (_each_layer, lambda: LAYERS[1].calls),
    "an array of an object in a list": (lambda: LAYERS[0].w.fill(1.0), lambda: LAYERS[0].w[0]),
    "a class": (lambda: Layer.note_class(), lambda: Layer.made),
    "a class, by an object": (lambda: LAYER.note_class(), lambda: LAYER.made),
    "a class, by its name": (lambda: Layer.note_by_name(), lambda: LAYER.made),
    "a class, by its constructor": (lambda: Counted(), lambda: Counted.made),
    "the class of an object": (lambda: setattr(type(LAYER), "made", 5), lambda: LAYER.made),
    "a derived class": (lambda: setattr(Derived, "made", 5), lambda: DERIVED.made),
    "an item of a class": (lambda: Layer.table.update(a=1.0), lambda: len(LAYER.table)),
    "an attribute of a function": (_own, lambda: _own.calls),
    "an array by its view": (lambda: VIEW.fill(2.0), lambda: np.sum(BUFFER)),
    "a view by its array": (lambda: np.copyto(BUFFER, 3.0), lambda: np.sum(VIEW)),
    "out": (lambda: np.add(BUFFER, 1.0, out=BUFFER), lambda: np.sum(BUFFER)),
    "a variable by its name": (_by_its_name, lambda: COUNT),
}


@pytest.mark.parametrize("name", WRITING)
def test_read_or_not(name) -> None:
    writing, reading = WRITING[name]

    def function(x):
        writing()
        return np.sum(x)

    ad.derivative_of(function)(lambda x: (function(x), lambda ct: ct * np.ones(2)))

    def after(x):
        total = function(x)
        return total * reading()

    for derivative in (ad.grad(after), lambda x: ad.jvp(after, (x,), (X,))):
        with pytest.raises(ad.DifferentiationError, match="which this program reads"):
            derivative(X)
    assert np.allclose(ad.grad(lambda x: function(x) * np.sum(OTHER.w * x))(X), 2.0 * np.sum(X))


def test_read_before_in_the_next_round() -> None:
    def function(x):
        LAYER.calls += 1
        return np.sum(x)

    ad.derivative_of(function)(lambda x: (function(x), lambda ct: ct * np.ones(2)))

    def program(x):
        total = 0.0
        for _ in range(3):
            total += LAYER.calls * np.sum(x)
            total += function(x)
        return total

    with pytest.raises(ad.DifferentiationError, match="which this program reads"):
        ad.grad(program)(X)


def test_other_attributes_of_the_object_and_what_is_only_written() -> None:
    def function(x):
        OTHER.calls += 1
        LOG.append("function")
        return np.sum(x)

    ad.derivative_of(function)(lambda x: (function(x), lambda ct: ct * np.ones(2)))

    def program(x):
        LOG.append("program")
        return function(x) * np.sum(OTHER.w * x)

    LOG.clear()
    before = OTHER.calls
    assert np.allclose(ad.grad(program)(X), 2.0 * np.sum(X))
    assert (OTHER.calls, LOG) == (before + 1, ["program", "function"])


class Scaled:
    factor = 1.0


SCALED = Scaled()


def scaled(x) -> float:
    return x * SCALED.factor


@ad.derivative_of(scaled)
def _(x):
    return scaled(x), lambda ct: ct * SCALED.factor


@pytest.mark.parametrize("native", [False, True])
def test_what_the_program_writes_is_there_when_the_function_reads_it(native) -> None:
    def program(x, c):
        SCALED.factor = c
        first = scaled(x)
        SCALED.factor = 2.0 * c
        return first + scaled(x)

    assert ad.value_and_grad(program, native=native)(3.0, 5.0) == (45.0, 15.0)


TABLE, VALUES, ARRAY, PLAIN = {"k": 1.0}, [1.0], np.ones(2), 1.0


def _assign_plain(x):
    global PLAIN
    PLAIN = 2.0 * x


def _factor():
    return TABLE["k"]


READING = {
    "a dict": (lambda x: operator.setitem(TABLE, "k", 2.0 * x), lambda: TABLE["k"]),
    "by a helper": (lambda x: operator.setitem(TABLE, "k", 2.0 * x), _factor),
    "a list": (lambda x: operator.setitem(VALUES, 0, 2.0 * x), lambda: VALUES[0]),
    "an array": (lambda x: operator.setitem(ARRAY, 0, 2.0 * x), lambda: ARRAY[0]),
    "an array by a view": (lambda x: operator.setitem(ARRAY[:1], 0, 2.0 * x), lambda: ARRAY[0]),
    "an attribute": (lambda x: setattr(SCALED, "factor", 2.0 * x), lambda: SCALED.factor),
    "an attribute of a class": (lambda x: setattr(Scaled, "factor", 2.0 * x), lambda: Scaled.factor),
    "a variable": (_assign_plain, lambda: PLAIN),
}


@pytest.mark.parametrize("name", READING)
def test_what_it_reads_varies(name) -> None:
    writing, reading = READING[name]

    def function(x):
        return x * reading()

    ad.derivative_of(function)(lambda x: (function(x), lambda ct: ct * reading()))

    def program(x):
        writing(x)
        return function(x)

    def constant(x):
        writing(2.5)
        return function(x)

    for derivative in (ad.grad(program), lambda x: ad.jvp(program, (x,), (1.0,)), ad.grad(program, native=True)):
        with pytest.raises(ad.DifferentiationError, match="which it reads, varies"):
            derivative(3.0)
    assert ad.grad(constant)(3.0) == 5.0
