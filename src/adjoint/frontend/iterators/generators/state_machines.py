"""Generator functions as state machines: what runs from one ``yield`` to the next, as a function.

Each ``yield`` has a number, by which the generator knows where it stands. Gone on with there, it runs what is left of
the statements around the ``yield``, from the inside to the outside (its continuation). Where control comes to a
``yield``, the variables that are live behind it are kept, and the function returns. Loops are not entered in their
middle: what is left of an iteration comes before its loop.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from adjoint.frontend.control.liveness import liveness_of
from adjoint.frontend.iterators.generators.yields_as_statements import (
    CannotSuspend,
    fill_in_places,
    is_yield,
    with_yields_as_statements,
)
from adjoint.records import dataclass
from adjoint.sources.scope import NESTED, assigned_names, own_yields, scope_of
from adjoint.sources.trees import nodes

MOST_CODE = 20_000
"""How large the function may become, in nodes of its syntax tree."""

_AT_ONCE = frozenset(["all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"])
"""What goes through a generator expression before it returns."""


class Keep(ast.stmt):
    """Keeps variables in the generator, those of them that are bound."""

    _fields = ("owner", "names")
    owner: ast.Name
    names: list[ast.Name]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


class Restore(Keep):
    """Binds variables to what the generator keeps of them."""


class Resume(Restore):
    """The same of variables that are surely bound where the generator stands."""


@dataclass(eq=False, slots=True)
class StateMachine:
    """The functions that a generator function stands for, of the generator and what is sent.

    Attributes
    ----------
    gives
        Whether the function returns something.
    advance
        Goes on to the next ``yield``; returns whether there is one.
    throw
        The same, where an exception is sent that is raised.
    """

    gives: bool
    advance: ast.FunctionDef
    throw: ast.FunctionDef


_known: WeakKeyDictionary[ast.FunctionDef, StateMachine] = WeakKeyDictionary()
bodies: WeakSet[ast.AST] = WeakSet()
"""The functions of all state machines."""


def state_machine_of(function: ast.FunctionDef, iterator: object, bounds: object, delegate: object) -> StateMachine:
    """The state machine of a generator function, which calls ``iterator``, ``bounds`` and ``delegate``.

    The first two are for loops, and ranges that these go through; the last is for ``yield from``.
    """
    found = _known.get(function)
    if found is None:
        rewritten = with_yields_as_statements(function, iterator, bounds)
        _refuse_late_readers(rewritten)
        advance, throw = (_Writer(rewritten, delegate, throws).function() for throws in (False, True))
        bodies.update((advance, throw))
        found = _known[function] = StateMachine(_gives(rewritten.body), advance, throw)
    return found


# Functions inside, which know the variables of the activation in which they were made


def _refuse_late_readers(function: ast.FunctionDef) -> None:
    """Refuses functions that would not see that a variable is bound again after the generator is gone on with."""
    readers = {name: part for part in _readers(function) for name in _names_in(part)}
    bound = [argument.arg for argument in _parameters(function)]
    bound += [name for part, times in _binding_parts(function.body, 1) for name in assigned_names(part) * times]
    again = next((name for name in readers if bound.count(name) > 1), None)
    if again is not None:
        label = f"{again!r} of the generator is bound again after this function was made"
        raise CannotSuspend(readers[again], label, f"hand it over by a default value: {again}={again}")


def _parameters(function: ast.FunctionDef) -> list[ast.arg]:
    spec = function.args
    found = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    return found + [extra for extra in (spec.vararg, spec.kwarg) if extra is not None]


def _readers(function: ast.FunctionDef) -> Iterable[ast.AST]:
    """The functions in a generator that may run after they were made."""
    calls = [part for part in nodes(function) if isinstance(part, ast.Call) and part.args]
    at_once = {id(call.args[0]) for call in calls if isinstance(call.func, ast.Name) and call.func.id in _AT_ONCE}
    for part in nodes(function):
        if isinstance(part, (*NESTED, ast.GeneratorExp)) and part is not function and id(part) not in at_once:
            yield part


def _names_in(function: ast.AST) -> set[str]:
    own = scope_of(function).local if isinstance(function, (ast.FunctionDef, ast.Lambda)) else frozenset()
    names = {part.id for part in nodes(function) if isinstance(part, ast.Name)}
    declared = [part.names for part in nodes(function) if isinstance(part, ast.Nonlocal)]
    return names.union(*declared) - own


def _binding_parts(statements: Sequence[ast.stmt], times: int) -> Iterable[tuple[ast.AST, int]]:
    """The parts of statements that are no blocks, with 2 for those that may run several times."""
    for statement in statements:
        blocks = [] if isinstance(statement, NESTED) else _blocks(statement)
        inside = 2 if isinstance(statement, (ast.For, ast.While)) else times
        if not blocks:
            yield statement, times
        for block in blocks:
            yield from _binding_parts(block, inside)
        for part in _others(statement) if blocks else ():
            yield part, inside


# Statements and their blocks


def _blocks(node: Any) -> list[list[ast.stmt]]:
    """The blocks of a statement, in the order of the text."""
    found = [block for block in (getattr(node, name, None) for name in _BLOCKS) if isinstance(block, list) and block]
    inner = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    return [*found[:1], *(block for part in inner for block in _blocks(part)), *found[1:]]


_BLOCKS = ("body", "orelse", "finalbody")


def _others(node: ast.AST) -> Iterable[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name not in _BLOCKS:
            yield from [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST)]


def _rebuilt(node: Any, change: Callable[[list[ast.stmt]], list[ast.stmt]]) -> Any:
    """A copy of a statement with other blocks."""
    new = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if name in _BLOCKS:
            setattr(new, name, change(value) if value else [])
        elif name in ("handlers", "cases"):
            setattr(new, name, [_rebuilt(part, change) for part in value])
        else:
            setattr(new, name, copy.deepcopy(value))
    return new


def _leaves(statements: Sequence[ast.stmt]) -> bool:
    """Whether control surely does not come to the end of a block."""
    match statements:
        case [*_, ast.Return() | ast.Raise() | ast.Break() | ast.Continue()]:
            return True
        case [*_, ast.If(body=body, orelse=orelse)]:
            return _leaves(body) and _leaves(orelse)
        case [*_, ast.While(test=ast.Constant(value=True), body=body)]:
            return not _jumps(body, ast.Break)
        case _:
            return False


def _jumps(statements: Sequence[ast.stmt], *kinds: type[ast.stmt]) -> bool:
    """Whether a block, which is part of a loop, leaves an iteration of it."""
    for node in statements:
        if isinstance(node, kinds):
            return True
        inside = [node.orelse] if isinstance(node, (ast.For, ast.While)) else _blocks(node)
        if not isinstance(node, NESTED) and any(_jumps(block, *kinds) for block in inside):
            return True
    return False


def _gives(statements: Sequence[ast.stmt]) -> bool:
    """Whether a block returns something but None."""
    for node in statements:
        if isinstance(node, ast.Return) and node.value is not None:
            return True
        if not isinstance(node, NESTED) and any(map(_gives, _blocks(node))):
            return True
    return False


def _is_suspension(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Expr, ast.Assign)) and is_yield(node.value)


def _unlike(name: str, names: Iterable[str]) -> str:
    while name in names:
        name += "_"
    return name


class _Writer:
    """Writes one of the functions. ``throws``: whether what is sent is raised where the generator stands."""

    def __init__(self, function: ast.FunctionDef, delegate: object, throws: bool) -> None:
        self.source, self.delegate, self.throws = function, delegate, throws
        names = scope_of(function).local | {part.id for part in nodes(function) if isinstance(part, ast.Name)}
        self.generator, self.sent, self.at = (_unlike(name, names) for name in ("generator", "sent", "at"))
        self.names = names
        self.local = scope_of(function).local
        self.live = liveness_of(function)
        self.numbers: dict[ast.stmt, int] = {}
        self.iterators: dict[ast.stmt, tuple[str, ...]] = {}
        self._number(function.body, ())

    def _number(self, statements: Sequence[ast.stmt], iterators: tuple[str, ...]) -> None:
        """Numbers the yields in the order of the text; ``iterators`` are the variables of the loops around."""
        for node in statements:
            if _is_suspension(node):
                self.numbers[node] = len(self.numbers) + 1
                self.iterators[node] = iterators
            elif own_yields(node):
                own: tuple[str, ...] = (
                    (node.iter.id,) if isinstance(node, ast.For) and isinstance(node.iter, ast.Name) else ()
                )
                for block in _blocks(node):
                    self._number(block, (*iterators, *own))

    def function(self) -> ast.FunctionDef:
        source = self.source
        scope = scope_of(source)
        declared = [
            kind(sorted(names))
            for kind, names in ((ast.Global, scope.globals), (ast.Nonlocal, scope.nonlocals))
            if names
        ]
        parameters = self._targets(part.arg for part in _parameters(source))
        begin = [self._put("_begun", ast.Constant(True)), Restore(owner=self._name(self.generator), names=parameters)]
        start = [self._raised()] if self.throws else [*begin, *self.whole(source.body)]
        going_on = [Resume(owner=self._name(self.generator), names=self._targets([self.at])), *self.rest(source.body)]
        body: list[ast.stmt] = [
            *declared,
            ast.If(self._own("_ended"), [self._raised() if self.throws else ast.Return(ast.Constant(False))], []),
            self._put("_ended", ast.Constant(True)),
            ast.If(self._own("_begun"), going_on, start),
            self._put("_result", ast.Constant(None)),
            ast.Return(ast.Constant(False)),
        ]
        arguments = ast.arguments([], [ast.arg(self.generator), ast.arg(self.sent)], None, [], [], None, [])
        found = ast.FunctionDef(source.name, arguments, body, [])
        fill_in_places(found, source)
        if len(nodes(found)) > MOST_CODE:
            label = "what may run behind it, up to the next one, is a lot for each 'yield'"
            raise CannotSuspend(next(iter(self.numbers)), label, "yield in one loop, over the values")
        return found

    # -- from the beginning of a block ---------------------------------------------------------------------------------

    def whole(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for node in statements:
            found += self.one(node)
            if _leaves(found):
                break
        return found

    def one(self, node: ast.stmt) -> list[ast.stmt]:
        if _is_suspension(node):
            return self.suspended(node)
        if isinstance(node, ast.Return):
            result = ast.Constant(None) if node.value is None else copy.deepcopy(node.value)
            return self._placed(node, self._put("_result", result), ast.Return(ast.Constant(False)))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return []
        return [copy.deepcopy(node) if isinstance(node, NESTED) else _rebuilt(node, self.whole)]

    def suspended(self, node: Any) -> list[ast.stmt]:
        value = node.value
        if isinstance(value, ast.YieldFrom):
            delegate: Any = self.delegate
            call = ast.Call(ast.Constant(delegate), [copy.deepcopy(value.value)], [])
            begun = self._placed(node, self._assigned(self.delegated(node), call))
            return [*begun, *self.asked(node, "_advance", ast.Constant(None))]
        return self.leaving(node, ast.Constant(None) if value.value is None else copy.deepcopy(value.value))

    def leaving(self, node: ast.stmt, item: ast.expr) -> list[ast.stmt]:
        at = self._assigned(self.at, ast.Constant(self.numbers[node]))
        keep = Keep(owner=self._name(self.generator), names=[self._name(name) for name in (*self.kept(node), self.at)])
        goes_on = self._put("_ended", ast.Constant(False))
        return self._placed(node, self._put("_item", item), at, keep, goes_on, ast.Return(ast.Constant(True)))

    def kept(self, node: Any) -> list[str]:
        """The variables that may be read behind a ``yield``."""
        bound = [name for target in getattr(node, "targets", ()) for name in assigned_names(target)]
        live = (self.live.after[node] & self.local) | (self.local - self.live.droppable)
        found = {*(live - {*bound}), *self.iterators[node]}
        return sorted(found | {self.delegated(node)} if isinstance(node.value, ast.YieldFrom) else found)

    def delegated(self, node: ast.stmt) -> str:
        return _unlike(f"delegate_{self.numbers[node]}", self.names)

    def asked(self, node: Any, method: str, sent: ast.expr) -> list[ast.stmt]:
        """Asks the generator that this one delegates to for an item; its result is what ``yield from`` gives."""

        def of_delegate(attribute: str) -> ast.expr:
            return ast.Attribute(self._name(self.delegated(node)), attribute, ast.Load())

        more = ast.Call(of_delegate(method), [sent], [])
        found: list[ast.stmt] = [ast.If(more, self.leaving(node, of_delegate("_item")), [])]
        if isinstance(node, ast.Assign):
            found.append(ast.Assign(copy.deepcopy(node.targets), of_delegate("_result")))
        found.append(ast.Delete([ast.Name(self.delegated(node), ast.Del())]))
        return self._placed(node, *found)

    # -- gone on with in the middle of a block -------------------------------------------------------------------------

    def rest(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """What is left of a block in which the generator stands."""
        *earlier, last = [place for place, node in enumerate(statements) if self.last_number(node)]
        found = self.resumed(statements[last])
        for place in reversed(earlier):
            first = self.resumed(statements[place])
            first = first if _leaves(first) else first + self.whole(statements[place + 1 : last + 1])
            found = [self._up_to(self.last_number(statements[place]), first, found)]
        return found if _leaves(found) else found + self.whole(statements[last + 1 :])

    def last_number(self, node: ast.stmt) -> int:
        """The number of the last ``yield`` in a statement; 0 where there is none."""
        if _is_suspension(node):
            return self.numbers[node]
        return self.last_in(part for block in _blocks(node) for part in block) if own_yields(node) else 0

    def last_in(self, statements: Iterable[ast.stmt]) -> int:
        return max(map(self.last_number, statements), default=0)

    def resumed(self, node: Any) -> list[ast.stmt]:
        """What is left of a statement in which the generator stands."""
        if _is_suspension(node):
            return self.received(node)
        ways = [(self.last_in(block), self.rest(block)) for block in _blocks(node) if self.last_in(block)]
        if isinstance(node, (ast.For, ast.While)) and self.last_in(node.body):
            ways[0] = ways[0][0], self.with_loop(node, ways[0][1])
        if isinstance(node, ast.Try) and self.last_in(node.body):
            around = _rebuilt(node, self.whole)
            around.body = ways[0][1]
            ways[0] = ways[0][0], [around]
        _, found = ways.pop()
        for number, way in reversed(ways):
            found = [self._up_to(number, way, found)]
        return found

    def received(self, node: Any) -> list[ast.stmt]:
        sure = {*self.iterators[node], self.delegated(node)}
        restored = [
            kind(owner=self._name(self.generator), names=self._targets(names))
            for kind, names in (
                (Resume, [name for name in self.kept(node) if name in sure]),
                (Restore, [name for name in self.kept(node) if name not in sure]),
            )
        ]
        if isinstance(node.value, ast.YieldFrom):
            method = "_thrown" if self.throws else "_advance"
            return [*self._placed(node, *restored), *self.asked(node, method, self._name(self.sent))]
        if self.throws:
            return self._placed(node, *restored, self._raised())
        bound = [ast.Assign(copy.deepcopy(node.targets), self._name(self.sent))] if isinstance(node, ast.Assign) else []
        return self._placed(node, *restored, *bound)

    def with_loop(self, node: Any, iteration: list[ast.stmt]) -> list[ast.stmt]:
        """The rest of an iteration, and the loop with those that come after it."""
        loop: ast.stmt = _rebuilt(node, self.whole)
        if not _jumps(iteration, ast.Break, ast.Continue):
            return iteration if _leaves(iteration) else [*iteration, loop]
        flag = _unlike(f"goes_on_{self.last_number(node)}", self.names)
        once = ast.While(ast.Constant(True), [*_left_by(iteration, flag), ast.Break()], [])
        return self._placed(node, self._assigned(flag, ast.Constant(True)), once, ast.If(self._name(flag), [loop], []))

    # -- pieces --------------------------------------------------------------------------------------------------------

    def _placed(self, place: ast.stmt, *statements: ast.stmt) -> list[ast.stmt]:
        """Statements that stand for one of the source, at its place."""
        for statement in statements:
            fill_in_places(statement, place)
        return [*statements]

    def _name(self, name: str) -> ast.Name:
        return ast.Name(name, ast.Load())

    def _targets(self, names: Iterable[str]) -> list[ast.Name]:
        return [ast.Name(name, ast.Store()) for name in names]

    def _own(self, name: str) -> ast.expr:
        return ast.Attribute(self._name(self.generator), name, ast.Load())

    def _put(self, name: str, value: ast.expr) -> ast.stmt:
        return ast.Assign([ast.Attribute(self._name(self.generator), name, ast.Store())], value)

    def _assigned(self, name: str, value: ast.expr) -> ast.stmt:
        return ast.Assign([ast.Name(name, ast.Store())], value)

    def _raised(self) -> ast.stmt:
        return ast.Raise(self._name(self.sent), None)

    def _up_to(self, number: int, then: list[ast.stmt], orelse: list[ast.stmt]) -> ast.stmt:
        test = ast.Compare(self._name(self.at), [ast.LtE()], [ast.Constant(number)])
        return ast.If(test, then, orelse)


def _left_by(statements: Sequence[ast.stmt], flag: str) -> list[ast.stmt]:
    """The rest of an iteration as the body of a loop of its own, whose ``flag`` tells whether the loop goes on."""
    found: list[ast.stmt] = []
    for node in statements:
        if isinstance(node, ast.Break):
            ends = ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(False))
            found.append(ast.copy_location(ends, node))
        if isinstance(node, (ast.Break, ast.Continue)):
            found.append(ast.copy_location(ast.Break(), node))
        elif isinstance(node, (ast.For, ast.While)):
            node.orelse = _left_by(node.orelse, flag)
            found.append(node)
        else:
            found.append(node if isinstance(node, NESTED) else _rebuilt(node, lambda block: _left_by(block, flag)))
    return found
