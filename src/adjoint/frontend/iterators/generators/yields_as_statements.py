"""Generator functions in which every ``yield`` is a statement of its own: ``yield x``, or ``name = yield x``.

What is evaluated before it in the same statement is kept in variables; loops go through a variable that has their
iterator, for they are come back to.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any, TypeVar

from adjoint.sources.scope import own_yields, scope_of
from adjoint.sources.trees import nodes

N = TypeVar("N", bound=ast.AST)


class CannotSuspend(Exception):
    """A generator that cannot be an object, with the place and what is in the way."""

    def __init__(self, node: ast.AST, label: str, help_: str) -> None:
        super().__init__(label)
        self.node, self.label, self.help = node, label, help_


def is_yield(node: ast.AST | None) -> bool:
    return isinstance(node, (ast.Yield, ast.YieldFrom))


def with_yields_as_statements(function: ast.FunctionDef, iterator: object, bounds: object) -> ast.FunctionDef:
    """A copy in which each ``yield`` is a statement of its own.

    Loops call ``iterator`` for what they go through, and ``bounds`` for the first number of a range and its end.
    """
    rewritten = copy.deepcopy(function)
    rewriter = _Rewriter(function, iterator, bounds)
    rewritten.body = rewriter.block(rewritten.body)
    return rewritten


class _Rewriter:
    def __init__(self, function: ast.FunctionDef, iterator: object, bounds: object) -> None:
        self.iterator, self.bounds = iterator, bounds
        self.local = scope_of(function).local
        self.taken = {part.id for part in nodes(function) if isinstance(part, ast.Name)} | self.local
        self.nonlocals = {
            name
            for inner in nodes(function)
            if inner is not function and isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
            for name in scope_of(inner).nonlocals
        }

    def fresh(self, name: str, place: ast.AST) -> ast.Name:
        number = 1
        while f"{name}_{number}" in self.taken:
            number += 1
        self.taken.add(f"{name}_{number}")
        return ast.copy_location(ast.Name(f"{name}_{number}", ast.Store()), place)

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [part for statement in statements for part in self.statement(statement)]

    def statement(self, node: Any) -> list[ast.stmt]:
        if not own_yields(node):
            return [node]
        before: list[ast.stmt] = []
        match node:
            case ast.Expr(value=value) if is_yield(value):
                self.operand(value, before)
            case ast.Assign(targets=[ast.Name()], value=value) if is_yield(value):
                self.operand(value, before)
            case ast.Assign(targets=targets) if not any(map(own_yields, targets)):
                node.value = self.first(node.value, before)
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                if name in self.nonlocals:
                    label = f"{name!r} may be assigned elsewhere before this is gone on with"
                    raise CannotSuspend(node, label, "give what 'yield' gives a name first")
                node.value = self.first(node.value, before)
            case ast.Expr() | ast.Return():
                node.value = self.first(node.value, before)
            case ast.If(test=test):
                node.test = self.first(test, before) if own_yields(test) else test
                node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            case ast.While():
                self.loop(node)
            case ast.For(target=target, iter=over) if not own_yields(target):
                node.iter = self.first(over, before) if own_yields(over) else over
                node.body, node.orelse = self.block(node.body), self.block(node.orelse)
                step = self.step_of_range(node.iter)
                return [*before, *(self.through_iterator(node) if step is None else self.counting(node, step))]
            case ast.Match(subject=subject, cases=cases) if not any(own_yields(c.guard) for c in cases if c.guard):
                node.subject = self.first(subject, before) if own_yields(subject) else subject
                for case in cases:
                    case.body = self.block(case.body)
            case ast.Try(handlers=handlers, finalbody=final):
                _refuse_closing(node, handlers, final)
                node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            case ast.With():
                label = "what this does when the generator is closed would be done at a time that nobody knows"
                raise CannotSuspend(node, label, "put 'with' around the loop over the generator")
            case _:
                raise CannotSuspend(own_yields(node)[0], "'yield' stands inside this statement", _NAMED)
        return [*before, node]

    def loop(self, node: ast.While) -> None:
        """A loop whose condition yields asks it inside."""
        before: list[ast.stmt] = []
        if own_yields(node.test):
            if node.orelse:
                raise CannotSuspend(own_yields(node.test)[0], "'yield' stands in the condition of a loop", _NAMED)
            test = self.first(node.test, before)
            before.append(fill_in_places(ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], []), test))
            node.test = _constant(True, test)
        node.body, node.orelse = [*before, *self.block(node.body)], self.block(node.orelse)

    def through_iterator(self, node: ast.For) -> list[ast.stmt]:
        over = node.iter
        name = self.fresh("iterator", over)
        node.iter = _read(name)
        call = ast.copy_location(ast.Call(_constant(self.iterator, over), [over], []), over)
        return [_assignment(name, call), node, _forgotten(name, over)]

    def step_of_range(self, node: ast.expr) -> int | None:
        """The step of a range, if that is known; None for what is no range."""
        match node:
            case ast.Call(func=ast.Name("range"), args=args, keywords=[]) if "range" not in self.local and not any(
                isinstance(arg, ast.Starred) for arg in args
            ):
                try:
                    step = ast.literal_eval(args[2]) if len(args) == 3 else 1
                except ValueError:
                    return None
                return step if isinstance(step, int) and step != 0 and 0 < len(args) < 4 else None
            case _:
                return None

    def counting(self, node: ast.For, step: int) -> list[ast.stmt]:
        """A loop over a range, with the number that comes next and the end as variables."""
        over = node.iter
        assert isinstance(over, ast.Call)
        number, end = self.fresh("number", over), self.fresh("end", over)
        bounds = ast.Call(_constant(self.bounds, over), [over], [])
        test = ast.Compare(_read(number), [ast.Lt() if step > 0 else ast.Gt()], [_read(end)])
        following = ast.BinOp(_read(number), ast.Add(), _constant(step, over))
        taken = [ast.Assign([node.target], _read(number)), _assignment(number, ast.copy_location(following, over))]
        loop = ast.While(test, [*taken, *node.body], node.orelse)
        begun = ast.Assign([ast.Tuple([number, end], ast.Store())], bounds)
        found = [begun, loop, _forgotten(number, over), _forgotten(end, over)]
        for statement in found:
            fill_in_places(statement, node)
        return found

    def operand(self, node: Any, before: list[ast.stmt]) -> None:
        """What is yielded: computed before, where it yields itself."""
        if node.value is not None and own_yields(node.value):
            node.value = self.first(node.value, before)

    def first(self, node: Any, before: list[ast.stmt]) -> ast.expr:
        """An expression without its yields: what is evaluated up to the last of them is given names ``before`` it."""
        if not own_yields(node):
            return node  # type: ignore[no-any-return]
        if is_yield(node):
            self.operand(node, before)
            name = self.fresh("sent", node)
            before.append(_assignment(name, node))
            return _read(name)
        parts = self.parts_in_order(node)
        last = max(place for place, (part, _, _) in enumerate(parts) if own_yields(part))
        for part, field, place in parts[: last + 1]:
            new = self.first(part, before)
            if not isinstance(new, ast.Constant) and not (isinstance(part, ast.expr) and is_yield(part)):
                name = self.fresh("part", part)
                before.append(_assignment(name, new))
                new = _read(name)
            if place is None:
                setattr(field[0], field[1], new)
            else:
                getattr(field[0], field[1])[place] = new
        return node  # type: ignore[no-any-return]

    def parts_in_order(self, node: ast.expr) -> list[tuple[Any, tuple[Any, str], int | None]]:
        """The operands of an expression in the order in which they are evaluated, with where they stand."""
        match node:
            case ast.BinOp():
                return [(node.left, (node, "left"), None), (node.right, (node, "right"), None)]
            case ast.UnaryOp():
                return [(node.operand, (node, "operand"), None)]
            case ast.Compare(ops=[_]):
                return [(node.left, (node, "left"), None), (node.comparators[0], (node, "comparators"), 0)]
            case ast.Tuple(elts=elts) | ast.List(elts=elts) if not any(isinstance(e, ast.Starred) for e in elts):
                return [(part, (node, "elts"), place) for place, part in enumerate(elts)]
            case ast.Call(args=args, keywords=keywords) if not any(isinstance(a, ast.Starred) for a in args):
                found: list[Any] = [(node.func, (node, "func"), None)]
                found += [(part, (node, "args"), place) for place, part in enumerate(args)]
                return found + [(keyword.value, (keyword, "value"), None) for keyword in keywords]
            case ast.Subscript() if not isinstance(node.slice, ast.Slice):
                return [(node.value, (node, "value"), None), (node.slice, (node, "slice"), None)]
            case ast.Attribute() | ast.NamedExpr():
                return [(node.value, (node, "value"), None)]
            case ast.BoolOp(values=[first, *others]) if not any(map(own_yields, others)):
                return [(first, (node, "values"), 0)]
            case ast.IfExp() if not own_yields(node.body) and not own_yields(node.orelse):
                return [(node.test, (node, "test"), None)]
            case _:
                raise CannotSuspend(own_yields(node)[0], "'yield' stands inside this expression", _NAMED)


_NAMED = "give what 'yield' gives a name in a statement of its own"


def _refuse_closing(node: ast.Try, handlers: Sequence[ast.ExceptHandler], final: Sequence[ast.stmt]) -> None:
    """Refuses what would run when the generator is closed: whenever nobody has it any more."""
    in_body = any(own_yields(part) for part in node.body)
    caught = [name for handler in handlers for name in names_caught(handler)] if in_body else []
    if final or any(name in (None, "BaseException", "GeneratorExit") for name in caught):
        label = "what this does when the generator is closed would be done at a time that nobody knows"
        raise CannotSuspend(node, label, "put 'try' around what goes through the generator")


def names_caught(handler: ast.ExceptHandler) -> list[str | None]:
    """The names of what a handler catches; None for everything, and for what has no name."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [part.id if isinstance(part, ast.Name) else None for part in caught]


def _assignment(name: ast.Name, value: ast.expr) -> ast.Assign:
    return ast.copy_location(ast.Assign([name], value, lineno=value.lineno), value)


def _forgotten(name: ast.Name, place: ast.AST) -> ast.stmt:
    return fill_in_places(ast.Delete([ast.Name(name.id, ast.Del())]), place)


def _read(name: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(name.id, ast.Load()), name)


def _constant(value: object, place: ast.AST) -> ast.Constant:
    return ast.copy_location(ast.Constant(value), place)  # type: ignore[arg-type]


def fill_in_places(node: N, place: ast.AST) -> N:
    """Gives the parts of a new statement that have no place that of the one it is in."""
    if "lineno" in node._attributes and not hasattr(node, "lineno"):
        ast.copy_location(node, place)
    here = node if hasattr(node, "lineno") else place
    for child in ast.iter_child_nodes(node):
        fill_in_places(child, here)
    return node
