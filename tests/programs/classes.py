"""Plain classes: constructors, methods, properties, inheritance, operators, state."""

import math

import numpy as np

from programs.registry import program


class Counter:
    def __init__(self, start):
        self.total = start
        self.steps = 0

    def add(self, amount):
        self.total = self.total + amount
        self.steps += 1

    def mean(self):
        return self.total / self.steps


class Complex:
    def __init__(self, re, im=0.0):
        self.re = re
        self.im = im

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def __neg__(self):
        return Complex(-self.re, -self.im)

    def norm_squared(self):
        return self.re * self.re + self.im * self.im


class Quaternion:
    __slots__ = ("w", "x", "y", "z")

    def __init__(self, w, x, y, z):
        self.w, self.x, self.y, self.z = w, x, y, z

    @classmethod
    def from_axis_angle(cls, axis, angle):
        s = math.sin(0.5 * angle)
        return cls(math.cos(0.5 * angle), axis[0] * s, axis[1] * s, axis[2] * s)

    def __mul__(self, o):
        return Quaternion(
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        )

    def conjugate(self):
        return Quaternion(self.w, -self.x, -self.y, -self.z)


class Shape:
    scale = 2.0

    def area(self):
        return 0.0

    def scaled(self):
        return self.area() * self.scale


class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return math.pi * self.radius**2


class Ring(Circle):
    scale = 3.0

    def __init__(self, radius, hole):
        super().__init__(radius)
        self.hole = hole

    def area(self):
        return super().area() - math.pi * self.hole**2


class Temperature:
    def __init__(self, celsius):
        self._celsius = celsius

    @property
    def kelvin(self):
        return self._celsius + 273.15

    @kelvin.setter
    def kelvin(self, value):
        self._celsius = value - 273.15

    @staticmethod
    def energy(t):
        return t**4


class Affine:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return self.w * x + self.b


class Chain:
    def __init__(self, *layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = coefficients

    def __call__(self, x):
        y = 0.0
        for c in reversed(self.coefficients):
            y = y * x + c
        return y

    def derivative(self):
        return Polynomial([i * c for i, c in enumerate(self.coefficients)][1:])

    def __len__(self):
        return len(self.coefficients)

    def __getitem__(self, i):
        return self.coefficients[i]


class Activated:
    def __init__(self, w, act):
        self.w = w
        self.act = act

    def forward(self, x):
        return self.act(self.w * x)


@program(2.0)
def constructed_and_read(x):
    c = Complex(x, x * x)
    return c.re * c.im


@program(2.0, 3.0)
def operators(x, y):
    z = Complex(x, y)
    w = z * z + -z
    return (w * z).norm_squared()


@program(0.3, 0.4)
def mandelbrot_escape(a, b):
    c = Complex(a, b)
    z = Complex(0.0)
    for _ in range(6):
        z = z * z + c
        if z.norm_squared() > 4.0:
            break
    return z.norm_squared()


@program(2.0)
def attribute_assigned(x):
    c = Complex(x, 1.0)
    c.re = c.re * c.im + x
    c.im = c.re * x
    return c.re * c.im


@program(2.0)
def attribute_augmented(x):
    c = Complex(x, 1.0)
    c.re *= x
    c.im += c.re
    return c.im * c.re


@program(2.0)
def stateful_object(x):
    c = Counter(x)
    for i in range(4):
        c.add(x * i)
    return c.mean() * c.total


@program(0.7, (0.6, 0.0, 0.8))
def quaternion_rotation(angle, axis):
    q = Quaternion.from_axis_angle(axis, angle)
    v = Quaternion(0.0, 1.0, 2.0, 3.0)
    r = q * v * q.conjugate()
    return r.x, r.y, r.z


@program(1.5)
def inherited(r):
    return Circle(r).scaled() * Circle(r).area()


@program(1.5, 0.5)
def overridden_with_super(r, hole):
    return Ring(r, hole).scaled()


@program(1.5, 0.5)
def list_of_objects(r, hole):
    total = 0.0
    for shape in [Circle(r), Ring(r, hole), Circle(hole)]:
        total += shape.scaled()
    return total


@program(1.5, 0.5)
@program(0.5, 1.5)
def class_chosen_by_branch(r, hole):
    shape = Ring(r, hole) if r > hole else Circle(r)
    return shape.scaled() if isinstance(shape, Ring) else shape.area()


@program(20.0)
def property_getter_and_setter(t):
    temperature = Temperature(t)
    temperature.kelvin = temperature.kelvin * 1.1
    return temperature.kelvin * 0.01 + t * t * 1e-3


@program(2.0)
def static_method(t):
    return Temperature.energy(t) + Temperature(t).energy(0.5 * t)


@program(0.5)
def callable_object(x):
    layer = Affine(x, 1.0)
    return layer(x) * layer(2.0)


@program(0.5, 0.3)
def chain_of_callables(w, x):
    model = Chain(Affine(w, 1.0), math.tanh, Affine(2.0, w))
    return model(x)


@program([1.0, -2.0, 0.5], 0.7)
def polynomial_and_derivative(cs, x):
    p = Polynomial(cs)
    return p(x) * p.derivative()(x) + p[1] * len(p)


@program(Affine(0.5, -0.2), 0.3)
def object_argument(layer, x):
    return layer(x) * layer.w


@program(Chain(Affine(0.5, -0.2), Affine(1.5, 0.1)), 0.3)
def nested_object_argument(model, x):
    return model(x) ** 2 + model.layers[0].b


@program(Polynomial([1.0, -2.0, 0.5]), 0.3)
def object_with_list_argument(p, x):
    return p(x) * p.coefficients[0]


@program(Quaternion(0.5, 0.1, -0.4, 1.0))
def slots_argument(q):
    r = q * q
    return r.w * r.x + r.y


@program(Activated(0.7, math.tanh), 0.3)
@program(Activated(0.7, lambda t: t * t), 0.3)
def function_in_field(cell, x):
    return cell.forward(x) * cell.w


@program(Complex(1.0, 2.0))
def method_by_name(z):
    f = z.norm_squared
    return f() * z.re


@program(Counter(2.0), 3.0)
def argument_object_changed(counter, x):
    counter.add(x * counter.total)
    counter.add(x)
    return counter.total * counter.mean()


@program(2.0)
def object_alias(x):
    a = Complex(x, x)
    b = a
    b.re = x * x
    return a.re * b.im


@program(2.0)
def object_in_object(x):
    outer = Affine(Complex(x, 1.0), x)
    outer.w.re = outer.w.re * outer.b
    inner = outer.w
    inner.im = inner.re + x
    return outer.w.im * outer.w.re


@program(2.0)
def objects_in_a_growing_list(x):
    numbers = []
    for i in range(4):
        numbers.append(Complex(x * i, x))
    total = Complex(0.0)
    for z in numbers:
        total = total + z * z
    return total.norm_squared()


@program(2.0, 1.0)
def returns_object(x, y):
    return Complex(x * y, x + y)


@program(2.0)
def getattr_and_setattr(x):
    z = Complex(x, 1.0)
    setattr(z, "im", x * x)
    return getattr(z, "re") * getattr(z, "im")


@program(Affine(np.array([0.5, 1.0]), np.array([0.1, -0.3])), lambda rng: rng.normal(size=2))
def arrays_in_object(layer, x):
    return np.sum(layer(x) ** 2)


class Factor:
    def __init__(self, factor):
        self.factor = factor

    def value(self, x):
        return self.factor * x**2


class WithDefault(Factor):
    def __init__(self, factor=None):
        if factor is None:
            factor = 3.0
        super().__init__(factor)

    def value(self, x):
        total = 0.0
        for i in range(3):
            total = total + x * i
        return super().value(total)


@program(0.7)
def reached_by_super_alone(x):
    return WithDefault().value(x) * WithDefault(x).value(2.0)
