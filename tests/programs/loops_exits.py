"""break, continue, else and return inside loops, at any depth; try, finally and with."""

import contextlib
import math

import numpy as np

from programs.registry import program


@program(0.9)
def with_break(x):
    for i in range(10):
        x = x * 1.3
        if x > 2.0:
            break
    return x


@program(0.9)
def with_continue(x):
    total = 0.0
    for i in range(6):
        if i % 2 == 0:
            continue
        total += x**i
    return total


@program(0.9)
@program(3.0)
def continue_on_value(x):
    total = 0.0
    for i in range(6):
        x = x * 0.8
        if x > 1.0:
            continue
        total += x * x
    return total


@program(0.9)
@program(0.1)
def return_from_loop(x):
    for i in range(5):
        x = x * 1.5
        if x > 2.0:
            return x * i
    return x * x


@program(np.array([0.5, -0.3, 0.8, 2.0]))
@program(np.array([0.5, 0.3, 0.8, 2.0]))
def first_negative(x):
    for i in range(len(x)):
        if x[i] < 0:
            return x[i] * x[0]
    return x[-1] ** 2


@program(0.9)
@program(0.1)
def loop_else(x):
    for i in range(4):
        x = x * 1.4
        if x > 2.0:
            break
    else:
        x = math.sin(x)
    return x * 2.0


@program(0.4)
def break_and_continue(x):
    total = x
    for i in range(20):
        if i % 3 == 1:
            continue
        total = total * 1.2 + x
        if total > 5.0:
            break
        total -= 0.1 * i * x
    return total


@program(0.4)
@program(4.0)
def return_from_nested_loops(x):
    total = 0.0
    for i in range(5):
        for j in range(4):
            total += x * i * j
            if total > 8.0:
                return total * x
        total *= 1.1
    return total


@program(0.4)
def break_inner_only(x):
    total = 0.0
    for i in range(4):
        y = x
        for j in range(10):
            y = y * 1.5
            if y > 2.0 + i:
                break
        total += y
    return total


@program(0.4)
def flag_breaks_both(x):
    done = False
    total = 0.0
    for i in range(4):
        for j in range(4):
            total += x * (i + j)
            if total > 3.0:
                done = True
                break
        if done:
            break
    return total


@program(0.4)
def inner_else_continue(x):
    for i in range(2, 8):
        for d in range(2, i):
            if i % d == 0:
                break
        else:
            x = x * i * 0.5
            continue
        x = x + 0.1
    return x


@program(0.4)
def return_in_while_in_for(x):
    for i in range(3):
        y = x
        while y < 3.0:
            y = y * 2.0 + i
            if y > 2.5 and i == 2:
                return y * x
        x = x + 0.1 * y
    return x


@program(0.4)
def nothing_after_break(x):
    for i in range(10):
        break
    return x * i + x


@program(0.4)
def assigned_before_break(x):
    y = 1.0
    for i in range(5):
        y = x * i
        if i == 3:
            y = y * y
            break
        y = 0.0
    return y


@program(0.4)
def try_finally(x):
    try:
        y = x * x
    finally:
        z = 3.0
    return y * z


@program(0.4)
def finally_with_return(x):
    log = []
    for i in range(3):
        try:
            x = x * 1.5
            if x > 0.8:
                return x * x
        finally:
            log.append(i)
    return x


@program(0.4)
def with_statement(x):
    with contextlib.nullcontext():
        y = x * x
    return y * x


@program(0.4)
def with_errstate(x):
    with np.errstate(all="ignore"):
        y = x * x
        if y > 0.1:
            return y * 3.0
    return y


@program(0.4)
def inactive_try_except(x):
    config = {"scale": 2.0}
    try:
        scale = config["size"]
    except KeyError:
        scale = 3.0
    return x * scale


@program(2.0)
@program(0.5)
def guard_raise_in_loop(x):
    for i in range(3):
        if x > 1e6:
            raise OverflowError("diverged")
        x = x * x + 0.1
    return x


@program(np.array([0.1, 0.7, 0.2, 0.4]))
def running_maximum(x):
    best = x[0]
    for i in range(1, len(x)):
        if x[i] > best:
            best = x[i]
        else:
            continue
    return best * best


@program(0.3)
def pass_statement(x):
    for i in range(3):
        if i == 1:
            pass
        else:
            x = x * 2.0
    return x


@program(0.7)
def finally_reads_what_the_body_binds(x):
    try:
        x = x * x
        y = math.sin(x)
    finally:
        z = y + x
        if x > 1.0:
            z = z * 2.0
    return z * x


@program(0.7)
def finally_in_a_loop_binds_what_nothing_reads(x):
    for _ in range(3):
        try:
            x = x * x + 0.1
        finally:
            v = x * 2.0  # noqa: F841
    return x
