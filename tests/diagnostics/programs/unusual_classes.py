"""Classes that change how attributes are looked up or assigned, or how objects are made."""

from functools import cached_property
from types import SimpleNamespace

import adjoint as ad


class LooksUp:
    def __init__(self, size):
        self.size = size

    def __getattribute__(self, name):
        return 2 * object.__getattribute__(self, name)

    def __getattr__(self, name):
        return 0.0


#: ad.grad(looked_up)(1.5)
def looked_up(x):
    return LooksUp(x).size  # error[AD0301]: the class 'LooksUp' defines '__getattribute__' and '__getattr__'


class Doubles(type):
    @staticmethod
    def __call__(size):
        return SimpleNamespace(size=2 * size)


class Made(metaclass=Doubles):
    def __init__(self, size):
        self.size = size


#: ad.grad(made_by_metaclass)(1.5)
def made_by_metaclass(x):
    return Made(x).size  # error[AD0301]: the '__call__' of the metaclass of 'Made' is not a function


class Cached:
    def __init__(self, size):
        self.size = size

    @cached_property
    def area(self):
        return self.size * self.size


#: ad.grad(cached_at_run_time)([1.5, 2.0])
def cached_at_run_time(sizes):
    parts = [Cached(size) for size in sizes]
    total = 0.0
    for part in parts:
        total += part.area  # error[AD0301]: whether 'area', a cached property, was computed before is not known
    return total


#: ad.grad(keys_read_back)(1.5)
def keys_read_back(x):
    table = {x: 1.0, 2 * x: 3.0}
    return sum(table.keys()) * x  # error[AD0307]: keys of this dict vary, and are read back here


#: ad.grad(number_as_a_fraction)(1.5)
def number_as_a_fraction(x):
    above, below = (x * x).as_integer_ratio()  # error[AD0201]: the body of 'as_integer_ratio' is not visible here
    return above / below


class Blank:
    pass


#: ad.grad(copied_without_an_attribute)([1.0, 2.0])
def copied_without_an_attribute(x):
    import copy

    blanks = [Blank() for _ in x]
    for blank, v in zip(blanks, x):
        blank.size = v
    return sum(copy.copy(blank).size for blank in blanks)  # error[AD0303]: an object is copied that may lack 'size', which is assigned after it is made
