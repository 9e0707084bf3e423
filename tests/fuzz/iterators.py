"""Iterators as statements of random programs: what they draw from may change while a loop goes through them."""

from __future__ import annotations

from fuzz.expressions import condition, index
from fuzz.statements import MOST_DEPTH, MOST_LOOPS, leave, tame
from fuzz.writer import FLOAT, FLOATS, Writer, production


def _source(w: Writer) -> tuple[str, int | None] | None:
    """An array, or a list of numbers, with its length where that is known."""
    arrays, lists = w.names("array", assignable=True), w.of_type(FLOATS, assignable=True)
    if not arrays and not lists:
        return None
    name = w.pick([*arrays, *lists])
    return name, w.type_of(name)[1] if name in arrays else None


def _drawn(w: Writer, name: str) -> tuple[str, tuple[str, ...]]:
    """An iterator over a source, and the variables that an item of it binds."""
    item, other, place = w.fresh("v"), w.fresh("v"), w.fresh("i")
    with w.block():
        w.define("t", FLOAT)
        made, limit = tame(w, w.float(1)), f"{w.random.uniform(-0.5, 0.5):.2f}"
    single = (
        f"({made} for t in {name})",
        f"({made} for t in {name} if t > {limit})",
        f"map(lambda t: {made}, {name})",
        f"filter(lambda t: t > {limit}, {name})",
        f"itertools.islice({name}, {w.random.randint(1, 3)})",
        f"itertools.accumulate({name})",
        f"itertools.takewhile(lambda t: t > {limit}, {name})",
        f"itertools.chain({name}, [{w.float(0)}])",
        f"reversed({name})",
        name,
        name,
    )
    double = (
        f"itertools.pairwise({name})",
        f"zip(map(lambda t: {made}, {name}), {name})",
        f"zip({name}, ({made} for t in {name}))",
        f"itertools.combinations({name}, 2)",
    )
    form = w.random.random()
    if form < 0.5:
        return w.pick(single), (item,)
    if form < 0.7:
        return f"enumerate({w.pick(single)})", (place, item)
    return w.pick(double), (item, other)


@production("statement", 1)
def loop_over_an_iterator(w: Writer) -> str | None:
    found = _source(w)
    if found is None or w.scope.loops >= MOST_LOOPS or w.scope.depth >= MOST_DEPTH:
        return None
    name, size = found
    text, names = _drawn(w, name)
    if w.chance(0.3):
        stream = w.fresh("g")
        w.line(f"{stream} = {text}")
        if size is not None and w.chance(0.5):
            w.line(f"{name}[{index(w, size)}] = {tame(w, w.float(1))}")
        text = stream
    w.line(f"for {', '.join(names)} in {text}:")
    with w.block(loops=w.scope.loops + 1, can_leave=True):
        for bound in names:
            w.define(bound, ("int", None) if bound.startswith("i") else FLOAT)
        if w.chance(0.4):
            if size is None:
                w.line(f"if {name}:")
            place = "0" if size is None else index(w, size)
            w.line(f"{'' if size else '    '}{name}[{place}] = {tame(w, w.float(1))}")
        w.body(2)
        if w.chance(0.2):
            w.line(f"if {condition(w)}:")
            with w.block():
                leave(w, 1.0)
    return name


@production("float", 0.5)
def sum_of_an_iterator(w: Writer, type_: object, depth: int) -> str | None:
    found = _source(w)
    if found is None or depth <= 0:
        return None
    text, names = _drawn(w, found[0])
    values = [name for name in names if name.startswith("v")]
    return f"math.tanh(sum({' * '.join(values)} for {', '.join(names)} in {text}))"
