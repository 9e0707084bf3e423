"""Random well-formed functions of floats, ints, truth values and arrays, to compare transforms on."""

from __future__ import annotations

import operator
import random
from dataclasses import dataclass, field

import numpy as np

from adjoint import ir
from adjoint.runtime.display import make_list

LENGTH = 4
ARRAY = "array"
KINDS: dict[str, ir.Type] = {"float": ir.FLOAT, "int": ir.INT, "bool": ir.BOOL}


def array_type(written: bool = False) -> ir.Array:
    return ir.Array(np.dtype(float), ("many",), ir.Storage(written=written))


@dataclass
class Scope:
    """The variables that can be read, by kind."""

    float: list[ir.Atom] = field(default_factory=list)
    int: list[ir.Atom] = field(default_factory=list)
    bool: list[ir.Atom] = field(default_factory=list)
    array: list[ir.Atom] = field(default_factory=list)

    def nested(self) -> Scope:
        return Scope(list(self.float), list(self.int), list(self.bool), list(self.array))

    def of(self, kind: str) -> list[ir.Atom]:
        return getattr(self, kind)


class Generator:
    """Writes one function; a seed gives the same function again."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.budget = self.random.randint(5, 40)

    def function(self) -> ir.Function:
        params = (
            ir.Var("x", ir.FLOAT),
            ir.Var("y", ir.FLOAT),
            ir.Var("n", ir.INT),
            ir.Var("a", array_type(True)),
            ir.Var("b", array_type(True)),
        )
        scope = Scope(list(params[:2]), [params[2]], [], list(params[3:]))
        statements = self.statements(scope, 0)
        return ir.Function("f", params, ir.Block(tuple(statements), self.ending(scope, 0, self.returning)))

    def returning(self, scope: Scope) -> ir.Return:
        return ir.Return(
            (self.atom(scope, "float"), self.atom(scope, "array"), self.atom(scope, "int"), self.atom(scope, "array"))
        )

    def ending(self, scope: Scope, depth: int, leaf):
        """A terminator: a leaf, or a branch between two blocks that end so."""
        if depth < 3 and self.random.random() < 0.3:
            sides = []
            for _ in range(2):
                inner = scope.nested()
                statements = self.statements(inner, depth + 2)
                sides.append(ir.Block(tuple(statements), self.ending(inner, depth + 1, leaf)))
            return ir.Branch(self.atom(scope, "bool"), *sides)
        if self.random.random() < 0.04:
            return ir.Raise(ir.Const(ValueError("stop")))
        return leaf(scope)

    def atom(self, scope: Scope, kind: str) -> ir.Atom:
        known = scope.of(kind)
        if kind == ARRAY:
            return self.random.choice(known)
        if known and self.random.random() < 0.8:
            return self.random.choice(known[-6:])
        if kind == "float":
            return ir.Const(self.random.choice([0.0, -0.0, 1.0, -1.0, 2.0, 0.5]))
        if kind == "int":
            return ir.Const(self.random.choice([0, 1, 2, -1]))
        return ir.Const(self.random.random() < 0.5)

    def statements(self, scope: Scope, depth: int) -> list[ir.Statement]:
        out: list[ir.Statement] = []
        for _ in range(self.random.randint(1, 8)):
            if self.budget <= 0:
                break
            self.budget -= 1
            out += self.statement(scope, depth)
        return out

    def bind(self, scope: Scope, kind: str, hint: str = "t") -> ir.Var:
        var = ir.Var(hint, KINDS[kind] if kind != ARRAY else array_type(True))
        scope.of(kind).append(var)
        return var

    def statement(self, scope: Scope, depth: int) -> list[ir.Statement]:
        makers = (
            [self.arithmetic] * 6 + [self.comparison] * 2 + [self.array_work] * 3 + [self.store] * 3 + [self.listing]
        )
        if depth < 3:
            makers += [self.choice] * 2 + [self.loop] * 2
        return self.random.choice(makers)(scope, depth)

    def arithmetic(self, scope: Scope, depth: int) -> list[ir.Statement]:
        pick = self.random
        kind = pick.choice(["float", "float", "float", "int"])
        callee = pick.choice([operator.add, operator.sub, operator.mul, operator.neg, operator.pow])
        if callee is operator.neg:
            args = (self.atom(scope, kind),)
        elif callee is operator.pow:
            args = (self.atom(scope, kind), ir.Const(pick.choice([1, 2])))
        else:
            args = (self.atom(scope, kind), self.atom(scope, kind))
        return [ir.Call((self.bind(scope, kind),), callee, args)]

    def comparison(self, scope: Scope, depth: int) -> list[ir.Statement]:
        if scope.bool and self.random.random() < 0.4:
            args = (self.random.choice(scope.bool),)
            return [ir.Call((self.bind(scope, "bool", "c"),), operator.not_, args)]
        kind = self.random.choice(["float", "int"])
        callee = self.random.choice([operator.lt, operator.eq, operator.ge, operator.ne])
        args = (self.atom(scope, kind), self.atom(scope, kind))
        return [ir.Call((self.bind(scope, "bool", "c"),), callee, args)]

    def array_work(self, scope: Scope, depth: int) -> list[ir.Statement]:
        base = self.atom(scope, ARRAY)
        match self.random.randint(0, 6):
            case 0:
                return [ir.Call((self.bind(scope, ARRAY, "z"),), np.zeros_like, (base,))]
            case 1:
                args = (base, self.atom(scope, self.random.choice(["float", ARRAY])))
                callee = self.random.choice([operator.add, operator.sub, operator.mul])
                return [ir.Call((self.bind(scope, ARRAY, "s"),), callee, args)]
            case 2:
                return [ir.Call((self.bind(scope, ARRAY, "g"),), operator.neg, (base,))]
            case 3:
                return [ir.Call((self.bind(scope, "int", "n"),), np.ndim, (base,))]
            case 4:
                whole = ir.Subscript((ir.Const(slice(None)),))
                return [ir.Load(self.bind(scope, ARRAY, "v"), base, whole)]
            case _:
                index = ir.Const(self.random.randrange(LENGTH))
                raw = ir.Var("e", ir.Scalar("float", np.dtype(float)))
                return [
                    ir.Load(raw, base, ir.Subscript((index,))),
                    ir.Call((self.bind(scope, "float", "e"),), float, (raw,)),
                ]

    def store(self, scope: Scope, depth: int) -> list[ir.Statement]:
        base = self.atom(scope, ARRAY)
        mode = self.random.choice(["set", "add", "sub"])
        if self.random.random() < 0.3:
            return [ir.Store(base, None, self.atom(scope, ARRAY), self.random.choice(["add", "sub"]))]
        return [
            ir.Store(base, ir.Subscript((ir.Const(self.random.randrange(LENGTH)),)), self.atom(scope, "float"), mode)
        ]

    def listing(self, scope: Scope, depth: int) -> list[ir.Statement]:
        items = ir.Var("items", ir.List(ir.FLOAT))
        first, second = self.atom(scope, "float"), self.atom(scope, "float")
        out: list[ir.Statement] = [ir.Call((items,), make_list, (first,)), ir.Call((), list.append, (items, second))]
        if self.random.random() < 0.5:
            out.append(ir.Call((self.bind(scope, "float", "p"),), list.pop, (items,)))
        return out

    def choice(self, scope: Scope, depth: int) -> list[ir.Statement]:
        kinds = self.random.choices(["float", "int", ARRAY], k=self.random.randint(0, 3))
        cond = self.atom(scope, "bool")
        sides = []
        for _ in range(2):
            inner = scope.nested()
            statements = self.statements(inner, depth + 1)
            terminator = self.ending(inner, depth + 1, lambda s: ir.Yield(tuple(self.atom(s, kind) for kind in kinds)))
            sides.append(ir.Block(tuple(statements), terminator))
        return [ir.If(cond, *sides, tuple(self.bind(scope, kind, "k") for kind in kinds))]

    def loop(self, scope: Scope, depth: int) -> list[ir.Statement]:
        kinds = self.random.choices(["float", "float", "int", ARRAY], k=self.random.randint(0, 3))
        inits = tuple(self.atom(scope, kind) for kind in kinds)
        extra = self.random.random() < 0.3
        inner = scope.nested()
        index = self.bind(inner, "int", "i")
        params = tuple(self.bind(inner, kind, "c") for kind in kinds)
        statements = self.statements(inner, depth + 1)

        def leaf(s: Scope):
            values = tuple(
                param if self.random.random() < 0.3 else self.atom(s, kind)
                for param, kind in zip(params, kinds, strict=True)
            )
            if self.random.random() < 0.3:
                return ir.Exit(self.random.randint(1, 2), (*values, self.atom(s, "float")) if extra else values)
            return ir.Continue(values)

        body = ir.Block(tuple(statements), self.ending(inner, depth + 1, leaf))
        over = ir.Range(ir.Const(0), ir.Const(self.random.randint(0, 3)), ir.Const(1), self.random.random() < 0.2)
        targets = tuple(self.bind(scope, kind, "r") for kind in kinds)
        more = (ir.Var("u", ir.FLOAT),) if extra else ()
        left = self.bind(scope, "int", "left")
        out: list[ir.Statement] = [ir.Loop(over, index, params, inits, body, targets + more, left)]
        if extra:  # read it only where it is defined
            cond, value = ir.Var("c", ir.BOOL), self.bind(scope, "float", "w")
            out.append(ir.Call((cond,), operator.ne, (left, ir.Const(0))))
            out.append(
                ir.If(cond, ir.Block((), ir.Yield((more[0],))), ir.Block((), ir.Yield((ir.Const(3.0),))), (value,))
            )
        return out
