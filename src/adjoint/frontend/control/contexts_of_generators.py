"""``with`` of what `contextlib.contextmanager` decorates: the function's body, with the statement's at its ``yield``.

What the statement's body raises is raised at the ``yield``; by whatever other way control leaves it, the function goes
on behind the ``yield``, and when it has ended control goes the way it was about to.
"""

from __future__ import annotations

import ast
import contextlib
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.control.joins_of_exits import is_closing
from adjoint.frontend.functions.closures import closure_of
from adjoint.frontend.functions.inlining import call_closure
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.blocks import Region
from adjoint.frontend.interpreter.values import (
    Cell,
    Closure,
    GeneratorContext,
    GeneratorObject,
    Partial,
    Value,
    is_torn,
)
from adjoint.frontend.iterators.generators.loops import Consumer, Run
from adjoint.sources.scope import own_yields
from adjoint.sources.trees import nodes

_ORDINARY = ("write a class with '__enter__' and '__exit__'",)


def function_of_contexts(constant: Any) -> types.FunctionType | None:
    """The generator function behind one that `contextlib.contextmanager` has made of it."""
    if isinstance(constant, types.FunctionType) and constant.__code__ is _MADE:
        inner = getattr(constant, "__wrapped__", None)
        return inner if isinstance(inner, types.FunctionType) else None
    return None


@contextlib.contextmanager
def _nothing() -> Any:
    yield


_MADE = _nothing.__code__


def context_of(lo: Lowerer, function: Value, args: list[Value], kwargs: dict[str, Value], node: Any) -> Value:
    """What a call gives of a function that is decorated so."""
    if isinstance(function, ir.Const):  # a package's, too, whatever it is given
        generator = call_closure(lo, closure_of(lo, function.value, node), args, kwargs, node)
    else:
        generator = lo.call(function, args, kwargs, node)
    if not isinstance(generator, GeneratorObject):
        raise lo.problem("AD0301", node, "this context manager is made by a function that does not yield")
    return GeneratorContext(generator)


def manages(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Stands for what `contextlib.contextmanager` makes of a function that is defined inside another."""
    raise NotImplementedError


@handles(contextlib.contextmanager)
def _decorate(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return Partial(ir.Const(manages), (args[0],), ()) if isinstance(args[0], Closure) else NotImplemented


@handles(manages)
def _manage(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return context_of(lo, args[0], args[1:], kwargs, node)


def run_context(
    lo: Lowerer, node: ast.With, context: GeneratorContext, bind: Callable[[Value], None], body: Callable[[], None]
) -> None:
    """``with context as target: body``"""
    code = context.generator.frame.source.node
    if not _yields_once(code.body):
        name = context.generator.frame.source.name
        label = f"it is not certain that {name!r} yields once"
        raise lo.problem("AD0104", node, label, helps=_ORDINARY, name=name)
    within = _Within(lo, context.generator, node, bind, body)
    lo.store[within.way] = ir.Const(0)
    Run(lo, context.generator, within).run()
    within.go_on()


class _Within(Consumer):
    """Runs the body of the statement, and keeps in mind by which way it was left."""

    def __init__(
        self,
        lo: Lowerer,
        generator: GeneratorObject,
        node: ast.With,
        bind: Callable[[Value], None],
        body: Callable[[], None],
    ) -> None:
        def consume(item: Value) -> None:
            bind(item)
            if lo.block is not None:
                body()
            lo.leave(_ENDED)

        super().__init__(lo, generator, consume)
        self.node = node
        self.way, self.result = Cell("way"), Cell("result")
        self.actions = [_ENDED]

    def settle_ways(self, region: Region) -> None:
        for leaf in region.exits:
            if is_closing(leaf.action):
                continue
            if leaf.action != _ENDED:
                if leaf.action not in self.actions:
                    self.actions.append(leaf.action)
                leaf.store[self.way] = ir.Const(self.actions.index(leaf.action))
                leaf.store[self.result], leaf.value = leaf.value, ir.UNDEFINED
            leaf.action = "continue"

    def go_on(self) -> None:
        """Goes the way that the body was left by, now that the function has ended."""
        lo = self.lo
        if lo.block is None:
            return
        way, result = lo.store.pop(self.way), lo.store.pop(self.result, ir.UNDEFINED)
        if is_torn(way) or is_torn(result):
            label = "by which way the body is left depends on where an exception was raised"
            raise lo.problem("AD0308", self.node, label)
        assert isinstance(way, (ir.Var, ir.Const))

        def leave(action: str) -> Value:
            lo.leave(action, result if action == "return" else ir.UNDEFINED)
            return ir.UNDEFINED

        for number, action in enumerate(self.actions[1:], 1):
            if lo.block is None:
                return
            is_it = (
                ir.Const(way.value == number)
                if isinstance(way, ir.Const)
                else lo.open.call(operator.eq, way, ir.Const(number))
            )
            lo.branch(is_it, lambda action=action: leave(action), lambda: ir.UNDEFINED, self.node)  # type: ignore[misc]


_ENDED = "ended"


def _yields_once(statements: Sequence[ast.stmt]) -> bool:
    """Whether a yield is reached once, whatever happens, unless what comes before it raises."""
    place = next((place for place, statement in enumerate(statements) if own_yields(statement)), None)
    if place is None or any(own_yields(statement) for statement in statements[place + 1 :]):
        return False
    if any(_leaves(statement) for statement in statements[:place]):
        return False
    match statements[place]:
        case ast.Expr(value=ast.Yield(value=inner)) | ast.Assign(value=ast.Yield(value=inner)):
            return inner is None or not own_yields(inner)
        case ast.With(items=items, body=body):
            return not any(map(own_yields, items)) and _yields_once(body)
        case ast.If(test=test, body=body, orelse=orelse):
            return not own_yields(test) and _yields_once(body) and _yields_once(orelse)
        case ast.Try(body=body, handlers=handlers, orelse=orelse):
            first = not handlers or bool(own_yields(body[0]))
            return first and not any(map(own_yields, orelse)) and _yields_once(body)
        case _:
            return False


def _leaves(statement: ast.stmt) -> bool:
    return any(isinstance(part, ast.Return) for part in nodes(statement))
