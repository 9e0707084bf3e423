"""Iterators: what they give is computed when it is asked for, and they are gone through once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Unreached
from adjoint.frontend.interpreter.values import (
    USED,
    GeneratorContext,
    GeneratorObject,
    GeneratorValue,
    IteratorValue,
    Record,
    TupleValue,
    Union,
    Value,
)
from adjoint.frontend.iterators.coming_back import come_back
from adjoint.frontend.library import python_functions
from adjoint.sources.trees import nodes

_VIEWS = ("items", "values", "keys", "flat")
"""What can be gone through again."""

_BY_ITEM = (python_functions.mapped, python_functions.mapped_rows, python_functions.filtered)
"""What takes an item after the other, so that loops over it are loops over what it is handed."""

_AS_A_LIST = ("make a list of its items: list(...)",)


def is_iterator(value: Value) -> bool:
    """Whether a value is gone through once."""
    if isinstance(value, IteratorValue):
        return value.kind not in _VIEWS
    return isinstance(value, (GeneratorValue, GeneratorObject, GeneratorContext))


def is_lazy(value: Value) -> bool:
    """Whether an item is computed when it is asked for, from what there is then."""
    match value:
        case GeneratorValue() | GeneratorObject() | IteratorValue(kind="lazy" | "pairwise"):
            return True
        case IteratorValue(parts=parts):
            return any(map(is_lazy, parts))
        case _:
            return False


def is_endless(value: Value) -> bool:
    """Whether it is known that there is no end of the items, where nobody stops."""
    match value:
        case GeneratorValue(node=generator, first=first):
            return len(generator.generators) == 1 and is_endless(first)
        case GeneratorObject(frame=frame):
            return any(map(_never_stops, frame.source.node.body))
        case IteratorValue(kind="count" | "cycle"):
            return True
        case IteratorValue(kind="enumerate" | "iter", parts=(inner, *_)):
            return is_endless(inner)
        case IteratorValue(kind="zip", parts=parts):
            return all(map(is_endless, parts))
        case IteratorValue(kind="lazy", parts=(ir.Const(value=function), *_, inner)):
            return function in _BY_ITEM and is_endless(inner)
        case _:
            return False


def _never_stops(statement: ast.stmt) -> bool:
    """Whether a statement is a loop that only an exception leaves."""
    match statement:
        case ast.While(test=ast.Constant(value=value), body=body) if value:
            return not any(isinstance(part, (ast.Break, ast.Return)) for each in body for part in nodes(each))
        case _:
            return False


def lazy(function: Callable[..., object], *args: Value) -> IteratorValue:
    """The items of the list that a function of the library gives, one by one."""
    return IteratorValue("lazy", (ir.Const(function), *args))


# Going through it once


def taken(lo: Lowerer, value: Value, node: ast.AST) -> Value:
    """A value that was looked up; whoever looks up an iterator goes through it, so that it is used up for others."""
    used = next((each for each in (value.options if isinstance(value, Union) else [value]) if each == USED), None)
    if used is not None:
        come_back(lo, used)
        label = "this iterator was handed on before: it can be gone through once only"
        raise lo.problem("AD0305", node, label, helps=_AS_A_LIST)
    if is_iterator(value):
        hold(value)
        for key, held in list(lo.store.items()):
            left = _without(held, value)
            if left is not held:
                lo.store[key] = left
    return value


def generators_in(value: Value) -> Iterator[GeneratorObject]:
    """The generators that an iterator goes through, itself among them."""
    match value:
        case GeneratorObject():
            yield value
        case GeneratorValue(first=first):
            yield from generators_in(first)
        case IteratorValue(parts=parts):
            for part in parts:
                yield from generators_in(part)


def hold(value: Value) -> None:
    """Something has a value that outlasts a loop over it."""
    for generator in generators_in(value):
        generator.held = True


def has_generator(value: Value) -> bool:
    """Whether going through a value runs the body of a generator function."""
    return any(generators_in(value))


def _without(held: Value, taken_: Value) -> Value:
    """What a variable or an object holds once an iterator in it is used up."""
    if held is taken_:
        return IteratorValue("used", (), getattr(taken_, "site", None))
    match held:
        case TupleValue(items=items, cls=cls):
            left = tuple([_without(item, taken_) for item in items])
            return held if all(map(_is, left, items)) else TupleValue(left, cls)
        case Record(cls=cls, parts=parts):
            kept = tuple([(key, _without(item, taken_)) for key, item in parts])
            return held if all(map(_is, held.items, [item for _, item in kept])) else Record(cls, kept)
        case _:
            return held


def _is(one: object, other: object) -> bool:
    return one is other


def refuse_twice(lo: Lowerer, parts: Sequence[Value], node: ast.AST | None) -> None:
    """Refuses one iterator in two places: each takes items away from the other."""
    for place, part in enumerate(parts):
        if is_iterator(part) and any(part is other for other in parts[:place]):
            come_back(lo, part)
            raise lo.problem("AD0305", node, "one iterator is gone through in two places at once", helps=_AS_A_LIST)


def refuse_kept_by_function(lo: Lowerer, values: Iterable[Value], node: ast.AST | None) -> None:
    """Refuses an iterator that a function keeps: each of its calls finds what those before have left of it."""
    if any(map(is_iterator, values)):
        raise lo.problem("AD0305", node, "an iterator is kept by a function, for all of its calls", helps=_AS_A_LIST)


# All at once


def drawn(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """All items of what is lazy, computed now; other values as they are."""
    found = _drawn(lo, value, node)
    if lo.block is None:
        raise Unreached  # they have no end
    return found


def _drawn(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    if not is_lazy(value):
        return value
    generator = next(generators_in(value), None)
    if generator is not None and (not isinstance(value, GeneratorValue) or _is_unwrapped(value)):
        from adjoint.frontend.syntax.comprehensions import list_of_items  # lazy

        return list_of_items(lo, value, generator.node)
    match value:
        case GeneratorValue():
            from adjoint.frontend.syntax.comprehensions import list_of_generator  # lazy

            return list_of_generator(lo, value)
        case IteratorValue(kind="lazy", parts=(ir.Const(value=function), *args)):
            given = [arg if function in _BY_ITEM and _is_unwrapped(arg) else unnoticed(lo, arg, node) for arg in args]
            return python_functions.call(lo, function, given, node)
        case IteratorValue(kind="pairwise", parts=(inner,)):
            items = _drawn(lo, inner, node)
            if isinstance(items, IteratorValue):
                items = python_functions.call(lo, python_functions.copied, [items], node)
            return IteratorValue("zip", (items, python_functions.call(lo, python_functions.but_first, [items], node)))
        case IteratorValue(kind=kind, parts=parts):
            if sum(not isinstance(part, ir.Const) for part in parts) < 2:
                return IteratorValue(kind, tuple([_drawn(lo, part, node) for part in parts]))
            from adjoint.frontend.iterators.effect_watches import each_before_the_next  # lazy

            return IteratorValue(
                kind, tuple(each_before_the_next(lo, parts, lambda part: unnoticed(lo, part, node), node))
            )
        case _:
            return value


def unnoticed(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """All items of what is lazy, computed before something that comes between them: nobody may see that it was so."""
    if not is_lazy(value):
        return value
    from adjoint.frontend.iterators.effect_watches import before_its_turn  # lazy

    with before_its_turn(lo, node):
        return _drawn(lo, value, node)


# One by one


def _is_unwrapped(value: Value) -> bool:
    match value:
        case GeneratorValue(node=generator):
            return len(generator.generators) == 1
        case IteratorValue(kind="lazy", parts=(ir.Const(value=function), *_)):
            return function in _BY_ITEM
        case _:
            return False


def is_given_by_generator(value: Value) -> bool:
    """Whether a generator function of the library gives the same items."""
    return _generator_like(value) is not None


def given_by_generator(lo: Lowerer, value: Value, node: ast.AST) -> Value | None:
    """The generator that gives the same items, where there is one."""
    function = _generator_like(value)
    if function is None or not isinstance(value, IteratorValue):
        return None
    args = value.parts if value.kind == "pairwise" else value.parts[1:]
    return python_functions.call(lo, function, [*args], node)


def _generator_like(value: Value) -> Callable[..., object] | None:
    from adjoint.frontend.iterators.of_itertools import item_by_item  # lazy

    match value:
        case IteratorValue(kind="pairwise"):
            return item_by_item.paired
        case IteratorValue(kind="lazy", parts=(ir.Const(value=function), *_)):
            found: Callable[..., object] | None = getattr(item_by_item, function.__name__, None)
            return found
        case _:
            return None
