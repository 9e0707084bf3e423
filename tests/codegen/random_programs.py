"""Random programs of everything that control flow has, with functions that note what they do."""

from __future__ import annotations

import operator
import random
from typing import Any

from adjoint import ir
from adjoint.ir import nodes
from adjoint.ir.rebuild import map_leaves
from adjoint.runtime import display

FLOATS = ir.List(ir.FLOAT)


class Stop(Exception):
    """Raised by ``risky``."""


class Journal:
    """What impure functions did, in order; ``noisy`` and ``risky`` are bound into programs."""

    def __init__(self) -> None:
        self.entries: list[Any] = []

    def noisy(self, value: float) -> float:
        self.entries.append(value)
        return wrap(value * 3 + len(self.entries))

    def risky(self, value: float) -> float:
        self.entries.append(("risky", value))
        if int(value) % 3 == 0:
            raise Stop(value)
        return value

    def poke(self, memory: list[float], value: float) -> float:
        """Writes memory behind the program's back."""
        memory[int(value) % len(memory)] += 1
        self.entries.append(tuple(memory))
        return wrap(value + 1)


def wrap(value: float) -> float:
    """Keeps numbers small and exact."""
    return float(int(value) % 1009)


def same(memory: list[float]) -> list[float]:
    """Another name for a list."""
    return memory


PURE = (operator.add, operator.sub, operator.neg, max)
TESTS = (operator.lt, operator.eq, operator.ge, operator.ne)
HINTS = ("x", "y", "z", "t", "u")


class Writer:
    """Writes random programs. Everything is decided by the seed."""

    def __init__(
        self, seed: int, journal: Journal, *, impure: bool = True, guards: bool = True, dense: bool = False
    ) -> None:
        self.random = random.Random(seed)
        self.journal = journal
        self.impure = impure
        self.guards = guards
        self.dense = dense
        self.fresh: list[nodes.Var] = []
        self.budget = self.random.randint(4, 28)

    def function(self) -> nodes.Function:
        x, y = nodes.Var("x", ir.FLOAT, True), nodes.Var("y", ir.FLOAT, True)
        memory, n = nodes.Var("m", FLOATS, True), nodes.Var("n", ir.INT, True)
        scope = [x, y]
        self.memory, self.n = memory, n
        self.memories = [memory]
        head: list[nodes.Statement] = []
        for name in ("kept", "other")[: self.random.randint(0, 2)]:
            own = nodes.Var(name, FLOATS, self.random.random() < 0.5)
            head.append(nodes.Call((own,), display.make_list, (x, y, nodes.Const(1.0), nodes.Const(2.0))))
            self.memories.append(own)
            if self.random.random() < 0.4:
                alias = nodes.Var("alias", FLOATS, self.random.random() < 0.5)
                head.append(nodes.Call((alias,), same, (own,)))
                self.memories.append(alias)
        body = self.block(scope, "return", 1 if self.dense else 3, 1, head=head)
        return nodes.Function("program", (x, y, memory, n), body)

    # Values

    def var(self, type_: ir.Type = ir.FLOAT) -> nodes.Var:
        hint = self.random.choice(HINTS)
        return nodes.Var(hint, type_, hint != "t" and self.random.random() < (0.1 if self.dense else 0.5))

    def atom(self, scope: list[nodes.Var]) -> nodes.Atom:
        if not scope or self.random.random() < 0.15:
            return nodes.Const(float(self.random.randint(-3, 5)))
        if self.dense and self.random.random() < 0.8:
            waiting = [var for var in self.fresh if var in scope]
            if waiting:
                chosen = self.random.choice(waiting[-3:])
                self.fresh.remove(chosen)
                return chosen
        recent = scope[-4:] if self.random.random() < 0.6 else scope
        return self.random.choice(recent)

    def cond(self, scope: list[nodes.Var], out: list[nodes.Statement]) -> nodes.Var:
        cond = nodes.Var(self.random.choice(("c", "t")), ir.BOOL, self.random.random() < 0.1)
        out.append(nodes.Call((cond,), self.random.choice(TESTS), (self.atom(scope), self.atom(scope))))
        if self.random.random() < 0.3:
            inner: list[nodes.Statement] = []
            other = self.cond(scope, inner)
            both = nodes.Var("t", ir.BOOL)
            told = nodes.Block(tuple(inner), nodes.Yield((other,)))
            echo = nodes.Block(
                (), nodes.Yield((self.random.choice((cond, cond, nodes.Const(True), nodes.Const(False))),))
            )
            sides = (told, echo) if self.random.random() < 0.5 else (echo, told)
            out.append(nodes.If(cond, *sides, (both,)))
            return both
        return cond

    # Statements

    def statements(self, scope: list[nodes.Var], depth: int) -> list[nodes.Statement]:
        out: list[nodes.Statement] = []
        for _ in range(self.random.randint(0, 14 if self.dense else 5)):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement(scope, out, depth)
        return out

    def statement(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        kinds = ["call"] * 6 + ["load"] * 2 + ["store", "append"]
        kinds += ["noisy", "poke"] if self.impure else []
        kinds += ["if", "if", "choice", "loop", "loop"] if depth else []
        kinds += ["guard"] if depth and self.guards else []
        getattr(self, self.random.choice(kinds) + "_")(scope, out, depth)

    def bind(self, scope: list[nodes.Var], out: list[nodes.Statement], make: Any) -> None:
        target = self.var()
        out.append(make(target))
        scope.append(target)
        self.fresh.append(target)

    def call_(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        callee = self.random.choice((*PURE, max, max) if self.dense else PURE)
        args = tuple(
            self.atom(scope)
            for _ in range(1 if callee is operator.neg else self.random.choice((2, 2, 3)) if callee is max else 2)
        )
        self.bind(scope, out, lambda target: nodes.Call((target,), callee, args))

    def noisy_(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        targets = (self.var(),) if self.random.random() < 0.8 else ()
        out.append(nodes.Call(targets, self.journal.noisy, (self.atom(scope),)))
        scope.extend(targets)
        self.fresh.extend(targets)

    def poke_(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        args = (self.random.choice((self.memory, *self.memories)), self.atom(scope))
        self.bind(scope, out, lambda target: nodes.Call((target,), self.journal.poke, args))

    def key(self) -> nodes.Subscript:
        return nodes.Subscript((nodes.Const(self.random.randint(0, 2)),))

    def load_(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        key, memory = self.key(), self.random.choice(self.memories)
        self.bind(scope, out, lambda target: nodes.Load(target, memory, key))

    def store_(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        small = nodes.Var("t", ir.FLOAT)
        out.append(nodes.Call((small,), wrap, (self.atom(scope),)))
        mode: Any = self.random.choice(("set", "add", "sub"))
        out.append(nodes.Store(self.random.choice(self.memories), self.key(), small, mode))

    def append_(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        if len(self.memories) > 1:
            own = self.random.choice(self.memories[1:])
            out.append(nodes.Call((), list.append, (own, self.atom(scope))))
            self.bind(scope, out, lambda target: nodes.Call((target,), list.pop, (own,)))

    def choice_(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        """An ``if`` that only chooses a value."""
        cond = self.cond(scope, out)
        target = nodes.Var("t", ir.FLOAT)
        sides = []
        for _ in range(2):
            inner: list[nodes.Statement] = []
            local = list(scope)
            for _ in range(self.random.randint(0, 2)):
                self.call_(local, inner, 0)
            sides.append(nodes.Block(tuple(inner), nodes.Yield((self.atom(local),))))
        out.append(nodes.If(cond, *sides, (target,)))
        scope.append(target)

    def if_(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        cond = self.cond(scope, out)
        targets = tuple(self.var() for _ in range(self.random.randint(0, 3)))
        dead = [self.random.random() < 0.15 for _ in targets]
        sides = []
        for _ in range(2):
            sides.append(self.block(list(scope), "yield", depth - 1, len(targets), dead))
        out.append(nodes.If(cond, *sides, targets))
        scope.extend(target for target, gone in zip(targets, dead, strict=True) if not gone)

    def guard_(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        targets = tuple(self.var() for _ in range(self.random.randint(0, 2)))
        local = list(scope)
        inner = self.statements(local, depth - 1)
        risk = self.var()
        inner.insert(
            self.random.randint(0, len(inner)), nodes.Call((risk,), self.journal.risky, (self.atom(list(scope)),))
        )
        local.append(risk)
        body = nodes.Block(tuple(inner), self.leaf(local, "yield", len(targets), None))
        handlers = []
        if self.random.random() < 0.8:
            handlers.append(
                nodes.Handler(nodes.Const(Stop), None, self.block(list(scope), "yield", depth - 1, len(targets)))
            )
        final = None
        if self.random.random() < 0.4 or not handlers:
            final_statements: list[nodes.Statement] = []
            self.store_(list(scope), final_statements, 0)
            final = nodes.Block(tuple(final_statements), nodes.Yield())
        out.append(nodes.Guarded(None, None, body, tuple(handlers), final, targets))
        scope.extend(targets)

    def loop_(self, scope: list[nodes.Var], out: list[nodes.Statement], depth: int) -> None:
        count = self.random.randint(0, 3)
        params = tuple(self.var() for _ in range(count))
        extra = self.random.randint(0, 2) if self.random.random() < 0.4 else 0
        inits = tuple(self.atom(scope) for _ in params)
        index = nodes.Var("i", ir.INT, True) if self.random.random() < 0.7 else None
        if self.random.random() < 0.2:
            over: Any = nodes.Items(nodes.Const((1, 2, 4)))
        elif self.random.random() < 0.3:
            length = nodes.Var("t", ir.INT)
            out.append(nodes.Call((length,), len, (self.memory,)))
            over = nodes.Range(nodes.Const(0), length, nodes.Const(1), self.random.random() < 0.3)
        else:
            step = self.random.choice((1, 1, 1, 2, -1))
            start, stop = (nodes.Const(0), self.n) if step > 0 else (self.n, nodes.Const(0))
            over = nodes.Range(start, stop, nodes.Const(step), self.random.random() < 0.3)
        local = [*scope, *params, *([index] if index is not None else [])]
        head: list[nodes.Statement] = []
        if (
            isinstance(over, nodes.Range)
            and isinstance(over.stop, nodes.Var)
            and over.stop.hint == "t"
            and index is not None
        ):
            drawn = self.var()
            head.append(nodes.Load(drawn, self.memory, nodes.Subscript((index,))))
            local.append(drawn)
        self.loop_exits: list[int]
        saved = getattr(self, "loop_exits", [])
        self.loop_exits = []
        body = self.block(local, "loop", depth - 1, count + extra, [False] * count + [True] * extra, count, head)
        kinds = sorted(set(self.loop_exits))
        self.loop_exits = saved
        targets = tuple(self.var() for _ in range(count + extra))
        exit_ = nodes.Var("exit", ir.INT) if kinds and self.random.random() < 0.7 else None
        if index is None and self.random.random() < 0.6:
            over, body = None, self.counted(body, params, targets, kinds)
            params, inits = (*params, self.counter), (*inits, nodes.Const(0))
            targets = (*targets[:count], nodes.Var("k", ir.INT, True), *targets[count:])
            count += 1
        out.append(nodes.Loop(over, index, params, inits, body, targets, exit_))
        scope.extend(targets[:count])
        if exit_ is not None:
            self.question(scope, out, depth, exit_, kinds, targets[count:])

    def counted(self, body: nodes.Block, params: Any, targets: Any, kinds: list[int]) -> nodes.Block:
        """The body of a loop that is left when a new parameter, a counter, has reached ``n``."""
        self.counter = counter = nodes.Var("k", ir.INT, self.random.random() < 0.7)
        following, test = nodes.Var("k", ir.INT, self.random.random() < 0.5), nodes.Var("t", ir.BOOL)
        at = len(params)

        def with_counter(leaf: nodes.Terminator) -> nodes.Terminator:
            match leaf:
                case nodes.Continue(values=values):
                    return nodes.Continue((*values, following))
                case nodes.Exit(kind=kind, values=values):
                    return nodes.Exit(kind, (*values[:at], counter, *values[at:]))
                case _:
                    return leaf

        body = map_leaves(body, with_counter)
        body = nodes.Block(
            (nodes.Call((following,), operator.add, (counter, nodes.Const(1))), *body.statements), body.terminator
        )
        kinds.append(3)
        way_out = nodes.Block((), nodes.Exit(3, (*params, counter, *(nodes.UNDEFINED for _ in targets[at:]))))
        if self.random.random() < 0.7:
            return nodes.Block(
                (nodes.Call((test,), operator.lt, (counter, self.n)),), nodes.Branch(test, body, way_out)
            )
        return nodes.Block((nodes.Call((test,), operator.ge, (counter, self.n)),), nodes.Branch(test, way_out, body))

    def question(self, scope: Any, out: Any, depth: int, exit_: nodes.Var, kinds: list[int], handed: Any) -> None:
        """Asks after a loop how it was left: the values of exits only are read on that path alone."""
        kind = self.random.choice(kinds)
        test = nodes.Var("t", ir.BOOL)
        out.append(nodes.Call((test,), operator.eq, (exit_, nodes.Const(kind))))
        targets = tuple(self.var() for _ in range(self.random.randint(0, 2)))
        told = handed if len(kinds) == 1 else ()
        if self.random.random() < 0.5:
            self.pending_question = (test, told)
            return
        sides = [self.block([*scope, *more], "yield", depth - 1, len(targets)) for more in (told, ())]
        out.append(nodes.If(test, *sides, targets))
        scope.extend(targets)

    # Blocks

    def block(
        self,
        scope: list[nodes.Var],
        ending: str,
        depth: int,
        count: int,
        dead: list[bool] | None = None,
        params: int = 0,
        head: list[nodes.Statement] | None = None,
    ) -> nodes.Block:
        self.pending_question = None
        out = [*(head or []), *self.statements(scope, depth)]
        asked, self.pending_question = self.pending_question, None
        if asked is not None and any(isinstance(part, nodes.Call) and part.targets == (asked[0],) for part in out):
            test, told = asked
            last = isinstance(out[-1], nodes.Call) and out[-1].targets == (test,)
            sides = [
                self.block([*scope, *(more if last else ())], ending, depth - 1, count, dead, params)
                for more in (told, ())
            ]
            return nodes.Block(tuple(out), nodes.Branch(test, *sides))
        if depth > 0 and self.budget > 0 and self.random.random() < 0.4:
            self.budget -= 1
            cond = self.cond(scope, out)
            sides = [self.block(list(scope), ending, depth - 1, count, dead, params) for _ in range(2)]
            return nodes.Block(tuple(out), nodes.Branch(cond, *sides))
        return nodes.Block(tuple(out), self.leaf(scope, ending, count, dead, params))

    def leaf(
        self, scope: list[nodes.Var], ending: str, count: int, dead: list[bool] | None, params: int = 0
    ) -> nodes.Terminator:
        values = tuple(
            nodes.UNDEFINED
            if dead is not None and ending == "yield" and dead[at] and self.random.random() < 0.6
            else self.atom(scope)
            for at in range(count)
        )
        match ending:
            case "return":
                return nodes.Return(tuple(self.atom(scope) for _ in range(2)))
            case "yield":
                return nodes.Yield(values)
            case _:
                if self.random.random() < 0.4:
                    kind = self.random.randint(1, 2)
                    self.loop_exits.append(kind)
                    return nodes.Exit(kind, values)
                return nodes.Continue(values[:params])
