import operator

import numpy as np

from adjoint.ir.nodes import (
    UNDEFINED,
    Attribute,
    Block,
    Branch,
    Const,
    Continue,
    Exit,
    Function,
    Guarded,
    Handler,
    Loop,
    Raise,
    Range,
    Return,
    Slice,
    Subscript,
    Var,
    Yield,
)
from adjoint.ir.printer import format_function
from adjoint.ir.types import BOOL, FLOAT, INT
from ir.building import build, choose, vector


def test_names_are_unique_and_in_order_of_definition():
    def write(b, x):
        first = b.call(operator.mul, x, Const(2.0), hint="x")
        second = b.call(np.sin, first, hint="x")
        return b.call(max, first, second)

    assert format_function(build(write, FLOAT)) == (
        "function f(%x):\n  %x.1 = mul(%x, 2.0)\n  %x.2 = numpy.sin(%x.1)\n  %t = max(%x.1, %x.2)\n  return %t"
    )


def test_types_are_optional():
    function = build(lambda b, x: x, vector(written=True))
    assert format_function(function, types=True) == "function f(%x: buffer[float64, (:)]):\n  return %x"


def test_keys_and_stores():
    def write(b, a, i):
        part = b.load(a, Subscript((Slice(Const(1), Const(None), Const(None)), i), tupled=True), FLOAT)
        b.store(a, Subscript((i,), tupled=True), part, "add_at")
        b.store(a, None, part, "sub")
        b.store(a, Attribute("name"), Const(None))
        return part

    lines = format_function(build(write, vector(), INT)).splitlines()
    assert lines[1:-1] == ["  %t = %x[1:, %y]", "  %x[%y,] +=@ %t", "  %x[...] -= %t", "  %x.name = None"]


def test_constructs():
    x, i, p, r, left, c = (
        Var("x", FLOAT),
        Var("i", INT),
        Var("p", FLOAT),
        Var("r", FLOAT),
        Var("left", INT),
        Var("c", BOOL),
    )
    ends = Branch(c, Block((), Exit(1, (UNDEFINED,))), Block((), Continue((p,))))
    loop = Loop(Range(Const(0), Const(3), Const(1), True), i, (p,), (x,), Block((), ends), (r,), left)
    error = Var("error", FLOAT)
    handler = Handler(Const(ValueError), error, Block((), Raise(None)))
    guarded = Guarded(None, None, Block((), Yield()), (handler,), Block((), Yield()))
    function = Function("f", (x, c), Block((loop, guarded), Return((r,))))
    assert (
        format_function(function)
        == """\
function f(%x, %c):
  for %i in reversed range(0, 3, 1) with %p = %x:
    branch %c:
      exit 1: undefined
    else:
      continue %p
  -> %r by %left
  try:
    yield
  except ValueError as %error:
    raise
  finally:
    yield
  return %r"""
    )


def test_choice_and_constants_without_addresses():
    def write(b, c):
        return choose(b, c, lambda b: Const(float("nan")), lambda b: b.call(operator.add, Const(object()), Const((1,))))

    text = format_function(build(write, BOOL))
    assert "yield nan" in text and "add(<object>, (1,))" in text and "0x" not in text
