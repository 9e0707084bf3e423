"""What methods read of their objects: found in their text, or refused with the place."""

import math
import threading

import numpy as np
import pytest

import adjoint as ad
from adjoint.interop.methods import stand_in


class Framework:
    """What a component is derived from: it holds what no compiler should see."""

    def __init__(self):
        self._lock = threading.Lock()
        self.options = {"order": 2, "gain": 3.0, "kind": "plain", "lock": self._lock}
        self.state = {"x": 1.0}

    def solve(self, x):
        return x

    @property
    def depth(self):
        return 2.0 if self._lock else 0.0


class Beam(Framework):
    factor = 0.5

    def __init__(self, length):
        super().__init__()
        self.length = length
        self.shape_of = math.sin
        self.calls, self.__secret = 0.0, 4.0

    def bend(self, load):
        return self.scaled(load) ** self.options["order"] + self.__secret * load

    def scaled(self, load):
        return self.options["gain"] * self.factor * load / self.length

    @property
    def stiffness(self):
        return self.depth * self.length

    @staticmethod
    def twice(x):
        return 2.0 * x

    def mixed(self, load):
        return self.stiffness * self.twice(self.shape_of(load))

    def any_option(self, load):
        total = 0.0
        for name in ("gain", "order"):
            total = total + self.options[name] * load
        return total

    def counted(self, load):
        self.calls = load
        return self.calls * load


def of(beam, name):
    return stand_in(getattr(beam, name), Framework, ("options",), ("state",))


def slope(found, beam, x):
    return ad.grad(lambda x, reads: found.method(found.cls(*reads), x))(x, found.read(beam))


@pytest.mark.parametrize("name", ["bend", "mixed", "counted"])
def test_derivatives_are_those_of_the_method(name):
    beam = Beam(2.0)
    found = of(beam, name)
    for length in (2.0, 5.0):
        beam.length = length
        method = getattr(beam, name)
        expected = (method(0.7 + 1e-6) - method(0.7 - 1e-6)) / 2e-6
        assert slope(found, beam, 0.7) == pytest.approx(expected, rel=1e-8)


def test_only_what_is_read_is_taken():
    found = of(Beam(2.0), "bend")
    assert found.names == ("_Beam__secret", "factor", "length", "options")
    assert found.items == {"options": ("gain", "order")}
    assert of(Beam(2.0), "mixed").names == ("depth", "length")


def test_classes_are_shared():
    """What is compiled is compiled for a class."""
    assert of(Beam(2.0), "bend").cls is of(Beam(3.0), "bend").cls


def test_functions_that_are_exchanged_are_noticed():
    beam = Beam(2.0)
    found = of(beam, "mixed")
    assert found.is_of(beam)
    beam.shape_of = math.cos
    assert not found.is_of(beam)


def helper(beam, x):
    return beam.length * x


class Refused(Beam):
    def whole(self, x):
        return helper(self, x)

    def above(self, x):
        return super().bend(x)

    def own_class(self, x):
        return self.__class__.factor * x

    def solver(self, x):
        return self.solve(x)

    def hidden(self, x):
        return self.state["x"] * x

    @classmethod
    def made(cls, x):
        return x

    def of_class(self, x):
        return self.made(x)

    def deep(self, x):
        return self.whole(x)


@pytest.mark.parametrize(
    "name, line, said",
    [
        ("whole", "helper(self, x)", "'self' is used as a whole"),
        ("deep", "helper(self, x)", "'self' is used as a whole"),
        ("above", "super().bend(x)", "'super' needs the object itself"),
        ("own_class", "self.__class__.factor", "'__class__' is that of the object itself"),
        ("solver", "self.solve(x)", "'solve' is a method of Framework, which reads more of the object"),
        ("hidden", 'self.state["x"]', "'state' holds what varies: take it as an argument"),
        ("of_class", "self.made(x)", "'made' is a class method"),
    ],
)
def test_refusals(name, line, said):
    with pytest.raises(ad.DifferentiationError) as caught:
        of(Refused(2.0), name)
    (problem,) = caught.value.diagnostics
    assert problem.code == "AD0214" and problem.labels[0].text == said
    text = str(caught.value)
    assert line in text and "a method uses more of 'self' than attributes that can be read" in text


def test_all_items_where_the_key_is_not_written():
    beam = Beam(2.0)
    found = of(beam, "any_option")
    assert found.items == {"options": None}
    del beam.options["lock"]
    assert found.read(beam) == ({"order": 2, "gain": 3.0, "kind": "plain"},)
    np.testing.assert_allclose(slope(found, beam, 0.7), 5.0)
