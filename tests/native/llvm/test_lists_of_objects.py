"""Lists into which objects are put, and numbers beside texts: neither keeps a program from being machine code."""

from __future__ import annotations

import bisect
import math
import warnings

import numpy as np

import adjoint as ad


class Spline:
    """A curve through points, which has no value elsewhere."""

    def __init__(self, x, y):
        h = np.diff(x)
        self.a, self.b, self.x = list(y), [], x
        self.c = np.linalg.solve(np.eye(len(x)) * 2.0, self.sides(h, x, self.a))
        for i in range(len(x) - 1):
            self.b.append((self.a[i + 1] - self.a[i]) / h[i] - self.c[i])

    def sides(self, h, x, a):
        sides = np.zeros(len(x))
        for i in range(len(x) - 2):
            sides[i + 1] = a[i + 1] * h[i]
        return sides

    def at(self, t):
        if t < self.x[0] or t > self.x[-1]:
            return None
        i = bisect.bisect(self.x, t) - 1
        d = t - self.x[i]
        return self.a[i] + self.b[i] * d + self.c[i] * d**2

    def slope(self, t):
        if t < self.x[0]:
            return None
        elif t > self.x[-1]:
            return None
        i = bisect.bisect(self.x, t) - 1
        return self.b[i] + 2 * self.c[i] * (t - self.x[i])


class Course:
    def __init__(self, x, y):
        self.s = self.places(x, y)
        self.x, self.y = Spline(self.s, x), Spline(self.s, y)

    def places(self, x, y):
        s = [0]
        s.extend(np.cumsum(np.hypot(np.diff(x), np.diff(y))))
        return s

    def at(self, t):
        return self.x.at(t), self.y.at(t)

    def yaw(self, t):
        dx, dy = self.x.slope(t), self.y.slope(t)
        return math.atan2(dy, dx)

    def bend(self, t):
        dx, dy = self.x.slope(t), self.y.slope(t)
        return (dx - dy) / (dx**2 + dy**2) ** 1.5


def sums_along_a_course(x, y):
    course = Course(x, y)
    xs, ys, yaws, bends = [], [], [], []
    for t in np.arange(0, course.s[-1], 0.4):
        a, b = course.at(t)
        xs.append(a)
        ys.append(b)
        yaws.append(course.yaw(t))
        bends.append(course.bend(t))
    return sum(xs) + sum(a * a for a in ys) + sum(yaws) + sum(k * k for k in bends[1:-1])


def powers_beside_texts(x, order):
    total = 0.0
    for value in x:
        total += value * value if value == "fro" else value * 3.0
        if value != None:  # noqa: E711
            total += value
    return total + np.linalg.norm(x, order)


def same(function, *args, wrt=0):
    expected = ad.grad(function, wrt)(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ad.grad(function, wrt, native=True)(*args)
    for one, other in zip(np.atleast_2d(found), np.atleast_2d(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    return expected


def test_lists_into_which_objects_are_put():
    x, y = np.array([0.0, 1.0, 2.5]), np.array([0.1, 0.5, 0.8])
    step, along = 1e-6, np.array([0.3, -0.7, 0.2])
    ends = [sums_along_a_course(x, y + sign * step * along) for sign in (1, -1)]
    _, found = same(sums_along_a_course, x, y, wrt=(0, 1))
    np.testing.assert_allclose(found @ along, (ends[0] - ends[1]) / (2 * step), rtol=1e-6)


def test_numbers_beside_texts():
    x = np.array([1.0, -2.0, 0.5])
    for order in (2.0, np.inf):
        same(powers_beside_texts, x, order)
    np.testing.assert_allclose(ad.grad(powers_beside_texts)(x, np.inf), [4.0, 3.0, 4.0])
