"""What a ``for`` loop runs over: unrolled where the items are structures, a counted loop where they can be indexed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from adjoint import ir
from adjoint.frontend.control.joins_of_exits import behind, settle
from adjoint.frontend.control.loops import go_on_if, run_loop
from adjoint.frontend.data import containers
from adjoint.frontend.data.element_types import knows_half
from adjoint.frontend.data.making import is_list
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.attempts import Path
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import Cell, GeneratorObject, GeneratorValue, IteratorValue, Ref, Value
from adjoint.frontend.iterators.items import (
    Getter,
    Perhaps,
    by_index,
    given_now,
    known_range,
    lengths_of,
    static_getters,
)
from adjoint.frontend.iterators.iterator_objects import iterated
from adjoint.frontend.iterators.iterators import (
    given_by_generator,
    has_generator,
    is_given_by_generator,
    is_lazy,
    unnoticed,
)
from adjoint.frontend.iterators.stream_fusion import unwrapped


def run_for(
    lo: Lowerer,
    node: ast.AST,
    iterable: Value,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    orelse: Sequence[ast.stmt] = (),
    assigned: Sequence[ast.AST] = (),
) -> None:
    """Runs ``body`` for every item of ``iterable``, bound by ``bind``."""
    iterable = iterated(lo, iterable, node)
    for each in _gone_through(iterable):
        containers.refuse_number(lo, each, "cannot be iterated over", node)
    if isinstance(iterable, GeneratorObject):
        from adjoint.frontend.iterators.generators.loops import loop_over  # lazy

        loop_over(lo, node, iterable, bind, body, orelse, assigned)
        return
    if is_lazy(iterable):
        _run_lazily(lo, node, iterable, bind, body, orelse, assigned)
        return
    if lo.site(node) in lo.settings.by_position:
        _run_by_position(lo, node, iterable, bind, body, orelse, assigned)
        return
    with going_through(lo, iterable, node):
        _run_over(lo, node, iterable, bind, body, orelse, assigned)


def _gone_through(iterable: Value) -> Iterator[Value]:
    """What items are asked of."""
    match iterable:
        case IteratorValue(kind="enumerate" | "reversed", parts=(inner, *_)):
            yield from _gone_through(inner)
        case IteratorValue(kind="zip", parts=parts):
            for part in parts:
                yield from _gone_through(part)
        case _:
            yield iterable


@contextmanager
def going_through(lo: Lowerer, iterable: Value, loop: ast.AST | None = None) -> Iterator[None]:
    """Meanwhile, what is gone through neither grows nor shrinks; else a ``loop`` asks for the length in each turn."""
    site = lo.site(loop) if loop is not None and _is_in_order(lo, iterable) else None
    watched = [(each, site) for each in _containers(iterable)]
    lo.iterated += watched
    try:
        yield
    finally:
        del lo.iterated[len(lo.iterated) - len(watched) :]


def _is_in_order(lo: Lowerer, value: Value) -> bool:
    """Whether an iteration goes through lists by counting places upwards, whatever becomes of them meanwhile."""
    match value:
        case IteratorValue(kind="enumerate", parts=(inner, _)):
            return _is_in_order(lo, inner)
        case IteratorValue(kind="zip", parts=parts):
            return all(_is_in_order(lo, part) for part in parts)
        case _:
            return is_list(lo, value) or (isinstance(value, ir.Var) and isinstance(value.type, ir.Array))


def _run_lazily(
    lo: Lowerer,
    node: ast.AST,
    iterable: Value,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    orelse: Sequence[ast.stmt],
    assigned: Sequence[ast.AST],
) -> None:
    """Draws an item after the other where that can be, else all of them beforehand, if nobody can tell."""
    from adjoint.frontend.iterators.effect_watches import Footprint, Noticed  # lazy

    inside = unwrapped(lo, iterable, bind, body, node)
    if inside is not None:
        run_for(lo, node, *inside, orelse, assigned)
        return
    is_late = lo.site(node) in lo.settings.one_by_one
    if is_late and (given := given_by_generator(lo, iterable, node)) is not None:
        run_for(lo, node, given, bind, body, orelse, assigned)
        return
    if has_generator(iterable) or (is_late and _is_zip(iterable)):
        from adjoint.frontend.iterators.generators.zipped import loop_beside  # lazy

        if not isinstance(iterable, IteratorValue) or not _is_zip(iterable):
            label = "a generator expression of several loops goes through a generator"
            raise lo.problem("AD0305", node, label, helps=("make a list of its items: list(...)",))
        with going_through(lo, iterable):
            loop_beside(lo, node, iterable, bind, body, orelse, assigned)
        return
    footprint, kept = Footprint(lo, iterable), lo.checkpoint()
    try:
        with footprint.computed():
            items = unnoticed(lo, iterable, node)
        with footprint.watched(node):
            run_for(lo, node, items, bind, body, orelse, assigned)
    except Noticed:
        if is_late or not (_is_zip(iterable) or is_given_by_generator(iterable)):
            raise
        lo.settings.one_by_one.add(lo.site(node))
        if knows_half(lo):
            raise Restart from None
    else:
        return
    lo.roll_back(kept)
    _run_lazily(lo, node, iterable, bind, body, orelse, assigned)


def _is_zip(value: Value) -> bool:
    return isinstance(value, IteratorValue) and value.kind == "zip"


@contextmanager
def in_advance(lo: Lowerer, iterable: Value, node: ast.AST) -> Iterator[Value]:
    """An iterable for whoever asks whether its items are known one by one: then they are computed beforehand."""
    if not is_lazy(iterable) or has_generator(iterable) or not _is_static(lo, iterable, node):
        yield iterable
        return
    from adjoint.frontend.iterators.effect_watches import Footprint  # lazy

    footprint = Footprint(lo, iterable)
    with footprint.computed():
        items = unnoticed(lo, iterable, node)
    with footprint.watched(node):
        yield items


def _is_static(lo: Lowerer, value: Value, node: ast.AST) -> bool:
    """Whether what is gone through, at the bottom of lazy iterators, is known item by item."""
    if not is_lazy(value):
        return static_getters(lo, value, node) is not None
    match value:
        case GeneratorValue(first=first):
            return _is_static(lo, first, node)
        case IteratorValue(parts=parts):
            return any(_is_static(lo, part, node) for part in parts if not isinstance(part, ir.Const))
        case _:
            return False


def _containers(value: Value) -> Iterator[Value]:
    """The lists and dicts that an iteration runs through."""
    match value:
        case Ref() | ir.Var(type=ir.List() | ir.Dict()):
            yield value
        case IteratorValue(parts=parts):
            for part in parts:
                yield from _containers(part)


def _run_over(
    lo: Lowerer,
    node: ast.AST,
    iterable: Value,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    orelse: Sequence[ast.stmt],
    assigned: Sequence[ast.AST],
) -> None:
    items = static_getters(lo, iterable, node)
    few = known_range(iterable)
    if few is not None and lo.site(node) in lo.settings.unrolled:
        items = given_now([ir.Const(i) for i in few])
    if items is not None:
        _unroll(lo, items, bind, body, orelse)
        return
    target = getattr(node, "target", None)
    hint = target.id if isinstance(target, ast.Name) else "i"
    sequence = by_index(lo, iterable, node)
    if sequence is None:
        element = ir.Var(hint, ir.OPAQUE, isinstance(target, ast.Name))

        def opaque_iteration() -> None:
            bind(element)
            body()

        over = ir.Items(materialize(lo, iterable, node))
        run_loop(lo, node, over, element, opaque_iteration, orelse, assigned)
        return
    counts = sequence.bounds is not None
    index = ir.Var(
        hint if counts else _index_hint(target, iterable), ir.INT, counts or isinstance(iterable, IteratorValue)
    )
    start, stop, step = sequence.bounds or (ir.Const(0), sequence.length(), ir.Const(1))

    def iteration() -> None:
        bind(index if counts else sequence.item(index))
        body()

    bounds = lo.site(node) if few is not None else _given_bounds(lo, (start, stop, step))
    if bounds is not None:
        lo.counted_loops.append(bounds)
    try:
        run_loop(lo, node, ir.Range(start, stop, step), index, iteration, orelse, assigned)
    finally:
        if bounds is not None:
            lo.counted_loops.pop()


def _given_bounds(lo: Lowerer, bounds: Sequence[ir.Atom]) -> frozenset[Path] | None:
    """The ways to the inputs that bound a range, if nothing else does that is not known."""
    varying = [bound for bound in bounds if isinstance(bound, ir.Var)]
    known = lo.run_data.whole_inputs
    if not varying or not all(bound in known for bound in varying):
        return None
    return frozenset(known[bound] for bound in varying)


def _run_by_position(
    lo: Lowerer,
    node: ast.AST,
    iterable: Value,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    orelse: Sequence[ast.stmt],
    assigned: Sequence[ast.AST],
) -> None:
    """Goes through a list that changes meanwhile as Python's iterators do: by a place, as long as there is one."""
    counter = Cell("place")
    lo.store[counter] = ir.Const(0)
    known = [part for part in _containers(iterable) if isinstance(part, Ref)]
    if known:
        raise NeedsRuntime(tuple(original_sites(tuple([part.site for part in known]))))

    def iteration() -> None:
        sequence = by_index(lo, iterable, node)
        assert sequence is not None
        place = materialize(lo, lo.store[counter], node)

        def turn() -> None:
            lo.store[counter] = lo.open.call(operator.add, place, ir.Const(1))
            bind(sequence.item(place))
            body()

        go_on_if(lo, lo.open.call(operator.lt, place, sequence.length()), turn, node)

    run_loop(lo, node, None, None, iteration, orelse, assigned)


def _index_hint(target: ast.AST | None, iterable: Value) -> str:
    if (
        isinstance(iterable, IteratorValue)
        and iterable.kind == "enumerate"
        and isinstance(target, ast.Tuple)
        and isinstance(target.elts[0], ast.Name)
    ):
        return target.elts[0].id
    return "i"


def _unroll(
    lo: Lowerer,
    items: Sequence[Getter],
    bind: Callable[[Value], None],
    body: Callable[[], None],
    orelse: Sequence[ast.stmt],
) -> None:
    origin, base = lo.open, lo.store
    with lo.region("loop") as whole:
        for item in items:
            if lo.block is None:
                break
            _leave_if_not_there(lo, item)
            start, before = lo.open, lo.store
            with lo.region("loop") as iteration:
                bind(item())
                body()
                lo.leave("continue")
            settle(lo, iteration.exits, start, before, "continue")
        lo.leave("exhausted")
    settle(lo, behind(lo, whole.exits, orelse), origin, base, "done")


def _leave_if_not_there(lo: Lowerer, item: Getter) -> None:
    """Leaves an unrolled loop where what it goes through ends before this item."""

    for length in lengths_of(item):
        assert isinstance(item, Perhaps)
        go_on_if(lo, lo.open.call(operator.lt, ir.Const(item.place), length), lambda: None)
