import operator

import numpy as np

from adjoint import ir
from adjoint.ir.printer import format_function
from ir.building import build, choose, vector


def test_names_are_unique_and_in_order_of_definition():
    def write(b, x):
        first = b.call(operator.mul, x, ir.Const(2.0), hint="x")
        second = b.call(np.sin, first, hint="x")
        return b.call(max, first, second)

    assert format_function(build(write, ir.FLOAT)) == (
        "function f(%x):\n  %x.1 = mul(%x, 2.0)\n  %x.2 = numpy.sin(%x.1)\n  %t = max(%x.1, %x.2)\n  return %t"
    )


def test_types_are_optional():
    function = build(lambda b, x: x, vector(written=True))
    assert format_function(function, types=True) == "function f(%x: buffer[float64, (:)]):\n  return %x"


def test_keys_and_stores():
    def write(b, a, i):
        part = b.load(
            a, ir.Subscript((ir.Slice(ir.Const(1), ir.Const(None), ir.Const(None)), i), tupled=True), ir.FLOAT
        )
        b.store(a, ir.Subscript((i,), tupled=True), part, "add_at")
        b.store(a, None, part, "sub")
        b.store(a, ir.Attribute("name"), ir.Const(None))
        return part

    lines = format_function(build(write, vector(), ir.INT)).splitlines()
    assert lines[1:-1] == ["  %t = %x[1:, %y]", "  %x[%y,] +=@ %t", "  %x[...] -= %t", "  %x.name = None"]


def test_constructs():
    x, i, p, r, left, c = (
        ir.Var("x", ir.FLOAT),
        ir.Var("i", ir.INT),
        ir.Var("p", ir.FLOAT),
        ir.Var("r", ir.FLOAT),
        ir.Var("left", ir.INT),
        ir.Var("c", ir.BOOL),
    )
    ends = ir.Branch(c, ir.Block((), ir.Exit(1, (ir.UNDEFINED,))), ir.Block((), ir.Continue((p,))))
    loop = ir.Loop(ir.Range(ir.Const(0), ir.Const(3), ir.Const(1), True), i, (p,), (x,), ir.Block((), ends), (r,), left)
    error = ir.Var("error", ir.FLOAT)
    handler = ir.Handler(ir.Const(ValueError), error, ir.Block((), ir.Raise(None)))
    guarded = ir.Guarded(None, None, ir.Block((), ir.Yield()), (handler,), ir.Block((), ir.Yield()))
    function = ir.Function("f", (x, c), ir.Block((loop, guarded), ir.Return((r,))))
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
        return choose(
            b, c, lambda b: ir.Const(float("nan")), lambda b: b.call(operator.add, ir.Const(object()), ir.Const((1,)))
        )

    text = format_function(build(write, ir.BOOL))
    assert "yield nan" in text and "add(<object>, (1,))" in text and "0x" not in text
