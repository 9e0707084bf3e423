"""What a try body wrote before the exception stays written: to arrays, lists, dicts, objects, variables."""

import contextlib
import math
import warnings

import numpy as np

from programs.registry import program


@program(lambda rng: np.array([1.3, 0.4, -0.7, 2.0]))
@program(lambda rng: np.array([1.3, 0.4, 0.7, 2.0]))
def array_filled_until_it_fails(x):
    y = np.zeros(4)
    try:
        for i in range(4):
            y[i] = math.log(x[i]) * x[0]
    except ValueError:
        y[3] = 2.0 * x[3]
    return np.sum(y * y * x)


@program(1.3)
@program(-1.3)
def written_before_and_after(x):
    a = np.array([x, 2.0 * x, x * x])
    try:
        a[0] = x * a[1]
        a[1] = math.sqrt(x) * a[0]
        a[2] = a[0] * a[1]
    except ValueError:
        a[2] += a[0]
    return a[0] * a[1] + a[2]


@program(0.8)
def list_that_grows(x):
    values = [x]
    try:
        while True:
            values.append(math.sqrt(values[-1] - 0.2) * x)
    except ValueError:
        pass
    total = 0.0
    for i in range(len(values)):
        total += values[i] * (i + 1.0) * x
    return total


@program(1.3)
@program(-1.3)
def variables_as_they_were(x):
    y = x
    n = 0
    try:
        y = y * x
        n = 1
        y = y * math.log(x)
        n = 2
        y = y + math.log(x - 0.5)
        n = 3
    except ValueError:
        y = y * 3.0
    return y * x * (n + 1)


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.log = []

    def draw(self, amount):
        self.balance = self.balance - amount
        self.log.append(amount)
        if self.balance < 0.0:
            raise ValueError("overdrawn")
        self.balance = self.balance * 0.9


@program(2.0, 0.7)
def object_changed_by_a_method(x, y):
    account = Account(x)
    overdrawn = 0
    for i in range(5):
        try:
            account.draw(y * (i + 1.0))
        except ValueError:
            overdrawn += 1
            account.balance = account.balance * account.balance + x
    return account.balance * x + sum(account.log) * overdrawn


@program(1.3)
@program(-1.3)
def dict_and_nonlocal(x):
    seen = {"a": x, "b": 1.0}
    y = x

    def step():
        nonlocal y
        y = y * x
        seen["a"] = seen["a"] * y
        seen["b"] = math.log(x)

    try:
        step()
        step()
    except ValueError:
        seen["b"] = y
    return seen["a"] * seen["b"] * y


@program(lambda rng: np.array([1.3, 0.4, -0.7, 2.0]))
def handled_in_each_iteration(x):
    y = x.copy()
    s = 0.0
    for i in range(4):
        try:
            y[i] = y[i] * y[i - 1]
            s += math.sqrt(y[i])
            y[i] = y[i] * s
        except ValueError:
            y[i] = y[i] * y[i]
            s = s * 2.0
    return s + np.sum(y * x)


@program(lambda rng: np.array([1.3, 0.4, -0.7, 2.0]))
def loops_that_keep_values_and_fail(x):
    s = x[0]
    total = 0.0
    for i in range(4):
        try:
            for j in range(4):
                s = s * x[j] + 1.0
                total += math.sin(s) * math.sqrt(x[(i + j) % 4])
        except ValueError:
            s = s * x[i]
            total = total * 0.5 + s
    return total * s


@program(1.3)
@program(-1.3)
@program(0.3)
def nested(x):
    a = [x, x * x]
    try:
        a[0] = a[0] * 2.0
        try:
            a[1] = a[1] * a[0]
            y = math.log(x)
            a[0] = a[0] * y
            a[1] = a[1] + math.sqrt(x - 0.5)
        except ValueError:
            a[0] = a[0] + x
            if x < 0.0:
                raise
            a[1] = a[1] / (x - 0.2)
        a[0] = a[0] * a[1]
    except ZeroDivisionError:
        a[0] = a[0] * 5.0
    except ValueError:
        a[1] = a[1] * 7.0
    return a[0] * a[1] * x


@program(1.3)
@program(-1.3)
def with_finally(x):
    a = np.array([x, 1.0])
    try:
        try:
            a[0] *= x
            a[1] = math.log(x)
        finally:
            a[0] *= 2.0
        a[1] *= a[0]
    except ValueError:
        a[1] = a[0]
    return a[0] * a[1]


@program(1.3)
@program(-1.3)
def with_else(x):
    a = [x, x]
    try:
        a[0] = x * x
        y = math.log(x)
    except ValueError:
        y = a[0]
    else:
        a[1] = a[0] * y
    return a[0] * a[1] * y


@program(1.3)
@program(-1.3)
def leaves_the_function(x):
    a = [x]
    for i in range(3):
        try:
            a[0] = a[0] * x
            if a[0] > 2.0:
                return a[0] * math.log(x)
            a[0] = a[0] + math.log(x)
        except ValueError:
            a[0] = a[0] * 0.5
            if i == 1:
                break
    return a[0] * x


class Doubling:
    def __init__(self, memory):
        self.memory = memory

    def __enter__(self):
        self.memory[0] = self.memory[0] * 2.0
        return self

    def __exit__(self, kind, problem, traceback):
        self.memory[1] = self.memory[1] * self.memory[0]


@program(1.3)
@program(-1.3)
def context_manager_inside(x):
    a = [x, x * x]
    try:
        with Doubling(a):
            a[0] = a[0] * x
            a[1] = a[1] + math.log(x)
    except ValueError:
        a[0] = a[0] + a[1]
    return a[0] * a[1]


@program(1.3)
@program(-1.3)
def suppressed(x):
    y = x
    a = np.array([x, x])
    with contextlib.suppress(ValueError, ZeroDivisionError):
        y = x * x
        a[0] = y
        a[1] = math.log(x)
        y = a[1] * y
    return y * a[0] * a[1]


@program(1.3)
@program(-1.3)
def value_that_nobody_reads(x):
    k = 1.0
    try:
        math.log(x)
    except ValueError:
        k = 2.0
    return x * k


@program(1.3)
@program(-1.3)
def writes_stay_behind_what_raises(x):
    a = [x, x]
    try:
        y = math.log(x)
        a[0] = 3.0 * x
        z = y + 1.0
        a[1] = z * y
    except ValueError:
        a[1] = a[0] * x
    return a[0] * a[1]


@program(lambda rng: np.array([2.0, 3.0, 5.0]), 7)
@program(lambda rng: np.array([2.0, 3.0, 5.0]), 1)
def store_that_fails(x, k):
    y = x * x
    try:
        y[0] = y[1] * x[0]
        y[k] = y[0] * 2.0
        y[2] = y[1]
    except IndexError:
        y[1] = y[0] * y[2]
    return np.sum(y * y)


@program(lambda rng: rng.normal(size=(3, 3)))
@program(lambda rng: 0.1 * rng.normal(size=(3, 3)))
def workspace(x):
    w = np.eye(3)
    try:
        w[0] = x[0] * 2.0
        w += np.linalg.cholesky(x @ x.T - 0.5 * np.eye(3))
        w[1] *= w[0]
    except np.linalg.LinAlgError:
        w[1] = w[0] + x[1]
    return np.sum(w * w)


@program(1.3)
@program(-1.3)
def view_of_an_array(x):
    a = np.array([x, x * x, 1.0, 2.0])
    half = a[:2]
    try:
        half *= x
        a[2:] = half * math.log(x)
    except ValueError:
        half += a[2:]
    return np.sum(a * a * half[0])


@program(lambda rng: np.array([2.0, 3.0, 5.0]))
@program(lambda rng: np.array([1.5, 3.0, 5.0]))
def chosen_by_exception(x):
    y = np.empty(3)
    for i in range(3):
        try:
            y[i] = math.sqrt(x[i] - 1.9)
        except ValueError:
            y[i] = x[i] * x[0]
    return y[0] * y[1] * y[2]


@program(lambda rng: np.array([0.3, 0.8, 0.7]))
@program(lambda rng: np.array([0.3, 0.8, 0.4]))
def in_a_context(x):
    w = np.zeros(3)
    try:
        with np.errstate(all="raise"):
            w[0] = x[0] * x[0]
            w[1] = x[1] * np.sqrt(x[2] - 0.5)
            w[2] = x[1] * w[0]
    except FloatingPointError:
        w[2] = w[0] * 2.0 + x[2]
    return np.sum(w * w)


@program(lambda rng: np.array([0.3, 0.8, 0.7]))
def in_a_context_of_a_loop(x):
    y, total = x * 1.0, 0.0
    for i in range(3):
        try:
            with warnings.catch_warnings(record=True):
                warnings.simplefilter("error")
                s = np.arcsin(y * 0.9)
            s[i] = y[0]
        except RuntimeWarning:
            s = np.cos(y)
        y = y + s * s
        total = total + np.sum(y * s)
    return total
