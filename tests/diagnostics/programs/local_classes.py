"""Classes inside functions that cannot be made before the function runs, or whose objects leave it."""

import abc
import functools
from dataclasses import dataclass

import adjoint as ad


#: ad.grad(metaclass)(2.0)
def metaclass(x):
    class Settings(metaclass=type):  # error[AD0301]: the class 'Settings' has a metaclass or options
        scale = 3.0

    return Settings.scale * x


#: ad.grad(made_in_a_loop)(2.0)
def made_in_a_loop(x):
    s = 0.0
    for i in range(3):

        class Scaled:  # error[AD0301]: the class 'Scaled' is made anew in each iteration
            def value(self):
                return x * i

        s += Scaled().value()
    return s


#: ad.grad(decorated)(2.0)
def decorated(x):
    @functools.total_ordering  # error[AD0301]: a class in a function can have no decorator but 'dataclass'
    class Point:
        def __lt__(self, other):
            return x < 1.0

    return x if Point() < Point() else -x


#: ad.grad(enumerated)(2.0)
def enumerated(x):
    from enum import Enum

    class Kind(Enum):  # error[AD0301]: the class 'Enum' has a metaclass
        ONE = 1

    return x * Kind.ONE.value


class Registered:
    known = []

    def __init_subclass__(cls):
        Registered.known.append(cls)


#: ad.grad(registered)(2.0)
def registered(x):
    class Model(Registered):  # error[AD0301]: the class 'Registered' runs code of its own where it is inherited from
        w = 2.0

    return Model.w * x


#: ad.grad(computed_in_the_body)(2.0)
def computed_in_the_body(x):
    class Table:
        entries = [2.0 * i for i in range(3)]  # error[AD0301]: this is not supported in the body of a class

    return Table.entries[1] * x


#: ad.grad(conditional_body)(2.0)
def conditional_body(x):
    class Model:
        if x > 1.0:  # error[AD0301]: in a class inside a function only functions and assignments to names can stand
            w = 2.0

    return Model.w * x


#: ad.grad(printed)(2.0)
def printed(x):
    @dataclass
    class Point:
        a: float

    print(Point(x))  # error[AD0301]: an object or a method of the class 'Point', defined inside the function, is handed out
    return x


#: ad.grad(printed_at_run_time)(2.0)
def printed_at_run_time(x):
    @dataclass
    class Point:
        a: float

    points = []
    for _ in range(3):
        points.append(Point(x))
    print(points)  # error[AD0301]: an object or a method of the class 'Point', defined inside the function, is handed out
    return x


#: ad.vjp(returned, 2.0)  # error[AD0301]: an object or a method of the class 'Point', defined inside the function, is handed out
def returned(x):
    @dataclass
    class Point:
        a: float

    return Point(x)


#: ad.grad(failing)(2.0)
def failing(x):
    class Failure(Exception):  # error[AD0301]: an exception with methods is defined here
        def __str__(self):
            return "failed"

    if x > 3.0:
        raise Failure
    return x


#: ad.grad(gathered)(2.0)
def gathered(x):
    points = []
    for i in range(4):
        points.append(made(x, i))
    return sum(point.value() for point in points)


def made(x, k):
    class Point:
        def value(self):
            return x * k

    return Point()  # error[AD0402]: an object of the class 'Point' must exist at run time


#: ad.grad(impossible)(2.0)
def impossible(x):
    @dataclass(frozen=True)
    class Base:
        a: float

    @dataclass
    class Derived(Base):  # error[AD0203]: this class cannot be made: cannot inherit non-frozen dataclass from a frozen one
        b: float

    return x


#: ad.grad(attribute_of_the_class)(2.0)
def attribute_of_the_class(x):
    class Settings:
        scale = 1.0

    Settings.scale = x
    Settings.shift = x  # error[AD0311]: the class 'Settings' gets the attribute 'shift' here
    return Settings.scale
