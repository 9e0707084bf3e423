"""Structural pattern matching on inactive and active subjects."""

import math
from dataclasses import dataclass

from programs.registry import program


@dataclass
class Circle:
    radius: float


@dataclass
class Rectangle:
    width: float
    height: float


@program(2.0, "square")
@program(2.0, "sin")
@program(2.0, "unknown")
def literal(x, kind):
    match kind:
        case "square":
            return x * x
        case "sin" | "sine":
            return math.sin(x)
        case _:
            return 3.0 * x


@program(2.0, 0)
@program(2.0, 2)
@program(2.0, 7)
def integer_with_or(x, n):
    match n:
        case 0:
            y = x
        case 1 | 2 | 3:
            y = x**n
        case _:
            y = 1.0 / x
    return y * x


@program((2.0, 3.0))
@program((2.0, 3.0, 4.0))
@program((2.0,))
def sequence(p):
    match p:
        case (x,):
            return x * x
        case (x, y):
            return x * y
        case (x, *rest):
            return x * rest[0] * rest[-1]


@program(Circle(2.0))
@program(Rectangle(2.0, 3.0))
def class_pattern(shape):
    match shape:
        case Circle(radius=r):
            return math.pi * r * r
        case Rectangle(w, h):
            return w * h


@program(2.0)
@program(-2.0)
def guard(x):
    match x:
        case v if v > 0:
            return v * v
        case v:
            return -3.0 * v


@program({"kind": "scale", "factor": 2.0}, 3.0)
@program({"kind": "shift", "amount": 2.0}, 3.0)
def mapping(command, x):
    match command:
        case {"kind": "scale", "factor": k}:
            return k * x * x
        case {"kind": "shift", "amount": a}:
            return (x + a) ** 2


@program([("scale", 3.0), {"add": 1.0}, {"mul": 2.0, "a": 0.5, "b": 1.5}, (2.0, 1.0, 4.0)], 2.0)
def rest_of_a_mapping(steps, x):
    for step in steps:
        match step:
            case ("scale", k):
                x *= k
            case {"mul": k, **others}:
                x *= k * sum(others.values()) + len(others)
            case {"add": k, **others} if not others:
                x += k * k
            case [first, *others]:
                x += first * x * sum(others)
    return x


@program([("push", 2.0), ("push", 3.0), ("mul", None), ("push", 1.5), ("add", None)])
def stack_machine(code):
    stack = []
    for instruction in code:
        match instruction:
            case ("push", value):
                stack.append(value)
            case ("add", _):
                b, a = stack.pop(), stack.pop()
                stack.append(a + b)
            case ("mul", _):
                b, a = stack.pop(), stack.pop()
                stack.append(a * b)
    return stack[0] * stack[0]


@program(2.0, (("mul", 3.0), ("add", 1.0), ("square", None)))
def program_as_data(x, steps):
    for step in steps:
        match step:
            case ("mul", k):
                x = x * k
            case ("add", k):
                x = x + k
            case ("square", None):
                x = x * x
    return x


@program(2.0, None)
@program(2.0, 3.0)
def match_none(x, y):
    match y:
        case None:
            return x
        case float() as z:
            return x * z


@program((Circle(1.0), (Rectangle(2.0, 3.0), 0.5)))
def nested_patterns(scene):
    match scene:
        case (Circle(r), (Rectangle(width=w), k)):
            return r * w * k
        case _:
            return 0.0
