"""Attributes that may be missing, are computed once, are set by name, or have no place in ``__slots__``."""

import inspect
from functools import cached_property

import numpy as np

from programs.registry import program


class Part:
    pass


class Measured:
    def __init__(self, size):
        self.size = size
        self.reads = 0

    @cached_property
    def area(self):
        self.reads += 1
        return self.size * self.size


class Scaled:
    @property
    def size(self):
        return 2 * self._size

    @size.setter
    def size(self, value):
        self._size = 3 * value


class Narrow:
    __slots__ = ("size",)

    def __init__(self, size):
        self.size = size


@program(0.5)
@program(1.5)
def asked_whether_it_is_there(x):
    part = Part()
    if x > 1:
        part.size = 2 * x
    return x if hasattr(part, "size") else 5 * x


@program(0.5)
@program(1.5)
def taken_if_it_is_there(x):
    part = Part()
    if x > 1:
        part.size = x * x
    return getattr(part, "size", 5 * x) * x


@program(0.5)
@program(1.5)
def missed_and_handled(x):
    part = Part()
    if x > 1:
        part.size = x * x
    try:
        return part.size
    except AttributeError:
        return 3 * x


@program(0.5)
@program(1.5)
def looked_at_and_not_used(x):
    part = Part()
    if x > 1:
        part.size = 2 * x
    try:
        part.size
        return x * x
    except AttributeError:
        return 3 * x


@program(np.array([1.1, 2.2, 3.3]))
def remembered_from_one_round_to_the_next(x):
    part, total = Part(), 0.0
    for v in x:
        total += getattr(part, "last", v) * v
        if v > 1.5:
            part.last = v * v
    return total


@program(1.5)
def computed_once(x):
    part = Measured(x)
    first = part.area
    part.size = 10 * x
    return first * part.area + part.reads * part.size


@program(Measured(1.5))
def computed_once_for_an_argument(part):
    first = part.area
    part.size = part.size * 2
    return first * part.area * part.size


@program(1.5)
def properties_set_by_name(x):
    part = Scaled()
    setattr(part, "size", x)
    object.__setattr__(part, "size", part.size * x)
    return part.size


@program(1.5)
def no_place_for_it(x):
    part = Narrow(x)
    try:
        part.other = 1.0
    except AttributeError:
        part.size *= 3
    return part.size * x


@program(1.5)
def table_of_results_by_number(x):
    table = {}

    def cubed(v):
        if v not in table:
            table[v] = v * v * v
        return table[v]

    return cubed(x) + cubed(2 * x) * cubed(x)


class Once:
    """A property that becomes an attribute of the object when it is read first."""

    def __init__(self, getter):
        self.getter, self.name = getter, getter.__name__

    def __get__(self, owner, cls=None):
        if owner is None:
            return self
        value = self.getter(owner)
        setattr(owner, self.name, value)
        return value


class Squared:
    def __init__(self, x):
        self.x = x

    @Once
    def square(self):
        return self.x**2


@program(0.7)
def descriptor_of_its_own(x):
    point = Squared(x)
    before = point.square
    point.x = 2.0 * x
    return before * point.square + point.x


class Rescaled:
    """A descriptor that keeps what is assigned under another name."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, self.name)

    def __set__(self, instance, value):
        if value < -100.0:
            raise ValueError("too small")
        setattr(instance, self.name, 3.0 * value * value)


class Computed:
    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner):
        return self.function(instance)


class Block:
    size = Rescaled()
    squared = Computed(lambda block: block._size**2)

    def __init__(self, size):
        self.size = size


@program(1.3)
def assigned_through_descriptors(x):
    block = Block(x)
    block.size = block.size * 2.0
    block.size *= x
    return block.squared * 1e-6 + block.size


@program(np.array([0.3, 0.5]))
def descriptors_of_objects_at_run_time(x):
    total = 0.0
    for block in [Block(v) for v in x]:
        block.size = block.squared
        total += block.size * block.squared
    return total


class Doubling:
    """Assigns all attributes by a method of its own."""

    def __init__(self, x):
        self.x = x
        self.total = 0.0

    def __setattr__(self, name, value):
        if name == "x":
            super().__setattr__("square", value * value)
        object.__setattr__(self, name, 2.0 * value)


@program(0.6)
def assigned_by_the_class(x):
    doubling = Doubling(x)
    doubling.x = doubling.square * doubling.x
    doubling.total += doubling.x
    setattr(doubling, "total", doubling.total * x)
    return doubling.x * doubling.square + doubling.total


TAGS = {"p": 2.0}


class Wrapped:
    tags = TAGS

    def __init__(self, inner):
        self._inner = inner

    def __getattribute__(self, name):
        def get(name):
            return object.__getattribute__(self, name)

        try:
            return get(name)
        except AttributeError:
            pass
        value = getattr(get("_inner"), name)
        factor = self.tags.get(name)
        return value if factor is None else value * factor

    def both(self):
        return self.p + self._inner.q


class Inner:
    def __init__(self, p, q):
        self.p, self.q = p, q

    def times(self, y):
        return self.p * y


class TwiceByName:
    def __init__(self, v):
        self.v = v

    def __getattribute__(self, name):
        if name.startswith("twice_"):
            return super().__getattribute__(name[6:]) * 2.0
        return super().__getattribute__(name)


@program(0.6, -0.7)
def looked_up_by_the_class(x, y):
    wrapped = Wrapped(Inner(x * y, y))
    found = wrapped.p + wrapped.q**2 * x + wrapped.times(x) + wrapped.both()
    return (
        found * getattr(wrapped, "missing", y) * (1.0 if hasattr(wrapped, "q") and not hasattr(wrapped, "r") else 3.0)
    )


@program(np.array([0.6, -0.7, 1.2]))
def looked_up_by_parts_of_names(x):
    one, several = TwiceByName(x[1]), [TwiceByName(v) for v in x]
    for v in x:
        one.v = one.twice_v * v
    for each in several[1:]:
        each.v = each.v**2
    return one.v + sum([each.twice_v for each in several])


class Held:
    def __init__(self, a):
        self.held = {"a": a}

    def __getattr__(self, name):
        try:
            return self.__dict__["held"][name]
        except KeyError:
            raise AttributeError(name) from None


@program(0.6, -0.7)
def asked_whether_another_method_finds_it(x, y):
    held = Held(x)
    return (held.a if hasattr(held, "a") else 3.0) * y + getattr(held, "a", y) ** 2 + getattr(held, "b", y)


class Deletable:
    def __init__(self, **named):
        self.__dict__.update(named)

    @property
    def first(self):
        return self.a

    @first.deleter
    def first(self):
        self.a = 5.0


@program(0.6, -0.7)
def deleted(x, y):
    part = Deletable(a=x, b=y)
    for i in range(3):
        part.kept = part.a * (x + i)
        part.b = part.b * part.kept + 1.0
        del part.kept
    del part.first
    try:
        del part.kept
    except AttributeError:
        part.b *= x
    return part.a * part.b * (2.0 if hasattr(part, "kept") else 1.0)


class Normalized:
    def __init__(self, exponents, weights):
        self.exponents = exponents
        self.weights = weights
        self.norm = None
        self.normalize()

    def normalize(self):
        self.norm = np.sqrt(self.exponents)
        total = 0.0
        for i in range(len(self.exponents)):
            total += self.norm[i] * self.weights[i]
        for i in range(len(self.exponents)):
            self.weights[i] *= total


def overlap(a, b):
    total = 0.0
    for i, x in enumerate(a.weights):
        for j, y in enumerate(b.weights):
            total += a.norm[i] * b.norm[j] * x * y * a.exponents[i]
    return total


@program(1.1, np.array([3.4, 0.6, 0.17]))
def arrays_in_objects_of_a_list(x, exponents):
    """No object has its arrays from the start, and which of the objects is asked is known at run time."""
    functions = [Normalized(exponents, [0.1, 0.2, 0.3]), Normalized(exponents * x, [0.3, 0.4, 0.5])]
    overlaps = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            overlaps[i, j] = overlap(functions[i], functions[j])
    return np.sum(overlaps)


class Estimator:
    def __init__(self, scale, shift=None, power=2.0):
        self.scale, self.shift, self.power = scale, shift, power

    def told(self):
        names = inspect.getfullargspec(self.__init__)[0]
        names.pop(0)
        return {name: self.__getattribute__(name) for name in names}

    def signed(self):
        described = inspect.signature(self.__init__).parameters.values()
        return {one.name: getattr(self, one.name) for one in described if one.kind != one.VAR_KEYWORD}


@program(0.6, -0.7)
def named_by_its_constructor(x, y):
    """As the estimators of many libraries list their parameters."""
    estimator = Estimator(x, shift=y)
    told, signed = estimator.told(), estimator.signed()
    return told["scale"] ** 2 * signed["shift"] + sum(told.values()) * signed["power"]
