"""Generators: the body of a generator function, with what its consumer does in place of each ``yield``.

Calling one binds its parameters. Whoever goes through it runs the body once, from its start to its end; at a ``yield``
the consumer's code runs in the consumer's own frame. Where that leaves for good, by ``break`` or ``return``, the
generator is closed: control leaves its body as well, by an action of the same name with a mark.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.control.iteration import run_for
from adjoint.frontend.control.joins_of_exits import CLOSING, behind, is_closing, settle
from adjoint.frontend.control.liveness import live_at_head, unread_on_closing
from adjoint.frontend.functions.activations import inlined_activation, is_structural, is_too_often
from adjoint.frontend.functions.inlining import activated
from adjoint.frontend.interpreter.core import MAX_INLINE_DEPTH, Lowerer
from adjoint.frontend.interpreter.state.blocks import Exiting, Region
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.values import NONE, Cell, Closure, GeneratorObject, Method, Site, Value
from adjoint.frontend.iterators.coming_back import come_back, site_as_object
from adjoint.frontend.iterators.generators.state_machines import bodies
from adjoint.frontend.iterators.generators.yields_as_statements import names_caught
from adjoint.frontend.iterators.iterator_objects import as_object, iterated
from adjoint.frontend.library.in_python.iterator_definitions import Resumable
from adjoint.frontend.objects.attributes import attribute
from adjoint.frontend.objects.classes import class_of
from adjoint.records import dataclass
from adjoint.sources.scope import assigned_names, own_yields
from adjoint.sources.trees import nodes

MOST_CODE = 20_000
"""How large what a consumer does may become that stands in several places, in nodes of its syntax tree."""

Consume = Callable[[Value], None]


# Made by a call


def made_by_call(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """What a call of a generator function gives; nothing of its body runs."""
    _refuse_unordinary(lo, closure, node)
    frame = activated(lo, closure, args, kwargs, node)
    place = node or closure.source.node
    made = GeneratorObject(frame, place, tuple(args), site_as_object(lo, place))
    return as_object(lo, made, place) if made.site in lo.settings.stepped else made


def _refuse_unordinary(lo: Lowerer, closure: Closure, node: ast.AST | None) -> None:
    code = closure.source.node
    if isinstance(code, ast.Lambda):
        raise lo.problem("AD0104", node, "a 'lambda' that yields is not supported")
    for part in nodes(code):
        if isinstance(part, ast.Raise) and part.exc is not None and _names_stop_iteration(part.exc):
            label = "inside a generator this becomes a 'RuntimeError'"
            raise lo.problem("AD0104", node, label, helps=("return instead",), name=closure.source.name)
        after_problem = part.handlers if isinstance(part, ast.Try) else []
        final = part.finalbody if isinstance(part, ast.Try) else []
        if any(own_yields(each) for each in (*after_problem, *final)):
            kind = "except" if any(map(own_yields, after_problem)) else "finally"
            label = f"{closure.source.name!r} yields inside '{kind}'"
            helps = ("yield behind the 'try' statement",)
            raise lo.problem("AD0104", node, label, helps=helps, name=closure.source.name)


def _names_stop_iteration(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "StopIteration" for part in nodes(node))


def is_inside_generator(lo: Lowerer) -> bool:
    """Whether what runs here was called, at whatever distance, by a generator's body."""
    frame = lo.frame
    while frame is not None and frame.yielded is None and frame.source.node not in bodies:
        frame = frame.caller
    return frame is not None


def refuse_ending(lo: Lowerer, node: ast.AST | None) -> None:
    """Refuses ``next`` in a generator where its end would be handled: what leaves a generator is a 'RuntimeError'."""
    if not lo.run_data.handled or not is_inside_generator(lo) or lo.frame is None:
        return
    for part in nodes(lo.frame.source.node):
        if isinstance(part, ast.Try) and any(node in nodes(statement) for statement in part.body):
            caught = [name for handler in part.handlers for name in names_caught(handler)]
            if not {None, "StopIteration", "Exception", "BaseException"}.isdisjoint(caught):
                return
    label = "that there is no item becomes a 'RuntimeError' inside a generator"
    raise lo.problem("AD0104", node, label, helps=("give 'next' a default",))


# Gone through


def loop_over(
    lo: Lowerer,
    node: ast.AST,
    generator: GeneratorObject,
    bind: Consume,
    body: Callable[[], None],
    orelse: Sequence[ast.stmt] = (),
    assigned: Sequence[ast.AST] = (),
) -> None:
    """The loop ``for item in generator``, in which ``bind`` takes an item."""
    origin, base = lo.open, lo.store
    _bind_later(lo, node, assigned)

    def consume(item: Value) -> None:
        bind(item)
        if lo.block is not None:
            body()
        lo.leave("continue")

    with lo.region("function") as whole:
        size = sum(len(nodes(part)) for part in assigned)
        Run(lo, generator, _Loop(lo, generator, consume, node, size)).run()
        lo.leave("exhausted")
    settle(lo, behind(lo, whole.exits, orelse), origin, base, "done")


def _bind_later(lo: Lowerer, node: ast.AST, assigned: Sequence[ast.AST]) -> None:
    """Variables that a loop may bind first exist from here on, so that loops of the generator carry them."""
    assert lo.frame is not None
    for name in dict.fromkeys(name for part in assigned for name in assigned_names(part)):
        cell = lo.frame.cells.get(name)
        if cell is not None and cell not in lo.store and live_at_head(lo, node, name):
            lo.store[cell] = ir.UNDEFINED


def delegate(lo: Lowerer, iterable: Value, node: ast.YieldFrom) -> Value:
    """``yield from iterable``"""
    if lo.block is None:
        return ir.UNDEFINED
    yielded = _yielded(lo, node)
    cls = class_of(lo, iterable)
    if cls is not None and issubclass(cls, Resumable):
        return _delegate_to_object(lo, iterable, node)
    iterable = iterated(lo, iterable, node)
    if isinstance(iterable, GeneratorObject):

        def hand_on(item: Value) -> None:
            assert consumer.site is not None
            yielded(item, node, consumer.site)
            lo.leave("continue")

        consumer = _Loop(lo, iterable, hand_on, node, 0)
        return Run(lo, iterable, consumer).run()
    items: list[Value] = []

    def hold(item: Value) -> None:
        items[:] = [item]

    run_for(lo, node, iterable, hold, lambda: yielded(items[0], node, lo.site(node)))
    return NONE


def _delegate_to_object(lo: Lowerer, generator: Value, node: ast.YieldFrom) -> Value:
    """``yield from`` of a generator that is an object: it is closed where the one around it is."""

    def of(function: Callable[..., Any]) -> Value:
        return lo.call(Method(ir.Const(function), generator), [], {}, node)

    yielded = _yielded(lo, node)
    of(Resumable._as_delegate)
    items: list[Value] = []

    def hold(item: Value) -> None:
        items[:] = [item]

    origin, base = lo.open, lo.store
    with lo.region("function") as whole:
        left = of(Resumable._left_to_delegate)
        run_for(lo, node, left, hold, lambda: yielded(items[0], node, lo.site(node)))
        lo.leave("delegated")
    for leaf in whole.exits:
        if is_closing(leaf.action):
            lo.block, lo.store = leaf.block, leaf.store
            of(Resumable._close_with_delegating)
            leaf.block, leaf.store = lo.open, lo.store
    settle(lo, whole.exits, origin, base, "delegated")
    return ir.UNDEFINED if lo.block is None else attribute(lo, generator, "_result", node)


def yield_value(lo: Lowerer, node: ast.Yield) -> Value:
    """``yield value``, which gives None: nothing is sent."""
    yielded = _yielded(lo, node)
    value = NONE if node.value is None else lo.evaluate(node.value)
    if lo.block is None:
        return ir.UNDEFINED
    yielded(value, node, lo.site(node))
    return NONE


def _yielded(lo: Lowerer, node: ast.expr) -> Callable[[Value, ast.expr, Site], None]:
    assert lo.frame is not None
    if lo.frame.yielded is None:
        raise lo.problem("AD0104", node, "this generator runs by itself")
    return lo.frame.yielded


@dataclass(eq=False, slots=True)
class Run:
    """One way through a generator."""

    lo: Lowerer
    generator: GeneratorObject
    consumer: Consumer

    def run(self) -> Value:
        """Runs the body in the open block, and goes on behind its end; gives what it returns."""
        lo, frame = self.lo, self.generator.frame
        code = frame.source.node
        self._refuse_depth()
        result = Cell("result")
        origin, base = lo.open, lo.store
        outer, activations = lo.frame, lo.run_data.activations
        place = _Place(lo, outer, activations, len(lo.regions))
        frame.yielded = lambda value, node, site: self.consumer.take(value, node, site, place)
        lo.frame, lo.depth = frame, lo.depth + 1
        lo.run_data.activations = [*activations, (code, self.generator.args, None)]

        def body() -> Value:
            lo.run(code.body)
            lo.leave("return", NONE)
            return ir.UNDEFINED

        try:
            with lo.region("function") as region:
                lo.attempt(body)
        finally:
            lo.frame, lo.depth, lo.run_data.activations = outer, lo.depth - 1, activations
        for leaf in region.exits:
            self._end(leaf, result)
        settle(lo, region.exits, origin, base, "ended")
        return ir.UNDEFINED if lo.block is None else lo.store.pop(result)

    def _end(self, leaf: Exiting, result: Cell) -> None:
        if leaf.action == "return":
            leaf.action = "ended"
            leaf.store[result], leaf.value = leaf.value, ir.UNDEFINED
        else:
            leaf.action = leaf.action.removesuffix(CLOSING)
        frame = self.generator.frame
        if not frame.makes_closures:
            for name, cell in frame.cells.items():
                if frame.closure.cells.get(name) is not cell:
                    leaf.store.pop(cell, None)

    def _refuse_depth(self) -> None:
        lo, frame = self.lo, self.generator.frame
        before = inlined_activation(lo, frame.closure)
        deep = before is not None and (
            not is_structural(lo, before, list(self.generator.args)) or is_too_often(lo, frame.source.node)
        )
        if deep or lo.depth > MAX_INLINE_DEPTH:
            label = f"{frame.source.name!r} goes through itself, and it is not known how deep that goes"
            helps = ("return a list instead",)
            raise lo.problem("AD0104", self.generator.node, label, helps=helps, name=frame.source.name)


@dataclass(eq=False, slots=True)
class _Place:
    """Where a generator is gone through from."""

    lo: Lowerer
    frame: Frame | None
    activations: list[tuple[ast.AST, tuple[Value, ...], object]]
    regions: int

    def is_inside(self, *kinds: str) -> bool:
        """Whether control in the generator is in a region of these kinds."""
        return any(region.kind in kinds for region in self.lo.regions[self.regions :])


class Consumer:
    """What happens with the items of a generator."""

    def __init__(self, lo: Lowerer, generator: GeneratorObject, consume: Consume) -> None:
        self.lo = lo
        self.generator = generator
        self.consume = consume
        self.site: Site | None = None

    def take(self, item: Value, node: ast.expr, site: Site, place: _Place) -> None:
        """Runs in place of a ``yield``."""
        lo, self.site = self.lo, site
        origin, base = lo.open, lo.store
        frame, activations = lo.frame, lo.run_data.activations
        lo.frame, lo.run_data.activations = place.frame, place.activations
        raised = lo.run_data.raising
        try:
            with lo.region("function") as region:
                self.consume(item)
        finally:
            lo.frame, lo.run_data.activations = frame, activations
        self.settle_ways(region)
        leaving = [leaf for leaf in region.exits if leaf.action != "continue"]
        for leaf in leaving:
            leaf.action += CLOSING
            for cell in unread_on_closing(lo, node):
                leaf.store.pop(cell, None)
        self.check(node, place, bool(leaving), lo.run_data.raising > raised)
        settle(lo, region.exits, origin, base, "continue")
        lo.at(node)

    def settle_ways(self, region: Region) -> None:
        """What becomes of the ways out of the consumer's code."""

    def check(self, node: ast.expr, place: _Place, closes: bool, raises: bool) -> None:
        """Refuses what the generator would find out."""


class _Loop(Consumer):
    """Goes through all items, unless it leaves; what it raises does not come by the generator."""

    def __init__(self, lo: Lowerer, generator: GeneratorObject, consume: Consume, loop: ast.AST, size: int) -> None:
        super().__init__(lo, generator, consume)
        self.loop = loop
        self.size = size
        self.handled = lo.run_data.handled
        self.places: set[object] = set()

    def check(self, node: ast.expr, place: _Place, closes: bool, raises: bool) -> None:
        lo, name = self.lo, self.generator.frame.source.name
        self.places.add(self.site)
        if len(self.places) > 1 and len(self.places) * self.size > MOST_CODE:
            label = f"{name!r} yields in {len(self.places)} places, and this loop does a lot"
            helps = ("yield in a loop over the values", "make a list of the items: list(...)")
            raise lo.problem("AD0104", self.loop, label, helps=helps, name=name)
        if raises and place.is_inside("catching"):
            label = f"{name!r} yields inside 'try', which does not handle what the loop over it raises"
            raise lo.problem("AD0104", node, label, helps=("yield behind the 'try' statement",), name=name)
        late = closes or (raises and self.handled > 0)
        if self.generator.held and late and place.is_inside("guarded", "catching"):
            come_back(lo, self.generator)
            label = f"what {name!r} does when it is closed happens later, for it is kept somewhere"
            outright = ("loop over the call itself, which nothing else refers to",)
            raise lo.problem("AD0104", node, label, helps=outright, name=name)
