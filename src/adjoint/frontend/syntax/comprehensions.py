"""Comprehensions and generator expressions: loops in a scope of their own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from adjoint import ir
from adjoint.frontend.control.iteration import going_through, in_advance, run_for
from adjoint.frontend.data import making
from adjoint.frontend.data.element_types import check_guess, guess_numbers, guessed_anew
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import Cell, GeneratorValue, Ref, TupleValue, Value
from adjoint.frontend.iterators.items import Getter, known_range, lengths_of, static_getters
from adjoint.frontend.iterators.iterator_objects import iterated
from adjoint.frontend.iterators.iterators import has_generator, hold
from adjoint.frontend.syntax import assign
from adjoint.frontend.syntax.conditions import truth
from adjoint.sources.trees import nodes


@contextmanager
def _scope(lo: Lowerer, generators: Sequence[ast.comprehension]) -> Iterator[None]:
    frame = lo.frame
    assert frame is not None
    outer = frame.cells
    names = {
        part.id: Cell(part.id)
        for generator in generators
        for part in ast.walk(generator.target)
        if isinstance(part, ast.Name)
    }
    frame.cells = {**outer, **names}
    try:
        yield
    finally:
        frame.cells = outer
        for cell in names.values():
            if not frame.makes_closures:
                lo.store.pop(cell, None)


def each(
    lo: Lowerer,
    generators: Sequence[ast.comprehension],
    action: Callable[[], None],
    first: Value | None = None,
    elements: Sequence[ast.expr] = (),
) -> None:
    """Runs ``action``, which evaluates ``elements``, for every combination that the generators give.

    ``first`` is what the first of them goes through.
    """
    if not generators:
        action()
        return
    generator, rest = generators[0], generators[1:]
    if generator.is_async:
        raise lo.problem("AD0301", generator.target, "an asynchronous comprehension is not supported")
    iterable = lo.evaluate(generator.iter) if first is None else first
    hold(iterable)  # as an argument of the function that a comprehension is

    def conditions(tests: Sequence[ast.expr]) -> Value:
        if not tests:
            each(lo, rest, action, None, elements)
            return ir.UNDEFINED
        cond, _ = truth(lo, tests[0])
        return lo.branch(cond, lambda: conditions(tests[1:]), lambda: ir.UNDEFINED, tests[0])

    def body() -> None:
        conditions(generator.ifs)

    run_for(
        lo,
        _target_of(generator),
        iterable,
        lambda item: assign.assign(lo, generator.target, item),
        body,
        (),
        [generator.target, *_named_inside([*generator.ifs, *rest, *elements])],
    )


def _named_inside(parts: Sequence[ast.AST]) -> list[ast.AST]:
    """The targets of ``:=``, variables of the function around the comprehension."""
    return [inner.target for part in parts for inner in nodes(part) if isinstance(inner, ast.NamedExpr)]


class _Target(ast.AST):
    """Stands for a generator as the node of its loop: knows the target's name and place."""

    def __init__(self, generator: ast.comprehension) -> None:
        super().__init__()
        self.target = generator.target
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            setattr(self, name, getattr(generator.target, name))


_targets: WeakKeyDictionary[ast.comprehension, ast.AST] = WeakKeyDictionary()


def _target_of(generator: ast.comprehension) -> ast.AST:
    """The node that stands for a generator's loop: always the same one."""
    if not isinstance(generator.target, ast.Name):
        return generator.target
    return _targets.setdefault(generator, _Target(generator))


def list_comprehension(
    lo: Lowerer,
    node: ast.expr,
    element: ast.expr,
    generators: Sequence[ast.comprehension],
    first: Value | None = None,
) -> Value:
    """A list: known item by item where the iterable is, else one that grows at run time."""
    iterable = iterated(lo, lo.evaluate(generators[0].iter) if first is None else first, node)
    with in_advance(lo, iterable, node) as given:
        return _list_of(lo, node, element, generators, given)


def _list_of(
    lo: Lowerer, node: ast.expr, element: ast.expr, generators: Sequence[ast.comprehension], iterable: Value
) -> Value:
    with _scope(lo, generators):
        if len(generators) == 1:
            items = _items_of(lo, generators[0], iterable, node)
            with going_through(lo, iterable):
                known = None if items is None else _known(lo, generators[0], items, element)
            if known is not None:
                return making.new_list(lo, known, node)
        else:
            known = _objects_known(lo, generators, iterable, element, node)
            if known is not None:
                return making.new_list(lo, known, node)
        if not has_generator(iterable):
            lo.settings.runtime_sites.add(lo.site(node))

        def whole() -> Value:
            guess_numbers(lo, lo.site(node), [element, *(generator.iter for generator in generators)])
            result = making.new_list(lo, [], node)
            each(lo, generators, lambda: making.append(lo, result, lo.evaluate(element), element), iterable, [element])
            check_guess(lo, result)
            return result

        return guessed_anew(lo, lo.site(node), whole)


def _items_of(lo: Lowerer, generator: ast.comprehension, iterable: Value, node: ast.expr) -> Sequence[Getter] | None:
    """What a comprehension goes through, item by item, where that is known, or is a range to be unrolled."""
    items = static_getters(lo, iterable, node)
    unrolled = lo.run_data.all_constant or lo.site(_target_of(generator)) in lo.settings.unrolled
    few = known_range(iterable) if items is None and unrolled else None
    return items if few is None else static_getters(lo, TupleValue(tuple([ir.Const(i) for i in few])), node)


def list_of_items(lo: Lowerer, iterable: Value, node: ast.AST) -> Value:
    """A list of what is gone through: its items are known one by one where no loop gives them."""
    result = making.new_list(lo, [], node)
    run_for(lo, node, iterable, lambda item: making.append(lo, result, item, node), lambda: None)
    return result


def _known(lo: Lowerer, generator: ast.comprehension, items: Sequence[Getter], element: ast.expr) -> list[Value] | None:
    """What is evaluated for each item; None, and nothing done, where it is not known which of them are left out."""
    if any(map(lengths_of, items)):
        return None
    before = lo.checkpoint() if generator.ifs else None
    result: list[Value] = []
    for item in items:
        assign.assign(lo, generator.target, item())
        kept = _is_kept(lo, generator)
        if kept is None:
            assert before is not None
            lo.roll_back(before)
            return None
        if kept:
            result.append(lo.evaluate(element))
    return result


def _is_kept(lo: Lowerer, generator: ast.comprehension) -> bool | None:
    """Whether an item passes all tests, of which those behind one that it does not pass are not made."""
    for test in generator.ifs:
        cond, _ = truth(lo, test)
        if not isinstance(cond, ir.Const):
            return None
        if not cond.value:
            return False
    return True


def _objects_known(
    lo: Lowerer, generators: Sequence[ast.comprehension], iterable: Value, element: ast.expr, node: ast.AST
) -> list[Value] | None:
    """The objects that several generators give, where all that they go through is known; None for other items."""
    items = static_getters(lo, iterable, node)
    if items is None:
        return None
    before = lo.checkpoint()
    try:
        with going_through(lo, iterable):
            found = _known_in_turn(lo, generators, items, element, node)
    except Problem:  # perhaps not in a loop
        found = None
    if found is not None and lo.block is not None and any(isinstance(item, Ref) for item in found):
        return found
    lo.roll_back(before)
    return None


def _known_in_turn(
    lo: Lowerer, generators: Sequence[ast.comprehension], items: Sequence[Getter], element: ast.expr, node: ast.AST
) -> list[Value] | None:
    if len(generators) == 1:
        return _known(lo, generators[0], items, element)
    if any(map(lengths_of, items)) or generators[0].ifs:
        return None
    result: list[Value] = []
    for item in items:
        assign.assign(lo, generators[0].target, item())
        iterable = lo.evaluate(generators[1].iter)
        inner = static_getters(lo, iterable, node)
        found = None if inner is None else _known_in_turn(lo, generators[1:], inner, element, node)
        if found is None or lo.block is None:
            return None
        result += found
    return result


def list_of_generator(lo: Lowerer, value: GeneratorValue) -> Value:
    """The items of a generator expression, all computed."""
    outer = lo.frame
    lo.frame = value.frame
    assert isinstance(value.frame, Frame)
    try:
        return list_comprehension(lo, value.node, value.node.elt, value.node.generators, value.first)
    finally:
        lo.frame = outer


def fold(lo: Lowerer, iterable: Value, start: Value, step: Callable[[Value, Value], Value], node: ast.AST) -> Value:
    """Goes through an iterable and combines what it gives, without a list."""
    total = Cell("total")
    lo.store[total] = start

    def add(item: Value) -> None:
        result = step(lo.store[total], item)
        lo.rename(result, "total")
        lo.store[total] = result

    run_for(lo, node, iterable, add, lambda: None)
    return lo.store.pop(total, ir.UNDEFINED)


def fold_generator(lo: Lowerer, value: GeneratorValue, start: Value, step: Callable[[Value, Value], Value]) -> Value:
    """Runs the generator and combines what it gives, without a list."""
    outer = lo.frame
    lo.frame = value.frame
    total = Cell("total")
    lo.store[total] = start

    def add() -> None:
        item = lo.evaluate(value.node.elt)
        result = step(lo.store[total], item)
        lo.rename(result, "total")
        lo.store[total] = result

    try:
        with _scope(lo, value.node.generators):
            each(lo, value.node.generators, add, value.first, [value.node.elt])
    finally:
        lo.frame = outer
    return lo.store.pop(total, ir.UNDEFINED)


def dict_comprehension(lo: Lowerer, node: ast.DictComp) -> Value:
    first = lo.evaluate(node.generators[0].iter)
    with in_advance(lo, first, node) as iterable, _scope(lo, node.generators):
        if len(node.generators) == 1:
            items = _items_of(lo, node.generators[0], iterable, node)
            if items is not None:
                pairs = ast.Tuple([node.key, node.value], ast.Load())
                ast.copy_location(pairs, node)
                known = _known(lo, node.generators[0], items, pairs)
                if known is not None:
                    return making.new_dict(lo, [(pair.items[0], pair.items[1]) for pair in known], node)  # type: ignore[union-attr]
        lo.settings.runtime_sites.add(lo.site(node))
        result = making.new_dict(lo, [], node)
        assert isinstance(result, ir.Var) and isinstance(result.type, ir.Dict)

        def add() -> None:
            key = materialize(lo, lo.evaluate(node.key), node.key)
            making.put_in(lo, result, key, lo.evaluate(node.value), node)

        each(lo, node.generators, add, iterable, [node.key, node.value])
        return result
