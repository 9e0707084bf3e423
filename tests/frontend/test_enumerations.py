"""Members of enumerations are compared when the program is read."""

from __future__ import annotations

import enum

import adjoint as ad


class Shape(enum.Enum):
    CIRCLE = 0
    RECTANGLE = 1


class Loose(enum.Enum):
    ONE = 1
    TWO = 2

    def __eq__(self, other):
        return True

    __hash__ = enum.Enum.__hash__


class Config:
    def __init__(self, shape):
        self.shape = shape


def area(x, config):
    total = 0.0
    for k in range(3):
        if config.shape == Shape.RECTANGLE:
            total += x * k
        elif config.shape is not Shape.RECTANGLE and config.shape in (Shape.CIRCLE, Shape.RECTANGLE):
            total += 3.0 * x * x
    return total


def test_only_the_branch_that_is_taken_is_left():
    config = Config(Shape.CIRCLE)
    derivative = ad.grad(area)
    assert derivative(2.0, config) == 36.0
    assert " if " not in ad.source(derivative, 2.0, config)
    config.shape = Shape.RECTANGLE
    assert derivative(2.0, config) == 3.0
    assert ad.grad(area, native="strict")(2.0, config) == 3.0


def loosely(x, member):
    return x * x if member == Loose.TWO else x


def test_members_whose_class_says_what_is_equal_are_asked():
    assert ad.grad(loosely)(3.0, Loose.ONE) == 6.0
