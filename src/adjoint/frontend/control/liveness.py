"""Which variables of a function may still be read: what nothing reads need not be carried through joins and loops.

The usual backward analysis, on the syntax tree. It errs on the side of keeping: what a nested function, lambda or
generator expression reads is live everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Cell
from adjoint.records import dataclass
from adjoint.sources.scope import own_yields, scope_of
from adjoint.sources.trees import nodes

Names = frozenset[str]
NONE: Names = frozenset()
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)
"""What may run later than where it stands."""
_known: WeakKeyDictionary[ast.AST, Liveness] = WeakKeyDictionary()


@dataclass(eq=False, slots=True)
class Liveness:
    """What is live in one function.

    Attributes
    ----------
    droppable
        The names that may be forgotten where they are not live.
    after
        The names that are live behind a statement: where it leads to, if it is a jump.
    heads
        The names that are live where an iteration of a loop starts, or the loop ends.
    closing
        The names that are live where a generator is closed, by the expression that yields.
    """

    droppable: Names
    after: dict[ast.stmt, Names]
    heads: dict[ast.stmt, Names]
    closing: dict[ast.expr, Names]


def liveness_of(function: ast.FunctionDef) -> Liveness:
    """The liveness in a function, found once."""
    found = _known.get(function)
    if found is None:
        found = _known[function] = _Analysis(function).result
    return found


def _here(lo: Lowerer) -> Liveness | None:
    """The liveness in the function that is being lowered; None for a lambda."""
    function = lo.frame.source.node if lo.frame is not None else None
    return liveness_of(function) if isinstance(function, ast.FunctionDef) else None


def forget(lo: Lowerer, statement: ast.stmt) -> None:
    """Unbinds what is not live behind a statement that has been run."""
    found = _here(lo)
    live = None if found is None else found.after.get(statement)
    if found is None or live is None:
        return
    assert lo.frame is not None
    for name in found.droppable - live:
        lo.store.pop(lo.frame.cells[name], None)


def is_live_after(lo: Lowerer, statement: ast.stmt, name: str) -> bool:
    """Whether a variable may be read behind a statement."""
    found = _here(lo)
    live = None if found is None else found.after.get(statement)
    return found is None or live is None or name in live or name not in found.droppable


def live_at_head(lo: Lowerer, loop: ast.AST, name: str) -> bool:
    """Whether a loop must carry a variable."""
    found = _here(lo)
    if found is None or not isinstance(loop, (ast.For, ast.While)):
        return True
    return name not in found.droppable or loop not in found.heads or name in found.heads[loop]


def unread_on_closing(lo: Lowerer, node: ast.expr) -> list[Cell]:
    """The variables of a generator that nothing reads any more if it is closed where it yields."""
    found = _here(lo)
    live = None if found is None else found.closing.get(node)
    if found is None or live is None:
        return []
    assert lo.frame is not None
    return [lo.frame.cells[name] for name in found.droppable - live]


def _read_unnamed(function: ast.FunctionDef) -> set[str]:
    """What is read without being named: by ``super()`` the first parameter, by ``locals()`` all."""
    asked = {node.id for node in nodes(function) if isinstance(node, ast.Name)}
    if "locals" in asked:
        return set(scope_of(function).local)
    return {each.arg for each in [*function.args.posonlyargs, *function.args.args][:1] if "super" in asked}


class _Analysis:
    def __init__(self, function: ast.FunctionDef) -> None:
        kept = {name for statement in function.body for name in _read_later(statement)} | _read_unnamed(function)
        self.result = Liveness(scope_of(function).local - kept, {}, {}, {})
        self.yields = bool(own_yields(function))
        self.loops: list[tuple[Names, Names]] = []  # what is live where ``break`` and ``continue`` lead
        self.finals: list[list[Names]] = [
            []
        ]  # by loop: what is live where ``finally`` blocks start, by which they lead
        self.handlers: list[Names] = [NONE]  # what is live where exceptions lead
        self.block(function.body, NONE)

    def block(self, statements: Sequence[ast.stmt], after: Names) -> Names:
        for statement in reversed(statements):
            self.result.after[statement] = after
            if self.yields:
                self.result.closing |= dict.fromkeys(own_yields(statement), self.handlers[-1])
            after = self.statement(statement, after) | self.handlers[-1]
        return after

    def statement(self, node: ast.stmt, after: Names) -> Names:
        """What is live before a statement."""
        match node:
            case ast.If():
                return _reads(node.test) | self.block(node.body, after) | self.block(node.orelse, after)
            case ast.While():
                return self.loop(node, _reads(node.test), NONE, after)
            case ast.For():
                return _reads(node.iter) | self.loop(node, _reads(node.target), _bound(node.target), after)
            case ast.Try():
                return self.try_(node, after)
            case ast.With():
                return _reads(*node.items) | self.block(node.body, after)
            case ast.Match():
                return self.match(node, after)
            case ast.Return() | ast.Raise():
                return _reads(node) | self.leads_to(node, self.handlers[-1])
            case ast.Break():
                return self.leads_to(node, self.loops[-1][0].union(*self.finals[-1]))
            case ast.Continue():
                return self.leads_to(node, self.loops[-1][1].union(*self.finals[-1]))
            case ast.Assign(targets=targets, value=value):
                return (after - _bound(*targets, *_named_first(value))) | _reads(node)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                return (after - _bound(target)) | _reads(node)
            case ast.AugAssign(target=target):
                return after | _reads(node) | _bound(target)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                return (after - {name}) | _reads(node)
            case _:
                return after | _reads(node)

    def leads_to(self, node: ast.stmt, after: Names) -> Names:
        self.result.after[node] = after
        return after

    def loop(self, node: ast.While | ast.For, reads: Names, bound: Names, after: Names) -> Names:
        exhausted = reads | self.block(node.orelse, after)
        head = exhausted
        while True:
            self.loops.append((after, head))
            self.finals.append([])
            before = exhausted | (self.block(node.body, head) - bound)
            self.finals.pop()
            self.loops.pop()
            if before <= head:
                self.result.heads[node] = head
                return head
            head |= before

    def try_(self, node: ast.Try, after: Names) -> Names:
        if not node.finalbody:
            return self.handled(node, after, self.handlers[-1])
        jumps = frozenset[str]().union(*self.loops[-1]) if self.loops else NONE  # they pass through it, too
        final = self.block(node.finalbody, after | jumps | self.handlers[-1])
        self.finals[-1].append(final)
        before = self.handled(node, final, self.handlers[-1] | final)
        self.finals[-1].pop()
        return before

    def handled(self, node: ast.Try, after: Names, outer: Names) -> Names:
        """What is live before a body with handlers; ``outer`` is where exceptions lead that they let through."""
        self.handlers.append(outer)
        caught = frozenset[str]().union(*(self.handler(handler, after) for handler in node.handlers))
        after = self.block(node.orelse, after)
        self.handlers[-1] = outer | caught
        before = self.block(node.body, after)
        self.handlers.pop()
        return before | caught

    def handler(self, node: ast.ExceptHandler, after: Names) -> Names:
        reads = NONE if node.type is None else _reads(node.type)
        return reads | self.block(node.body, after)

    def match(self, node: ast.Match, after: Names) -> Names:
        live = _reads(node.subject) | after
        for case in node.cases:
            reads = NONE if case.guard is None else _reads(case.guard)
            live |= reads | _reads(case.pattern) | self.block(case.body, after)
        return live


def _reads(*parts: ast.AST) -> Names:
    """The names that are read in expressions; those that comprehensions bind count too."""
    return frozenset(part.id for node in parts for part in nodes(node) if isinstance(part, ast.Name) and _is_read(part))


def _is_read(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Store)


def _bound(*targets: ast.expr) -> Names:
    """The names that targets of an assignment bind whatever happens."""
    return frozenset(name for target in targets for name in _bound_names(target))


def _bound_names(target: ast.expr) -> Iterable[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _bound_names(part)
        case ast.Starred(value=value):
            yield from _bound_names(value)


def _named_first(value: ast.expr) -> Iterable[ast.expr]:
    """The targets of ``:=`` at the head of an expression: of ``a := b := f(x)``."""
    while isinstance(value, ast.NamedExpr):
        yield value.target
        value = value.value


def _read_later(statement: ast.stmt) -> Iterable[str]:
    for part in nodes(statement):
        if isinstance(part, _LATER):
            for inner in nodes(part):
                match inner:
                    case ast.Name(id=name):
                        yield name
                    case ast.Nonlocal(names=names) | ast.Global(names=names):
                        yield from names
