"""Number types of the user's own: trees, quaternions, dual numbers, polynomials, complex numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from programs.registry import program

Value = TypeVar("Value")


# -- the whitepaper's tree: a leaf, or a node with two subtrees, that are added like vectors


@dataclass(frozen=True)
class Leaf(Generic[Value]):
    value: Value

    def __add__(self, other: Tree) -> Tree:
        return add(self, other)


@dataclass(frozen=True)
class Node(Generic[Value]):
    left: Tree
    value: Value
    right: Tree

    def __add__(self, other: Tree) -> Tree:
        return add(self, other)


Tree = Leaf[Value] | Node[Value]


def add(a, b):
    match a, b:
        case Leaf(x), Leaf(y):
            return Leaf(x + y)
        case Leaf(x), Node(left, y, right):
            return Node(left, x + y, right)
        case Node(left, x, right), Leaf(y):
            return Node(left, x + y, right)
        case Node(l0, x, r0), Node(l1, y, r1):
            return Node(add(l0, l1), x + y, add(r0, r1))


def total(tree):
    match tree:
        case Leaf(value):
            return value * value
        case Node(left, value, right):
            return total(left) * 2.0 + math.sin(value) + total(right)


SMALL = Node(Leaf(0.4), 1.1, Leaf(-0.7))
DEEP = Node(Node(Leaf(0.5), -1.3, Leaf(0.8)), 0.2, Node(Leaf(1.4), 0.3, Node(Leaf(0.1), 0.6, Leaf(-0.9))))


@program(SMALL)
def tree_total(tree):
    return total(tree)


@program(DEEP)
def deep_tree_total(tree):
    return total(tree)


@program(Leaf(0.3))
def leaf_total(tree):
    return total(tree)


@program(SMALL, DEEP)
def sum_of_trees(a, b):
    return total(a + b)


@program(Leaf(0.3), SMALL)
def leaf_plus_node(a, b):
    return total(a + b)


@program(SMALL, SMALL)
def tree_as_a_result(a, b):
    return a + b


@program(DEEP, np.array([[0.3, -0.2], [0.5, 0.1]]))
def tree_recursive_network(tree, weight):
    def embed(tree):
        match tree:
            case Leaf(value):
                return np.array([value, 1.0])
            case Node(left, value, right):
                return np.tanh(weight @ (embed(left) + value * embed(right)))

    return np.sum(embed(tree))


# -- quaternions


@dataclass(frozen=True)
class Quaternion:
    w: float
    x: float
    y: float
    z: float

    def __add__(self, other):
        return Quaternion(self.w + other.w, self.x + other.x, self.y + other.y, self.z + other.z)

    def __mul__(self, other):
        if isinstance(other, float):
            return Quaternion(self.w * other, self.x * other, self.y * other, self.z * other)
        return Quaternion(
            self.w * other.w - self.x * other.x - self.y * other.y - self.z * other.z,
            self.w * other.x + self.x * other.w + self.y * other.z - self.z * other.y,
            self.w * other.y - self.x * other.z + self.y * other.w + self.z * other.x,
            self.w * other.z + self.x * other.y - self.y * other.x + self.z * other.w,
        )

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return self * (1.0 / other)

    @property
    def conjugate(self):
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def __abs__(self):
        return math.sqrt(self.w**2 + self.x**2 + self.y**2 + self.z**2)

    def rotate(self, v):
        unit = self / abs(self)
        rotated = unit * Quaternion(0.0, v[0], v[1], v[2]) * unit.conjugate
        return rotated.x, rotated.y, rotated.z

    @classmethod
    def about(cls, axis, angle):
        s = math.sin(angle / 2)
        return cls(math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s)


@program(Quaternion(0.8, -0.2, 0.5, 0.1), (0.3, -1.2, 0.7))
def quaternion_rotation(q, v):
    x, y, z = q.rotate(v)
    return x * y + z


@program(Quaternion(0.8, -0.2, 0.5, 0.1), Quaternion(0.1, 0.9, -0.3, 0.4))
def quaternion_product(p, q):
    return p * q + 0.5 * q


@program(0.7, (0.6, 0.0, 0.8))
def quaternion_by_angle(angle, axis):
    q = Quaternion.about(axis, angle)
    for _ in range(3):
        q = q * q
    return q.w - 2.0 * q.y


# -- dual numbers: derivatives of derivatives by hand


@dataclass
class Dual:
    value: float
    slope: float = 0.0

    def __add__(self, other):
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.slope + other.slope)
        return Dual(self.value + other, self.slope)

    __radd__ = __add__

    def __mul__(self, other):
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)
        return Dual(self.value * other, self.slope * other)

    __rmul__ = __mul__

    def __neg__(self):
        return Dual(-self.value, -self.slope)

    def __sub__(self, other):
        return self + -other

    def sin(self):
        return Dual(math.sin(self.value), math.cos(self.value) * self.slope)


@program(0.6)
def derivative_by_dual_numbers(x):
    def f(t):
        return (t * t + 3.0 * t).sin() * t

    return f(Dual(x, 1.0)).slope


@program(Dual(0.4, 1.0))
def dual_argument(d):
    y = d
    for k in range(4):
        y = y * d + 0.5 * k
    return y


# -- numbers of twice the precision: a sum of two floats, of which the second is the rounding error of the first


@dataclass(frozen=True)
class DoubleDouble:
    high: float
    low: float = 0.0

    def __add__(self, other):
        s = self.high + other.high
        v = s - self.high
        e = (self.high - (s - v)) + (other.high - v) + self.low + other.low
        return DoubleDouble(s + e, e - ((s + e) - s))

    def __mul__(self, other):
        p = self.high * other.high
        e = self.high * other.low + self.low * other.high
        return DoubleDouble(p + e, e - ((p + e) - p))

    def __float__(self):
        return self.high + self.low


@program(1.3, 0.4)
def sum_of_double_precision(x, y):
    total = DoubleDouble(0.0)
    term = DoubleDouble(x)
    for _ in range(5):
        total = total + term
        term = term * DoubleDouble(y)
    return float(total)


@program(DoubleDouble(1.3, 1e-3), DoubleDouble(0.4, -2e-3))
def product_of_double_precision(a, b):
    return a * b + a


# -- polynomials


@dataclass
class Polynomial:
    coefficients: list[float] = field(default_factory=list)

    def __call__(self, x):
        result = 0.0
        for c in reversed(self.coefficients):
            result = result * x + c
        return result

    def __add__(self, other):
        longer, shorter = self.coefficients, other.coefficients
        if len(longer) < len(shorter):
            longer, shorter = shorter, longer
        total = list(longer)
        for k, c in enumerate(shorter):
            total[k] = total[k] + c
        return Polynomial(total)

    def __mul__(self, other):
        product = [0.0] * (len(self.coefficients) + len(other.coefficients) - 1)
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(other.coefficients):
                product[i + j] += a * b
        return Polynomial(product)

    def derivative(self):
        return Polynomial([k * c for k, c in enumerate(self.coefficients)][1:])


P = Polynomial([0.5, -1.0, 2.0])
Q = Polynomial([1.5, 0.7])


@program(P, 1.3)
def polynomial_at_a_point(p, x):
    return p(x)


@program(P, Q, 0.4)
def product_of_polynomials(p, q, x):
    return (p * q + q)(x)


@program(P, Q)
def polynomial_as_a_result(p, q):
    return p * q


@program(P, Q, 0.8)
def derivative_of_a_polynomial(p, q, x):
    return (p * p * q).derivative()(x)


# -- complex numbers of one's own


@dataclass(frozen=True)
class Complex:
    re: float
    im: float = 0.0

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __sub__(self, other):
        return Complex(self.re - other.re, self.im - other.im)

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def __truediv__(self, other):
        size = other.re * other.re + other.im * other.im
        product = self * Complex(other.re, -other.im)
        return Complex(product.re / size, product.im / size)

    def __abs__(self):
        return math.hypot(self.re, self.im)


@program(Complex(0.3, 0.4), Complex(-0.5, 1.2))
def complex_quotient(a, b):
    return (a * a + b) / (a - b)


@program(Complex(-0.4, 0.5))
def escape_of_the_mandelbrot_set(c):
    z = Complex(0.0)
    steps = 0
    while abs(z) < 2.0 and steps < 8:
        z = z * z + c
        steps += 1
    return abs(z)


@program([Complex(1.0, 0.5), Complex(-0.3, 0.2), Complex(0.7, -0.1), Complex(0.2, 0.9)])
def fourier_transform_by_hand(signal):
    n = len(signal)
    spectrum = []
    for k in range(n):
        total = Complex(0.0)
        for t, value in enumerate(signal):
            angle = -2 * math.pi * k * t / n
            total = total + Complex(math.cos(angle), math.sin(angle)) * value
        spectrum.append(total)
    return abs(spectrum[1]) + abs(spectrum[2])
