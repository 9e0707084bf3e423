"""Functions that are long are cut in pieces, and do what they did."""

from __future__ import annotations

import re

import numpy as np
import pytest

import adjoint as ad
from adjoint.dispatch import specialize
from adjoint.native.llvm.writing import outlining, statements
from adjoint.native.llvm.writing.outlining import Cut, Long, outlined
from native.agreement import compare
from programs.registry import collect
from sampling import is_chosen


@pytest.fixture
def short(monkeypatch, tmp_path):
    """Functions are cut from a few lines on; none is known yet. The pieces so far."""
    found = []
    usual = outlining._Text.cut_out

    def cut_out(text, region):
        found.append(region)
        usual(text, region)

    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(statements, "LONGEST_FUNCTION", 40)
    monkeypatch.setattr(outlining, "LONGEST_OUTLINED", 40)
    monkeypatch.setattr(outlining, "FEWEST_OUTLINED", 8)
    monkeypatch.setattr(outlining._Text, "cut_out", cut_out)
    specialize.forget()
    return found


PROGRAMS = [case for case in collect() if is_chosen(f"{case.name} in pieces", 8)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_programs_in_pieces(program, short):
    found = compare(program.function, program.arguments(), "reverse")
    assert found.kind != "differs", found.message


def steps(x, n):
    total = 0.0
    for k in range(n):
        y = np.sin(x) * k
        if total > 1.0:
            y = y + x[0]
        total = total + np.sum(y * x)
        x = x + 0.1 * y
    if total < -1e9:
        raise ValueError("much too small")
    return total


def test_loops_and_checks_are_cut(short):
    x = np.linspace(0.1, 1.0, 5)
    given = ad.grad(steps, wrt=0, native=True)(x, 4)
    assert len(short) > 3
    np.testing.assert_allclose(given, ad.grad(steps, wrt=0)(x, 4), rtol=1e-13)


def divided(x, y):
    total = 0.0
    for k in range(3):
        total = total + x[k] / y[k]
        if y[k] > 5.0:
            raise ValueError(f"too large at {k}: {y[k]}")
    return total * x[0]


@pytest.mark.each_time
@pytest.mark.parametrize("y", [[1.0, 7.0, 2.0], [1.0, 2.0, 3.0]])
def test_what_is_raised_in_a_piece(short, y):
    def outcome(derivative):
        try:
            return derivative(np.arange(1.0, 4.0), np.array(y))
        except ValueError as error:
            return type(error), str(error)

    native, interpreted = outcome(ad.grad(divided, native=True)), outcome(ad.grad(divided))
    assert short
    np.testing.assert_equal(native, interpreted)


def _text(*, lines: str, cuts: list[tuple[int, str]], params: str = "") -> str:
    written = [line if line.endswith(":") else f"  {line}" for line in lines.strip().splitlines()]
    long = Long(
        f"define internal i32 @f(ptr noalias %call, ptr noalias %out{params}) {{",
        [],
        written,
        [Cut(line, label, 1) for line, label in cuts],
    )
    types = {name: "i64" for name in re.findall(r"%v\d+", lines)}
    types |= dict.fromkeys(("%call", "%out", "%v7", "%v8", "%v9"), "ptr")
    return outlined("f", long, types)


def test_a_piece_takes_what_it_reads_and_leaves_what_is_read():
    found = _text(
        lines="""
%v2 = add i64 %v1, 1
%v3 = icmp slt i64 %v2, 0
br i1 %v3, label %bad1, label %good1, !prof !0
bad1:
ret i32 5
good1:
%v4 = mul i64 %v2, %v2
store i64 %v4, ptr %out
ret i32 0
""",
        cuts=[(0, "entry"), (7, "good1")],
        params=", i64 %v1",
    )
    piece, rest = found.split("\n}\n")
    assert "@f_1(i64 %v1, ptr noalias" in piece and "ret i32 5" in piece and "store i64 %v4" in piece
    assert "mul" not in rest and "%v4 = load i64" in rest and rest.count("call i32 @f_1(") == 1


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(outlining, "LONGEST_OUTLINED", 4)
    monkeypatch.setattr(outlining, "FEWEST_OUTLINED", 2)


NEW = "%v7 = call noalias ptr @new_block(ptr %call, i64 8)\n"
BODY = """
%v3 = load i64, ptr %v7
%v4 = icmp slt i64 %v3, 0
br i1 %v4, label %bad1, label %good1, !prof !0
bad1:
ret i32 5
good1:
store i64 1, ptr %v8
ret i32 0
"""


@pytest.mark.each_time
@pytest.mark.parametrize(
    ("before", "is_alone"),
    [
        ("%v8 = call noalias ptr @new_block(ptr %call, i64 8)", True),
        ("%v8 = getelementptr inbounds i8, ptr %v7, i64 8", False),
        ("%v8 = call ptr @list_end(ptr %v7, i64 8)", False),
        ("store ptr %v7, ptr %v1\n%v8 = load ptr, ptr %v1", False),
        ("%v8 = select i1 %v2, ptr %v7, ptr %v1", False),
    ],
)
def test_new_memory_that_nothing_else_leads_to_is_told(before, is_alone):
    start = (NEW + before).count("\n") + 1
    lines = NEW + before + BODY
    text = _text(lines=lines, cuts=[(start, "entry"), (start + 7, "good1")], params=", ptr %v1, i1 %v2")
    head = next(line for line in text.splitlines() if "@f_1(" in line and line.startswith("define"))
    assert ("ptr noalias %v7" in head) == is_alone


def test_jumps_out_of_a_run_keep_it_where_it_is():
    text = _text(
        lines="""
%v3 = icmp slt i64 %v1, 0
br i1 %v3, label %away, label %good1
good1:
%v4 = add i64 %v1, 1
%v5 = add i64 %v4, 1
%v6 = add i64 %v5, 1
br label %away
away:
ret i32 0
""",
        cuts=[(0, "entry"), (6, "good1")],
        params=", i64 %v1",
    )
    assert "@f_1" not in text
