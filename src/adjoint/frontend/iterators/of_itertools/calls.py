"""The functions of `itertools`.

What they give is drawn item by item from what there is then, but for those that say that they look at all items first.
"""

from __future__ import annotations

import ast
import itertools
import operator
import sys
from collections.abc import Callable
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, IteratorValue, RangeValue, TupleValue, Value, is_atom
from adjoint.frontend.iterators.items import kept, sequence, static_items, written_out
from adjoint.frontend.iterators.iterator_objects import as_object, counted, cycle, iterator_of, lazily
from adjoint.frontend.iterators.iterators import has_generator, is_endless, is_iterator, is_lazy, lazy, refuse_twice
from adjoint.frontend.iterators.of_itertools import as_lists, item_by_item
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python import iterator_definitions
from adjoint.frontend.syntax.identities import is_number
from adjoint.ir.join import is_whole_number

MOST_CHOICES = 1024
"""How many choices among known items are written out."""

Args = list[Value]
Named = dict[str, Value]


# Item by item


_STOPPING = (as_lists.sliced, as_lists.taken_while)
"""What goes through the first items only."""


def _is_drawn_in_turn(value: Value, function: Callable[..., Any] | None = None) -> bool:
    """Whether a function has to look at an item before the next one is computed."""
    return has_generator(value) or (is_endless(value) and (is_lazy(value) or function not in _STOPPING))


def _drawn_by(lo: Lowerer, function: Callable[..., Any], *args: Value) -> Value:
    """The items that a function of the library gives, one by one: of generators in the order in which they compute."""
    if any(_is_drawn_in_turn(arg, function) for arg in args):
        by_item = getattr(item_by_item, function.__name__, None)
        if by_item is None:
            label = "several generators are gone through side by side"
            raise lo.problem("AD0305", None, label, helps=("make lists of them: list(...)",))
        return python_functions.call(lo, by_item, [*args], None)
    return lazy(function, *args)


def _drawing(function: Callable[..., Any], *, sequences: slice) -> Handler:
    """Handles a call that means that of a function of the library; ``sequences`` are the arguments to go through."""

    def handle(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
        if kwargs:
            return NotImplemented
        given = [*args]
        given[sequences] = [kept(lo, arg) for arg in given[sequences]]
        refuse_twice(lo, given[sequences], node)
        return _drawn_by(lo, function, *given)

    return handle


HANDLERS[itertools.compress] = _drawing(as_lists.compressed, sequences=slice(0, 2))
HANDLERS[itertools.dropwhile] = _drawing(as_lists.dropped_while, sequences=slice(1, 2))
HANDLERS[itertools.takewhile] = _drawing(as_lists.taken_while, sequences=slice(1, 2))
HANDLERS[itertools.filterfalse] = _drawing(as_lists.filtered_false, sequences=slice(1, 2))
if sys.version_info >= (3, 12):
    HANDLERS[itertools.batched] = _drawing(as_lists.batched, sequences=slice(0, 1))
HANDLERS[itertools.starmap] = _drawing(python_functions.mapped_rows, sequences=slice(1, 2))


@handles(itertools.chain.from_iterable)
def _flattened(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    given = kept(lo, args[0])
    if any(map(has_generator, static_items(lo, given, node) or ())):
        return python_functions.call(lo, item_by_item.flattened, [given], node)
    return _drawn_by(lo, as_lists.flattened, given)


@handles(itertools.accumulate)
def _accumulate(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    function = kwargs.get("func", args[1] if len(args) > 1 else NONE)
    function = ir.Const(operator.add) if function == NONE else function
    initial = kwargs.get("initial", NONE)
    if initial == NONE:
        return _drawn_by(lo, as_lists.accumulated, kept(lo, args[0]), function)
    return _drawn_by(lo, as_lists.accumulated_from, kept(lo, args[0]), function, initial)


@handles(itertools.chain)
def _chain(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    if not args:
        return IteratorValue("iter", (TupleValue(()),))
    given = [kept(lo, arg) for arg in args]
    refuse_twice(lo, given, node)
    result = given[0]
    for more in given[1:]:
        result = _drawn_by(lo, python_functions.joined, result, more)
    result = result if is_iterator(result) else IteratorValue("iter", (result,))
    return lazily(lo, result, node) if isinstance(result, IteratorValue) else result


@handles(itertools.tee)
def _tee(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    if node is None:
        return NotImplemented
    count = kwargs.get("n", args[1] if len(args) > 1 else ir.Const(2))
    source = as_object(lo, iterator_of(lo, args[0], node), node)
    if isinstance(count, ir.Const) and isinstance(count.value, int):
        drawn = lo.call(ir.Const(list), [], {}, node)
        return TupleValue(
            tuple(lo.call(ir.Const(iterator_definitions.Shared), [source, drawn], {}, node) for _ in range(count.value))
        )
    return python_functions.call(lo, iterator_definitions.shared_by, [source, count], node)


@handles(itertools.islice)
def _islice(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    start, stop, step = (ir.Const(0), args[1], ir.Const(1)) if len(args) == 2 else (*args[1:], ir.Const(1))[:3]
    start, step = (
        default if value == NONE else value for value, default in ((start, ir.Const(0)), (step, ir.Const(1)))
    )
    if stop == NONE:
        return _drawn_by(lo, as_lists.sliced_to_end, kept(lo, args[0]), start, step)
    return _drawn_by(lo, as_lists.sliced, kept(lo, args[0]), start, stop, step)


@handles(itertools.groupby)
def _groupby(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    key = kwargs.get("key", args[1] if len(args) > 1 else NONE)
    key = ir.Const(python_functions.same) if key == NONE else key
    given = kept(lo, args[0])
    if is_endless(given):
        label = "a group of what has no end may have none"
        raise lo.problem("AD0305", node, label, helps=("take the first items: itertools.islice(items, n)",))
    return python_functions.call(lo, item_by_item.grouped, [given, key], node)


@handles(itertools.pairwise)
def _pairwise(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    given = kept(lo, args[0])
    if _is_drawn_in_turn(given):
        return python_functions.call(lo, item_by_item.paired, [given], node)
    return IteratorValue("pairwise", (given,))


@handles(itertools.zip_longest)
def _zip_longest(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    if len(args) != 2:
        return NotImplemented
    given = [kept(lo, arg) for arg in args]
    refuse_twice(lo, given, node)
    return _drawn_by(lo, as_lists.longest, *given, kwargs.get("fillvalue", NONE))


@handles(itertools.repeat)
def _repeat(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    times = kwargs.get("times", args[1] if len(args) > 1 else None)
    return _endless(args[0]) if times is None else lazy(as_lists.repeated, args[0], times)


@handles(itertools.count)
def _count(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    start = kwargs.get("start", args[0] if args else ir.Const(0))
    step = kwargs.get("step", args[1] if len(args) > 1 else ir.Const(1))
    if is_whole_number(start) and is_whole_number(step):
        return IteratorValue("count", (start, step))
    if node is None or not (is_number(start) and is_number(step)):
        return NotImplemented
    return counted(lo, start, step, node)


@handles(itertools.cycle)
def _cycle(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    given = kept(lo, args[0])
    items = None if is_iterator(given) else _known(lo, given, node)
    if items and all(map(is_atom, items)):
        return _endless(*items)
    if node is None:
        return NotImplemented
    return cycle(lo, given, node)


def _endless(*items: Value) -> IteratorValue:
    return IteratorValue("cycle", (TupleValue(items),))


# All items first


def _known(lo: Lowerer, given: Value, node: ast.AST | None) -> list[Value] | None:
    return written_out(lo, given, node)


def _choosing(function: Callable[..., Any], by_length: dict[int, Callable[..., Any]]) -> Handler:
    def choose(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
        given = sequence(lo, args[0])
        items = _known(lo, given, node)
        length = kwargs.get("r", args[1] if len(args) > 1 else ir.Const(None if items is None else len(items)))
        if not isinstance(length, ir.Const):
            return NotImplemented
        if items is not None:
            return _written_out(function(items, length.value))
        if length.value not in by_length:
            if isinstance(args[0], RangeValue):
                return NotImplemented  # tuples of numbers that nobody differentiates
            label = f"'{function.__name__}' of this length, of a sequence of which the items are not known one by one"
            raise lo.problem("AD0301", node, label)
        chosen = python_functions.call(lo, by_length[length.value], [_indexable(lo, given, node)], node)
        return IteratorValue("iter", (chosen,))

    return choose


def _written_out(choices: Any) -> Any:
    found = [TupleValue(tuple(choice)) for choice in itertools.islice(choices, MOST_CHOICES + 1)]
    return NotImplemented if len(found) > MOST_CHOICES else IteratorValue("iter", (TupleValue(tuple(found)),))


def _indexable(lo: Lowerer, given: Value, node: ast.AST | None) -> Value:
    return (
        python_functions.call(lo, python_functions.copied, [given], node) if isinstance(given, IteratorValue) else given
    )


HANDLERS[itertools.combinations] = _choosing(itertools.combinations, {2: as_lists.pairs, 3: as_lists.triples})
HANDLERS[itertools.permutations] = _choosing(itertools.permutations, {2: as_lists.ordered_pairs})
HANDLERS[itertools.combinations_with_replacement] = _choosing(
    itertools.combinations_with_replacement, {2: as_lists.pairs_with_replacement}
)


@handles(itertools.product)
def _product(lo: Lowerer, args: Args, kwargs: Named, node: ast.AST | None) -> Any:
    times = kwargs.get("repeat", ir.Const(1))
    if not isinstance(times, ir.Const) or not args:
        return NotImplemented
    refuse_twice(lo, args, node)
    given = [sequence(lo, arg) for arg in args]
    known = [_known(lo, pool, node) for pool in given]
    if all(items is not None for items in known):
        return _written_out(itertools.product(*known, repeat=times.value))  # type: ignore[arg-type]
    pools = given * times.value
    if len(pools) not in (2, 3):
        return NotImplemented
    crossed = as_lists.crossed if len(pools) == 2 else as_lists.crossed_three
    return IteratorValue("iter", (python_functions.call(lo, crossed, pools, node),))
