"""A small front end for tests: plain functions of numbers, arrays and lists become core functions.

It knows assignments, arithmetic, calls by name, branches, loops with every kind of exit, element reads and stores, and
``append`` and ``pop`` on lists of floats. An array that is stored to must be made in the function or typed as written.
"""

from __future__ import annotations

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable
from typing import Any

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.ir.join import join_atoms
from adjoint.rules.typing import type_of_call
from adjoint.runtime.display import make_list, make_tuple

Env = dict[str, ir.Atom]
Then = Callable[[Env, Builder], ir.Terminator]
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.USub: operator.neg,
}  # fmt: skip
MODES = {ast.Add: "add", ast.Sub: "sub"}


def small(fn: Callable[..., Any], *types: ir.Type) -> ir.Function:
    """The core function of ``fn`` for parameters of these types."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    scope = inspect.getclosurevars(fn)
    names = {**scope.builtins, **scope.globals, **scope.nonlocals}
    return Lowering(tree, names, fn).function(types)


class Lowering:
    def __init__(self, tree: ast.FunctionDef, names: dict[str, Any], fn: Callable[..., Any]) -> None:
        self.tree, self.names, self.fn = tree, names, fn
        self.itself = ir.Definition(tree.name)
        items = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
        stores = [node.value for node in items if isinstance(node.ctx, ast.Store)]
        self.stored = {base.id for base in stores if isinstance(base, ast.Name)}
        self.leave: list[Callable[[str, ir.Atom | None, Env, Builder], ir.Terminator]] = []

    def function(self, types: tuple[ir.Type, ...]) -> ir.Function:
        params = tuple(ir.Var(arg.arg, type_, True) for arg, type_ in zip(self.tree.args.args, types, strict=True))
        builder = Builder(type_of_call)
        env: Env = {param.hint: param for param in params}
        self.leave.append(lambda kind, value, env, builder: ir.Return(self.values(value)))
        end = self.run(self.tree.body, env, builder, lambda env, builder: ir.Return(()))
        self.itself.function = ir.Function(self.tree.name, params, builder.block(end))
        return self.itself.function

    def values(self, value: Any) -> tuple[ir.Atom, ...]:
        return value if isinstance(value, tuple) else (value,)

    def run(self, body: list[ast.stmt], env: Env, builder: Builder, then: Then) -> ir.Terminator:
        for place, statement in enumerate(body):
            rest = body[place + 1 :]
            match statement:
                case ast.Return(value=ast.Tuple(elts=parts)):
                    several: Any = tuple(self.expr(part, env, builder) for part in parts)
                    return self.leave[-1]("return", several, env, builder)
                case ast.Return(value=value):
                    assert value is not None
                    return self.leave[-1]("return", self.expr(value, env, builder), env, builder)
                case ast.Break():
                    return self.leave[-1]("break", None, env, builder)
                case ast.Continue():
                    return self.leave[-1]("continue", None, env, builder)
                case ast.If(test=test, body=yes, orelse=no):
                    cond = self.expr(test, env, builder)
                    if _escapes(yes) or _escapes(no):
                        sides = []
                        for side in (yes, no):
                            inner = builder.nested()
                            end = self.run([*side, *([] if _ends(side) else rest)], dict(env), inner, then)
                            sides.append(inner.block(end))
                        return ir.Branch(cond, sides[0], sides[1])
                    self.if_(cond, yes, no, env, builder)
                case ast.For() | ast.While():
                    end = self.loop(statement, rest, env, builder, then)
                    if end is not None:
                        return end
                case _:
                    self.simple(statement, env, builder)
        return then(env, builder)

    def if_(self, cond: ir.Atom, yes: list[ast.stmt], no: list[ast.stmt], env: Env, builder: Builder) -> None:
        envs, builders = [dict(env), dict(env)], [builder.nested(), builder.nested()]
        for side, inner, nested in zip((yes, no), envs, builders, strict=True):
            self.run(side, inner, nested, lambda env, builder: ir.Yield())
        changed = [name for name in {**envs[0], **envs[1]} if envs[0].get(name) is not envs[1].get(name)]
        values = [[inner.get(name, ir.UNDEFINED) for name in changed] for inner in envs]
        targets = tuple(
            ir.Var(name, join_atoms([first, second]), True)
            for name, first, second in zip(changed, *values, strict=True)
        )
        blocks = [nested.block(ir.Yield(tuple(each))) for nested, each in zip(builders, values, strict=True)]
        builder.emit(ir.If(cond, blocks[0], blocks[1], targets))
        env.update(zip(changed, targets, strict=True))

    def loop(
        self, node: ast.For | ast.While, rest: list[ast.stmt], env: Env, builder: Builder, then: Then
    ) -> ir.Terminator | None:
        assigned = [name for name in _assigned(node.body) if name in env]
        over, index = None, None
        if isinstance(node, ast.For):
            assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
            parts = [self.expr(arg, env, builder) for arg in node.iter.args]
            parts = [ir.Const(0), *parts] if len(parts) == 1 else parts
            over = ir.Range(parts[0], parts[1], parts[2] if len(parts) > 2 else ir.Const(1))
            index = ir.Var(node.target.id, ir.INT, True)
        params = tuple(ir.Var(name, _carried(env[name]), True) for name in assigned)
        returns = any(isinstance(inner, ast.Return) for part in node.body for inner in ast.walk(part))
        inner = builder.nested()
        inside: Env = {**env, **dict(zip(assigned, params, strict=True))}
        if index is not None:
            inside[index.hint] = index
        given: list[ir.Atom] = []
        extra: tuple[ir.Atom, ...] = (ir.UNDEFINED,) if returns else ()

        def leave(kind: str, value: ir.Atom | None, env: Env, builder: Builder) -> ir.Terminator:
            own = tuple(env[name] for name in assigned)
            if kind == "continue":
                return ir.Continue(own)
            if kind == "break":
                return ir.Exit(1, own + extra)
            assert value is not None
            given.append(value)
            return ir.Exit(2, (ir.UNDEFINED,) * len(own) + (value,))

        self.leave.append(leave)
        again: Then = lambda env, builder: leave("continue", None, env, builder)
        if isinstance(node, ast.While) and not (isinstance(node.test, ast.Constant) and node.test.value is True):
            cond = self.expr(node.test, inside, inner)
            deeper = inner.nested()
            body = deeper.block(self.run(node.body, dict(inside), deeper, again))
            end: ir.Terminator = ir.Branch(cond, body, ir.Block((), leave("break", None, inside, inner)))
        else:
            end = self.run(node.body, inside, inner, again)
        self.leave.pop()
        targets = tuple(ir.Var(name, param.type, True) for name, param in zip(assigned, params, strict=True))
        exit_ = ir.Var("exit", ir.INT) if returns else None
        result = tuple(ir.Var("result", join_atoms(given)) for _ in extra)
        inits = tuple(env[name] for name in assigned)
        builder.emit(ir.Loop(over, index, params, inits, inner.block(end), (*targets, *result), exit_))
        env.update(zip(assigned, targets, strict=True))
        if exit_ is None:
            return None
        if isinstance(node, ast.While) and not rest:
            return self.leave[-1]("return", result[0], env, builder)
        left = builder.call(operator.eq, exit_, ir.Const(2))
        yes, no = builder.nested(), builder.nested()
        first = yes.block(self.leave[-1]("return", result[0], env, yes))
        return ir.Branch(left, first, no.block(self.run(rest, dict(env), no, then)))

    def simple(self, statement: ast.stmt, env: Env, builder: Builder) -> None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                env[name] = self.named(name, self.expr(value, env, builder), builder)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                atoms = [self.expr(value, env, builder) for value in values]
                env.update((name.id, atom) for name, atom in zip(names, atoms, strict=True))  # type: ignore[attr-defined]
            case ast.Assign(targets=[ast.Subscript(value=base, slice=key)], value=value):
                atom = self.expr(value, env, builder)
                builder.store(self.expr(base, env, builder), self.key(key, env, builder), atom)
            case ast.Assign(targets=[ast.Attribute(value=base, attr=attr)], value=value):
                builder.store(self.expr(base, env, builder), ir.Attribute(attr), self.expr(value, env, builder))
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                result = builder.call(OPERATORS[type(op)], env[name], self.expr(value, env, builder))
                env[name] = self.named(name, result, builder)
            case ast.AugAssign(target=ast.Subscript(value=base, slice=key), op=op, value=value):
                atom = self.expr(value, env, builder)
                mode = MODES[type(op)]
                builder.store(self.expr(base, env, builder), self.key(key, env, builder), atom, mode)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr="append"), args=[value])):
                rows, row = self.expr(base, env, builder), self.expr(value, env, builder)
                builder.effect(list.append, rows, row)
                if isinstance(row, ir.Var) and isinstance(row.type, ir.Array):
                    row.type.storage.unite(rows.type.element.storage)
            case _:
                raise NotImplementedError(ast.dump(statement))

    def named(self, name: str, atom: ir.Atom, builder: Builder) -> ir.Atom:
        """The value under the user's name, where it is a fresh one; an array that is stored to is marked so."""
        last = builder.statements[-1] if builder.statements else None
        if not isinstance(atom, ir.Var) or not isinstance(last, ir.Call) or last.targets != (atom,) or atom.named:
            return atom
        type_ = atom.type
        if name in self.stored and isinstance(type_, ir.Array):
            type_ = ir.Array(type_.dtype, type_.dims, ir.Storage(written=True))
        new = ir.Var(name, type_, True)
        builder.statements[-1] = ir.Call((new,), last.callee, last.args, last.kwargs, last.span)
        return new

    def expr(self, node: ast.expr, env: Env, builder: Builder) -> Any:
        match node:
            case ast.Constant(value=value):
                return ir.Const(value)
            case ast.Name(id=name):
                return env[name] if name in env else ir.Const(self.names[name])
            case ast.BinOp(left=left, op=op, right=right):
                return builder.call(OPERATORS[type(op)], self.expr(left, env, builder), self.expr(right, env, builder))
            case ast.UnaryOp(op=op, operand=operand):
                return builder.call(OPERATORS[type(op)], self.expr(operand, env, builder))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return builder.call(OPERATORS[type(op)], self.expr(left, env, builder), self.expr(right, env, builder))
            case ast.List(elts=parts):
                atoms = tuple(self.expr(part, env, builder) for part in parts)
                target = ir.Var("xs", ir.List(join_atoms(atoms) if atoms else ir.FLOAT, ir.Storage(written=True)))
                builder.emit(ir.Call((target,), make_list, atoms))
                return target
            case ast.Tuple(elts=parts):
                return builder.call(make_tuple, *(self.expr(part, env, builder) for part in parts))
            case ast.Subscript(value=value, slice=key):
                base = self.expr(value, env, builder)
                return builder.load(base, self.key(key, env, builder), self.element(base, key, env, builder))
            case ast.Call(func=func, args=args):
                return self.call(func, args, env, builder)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name not in env:
                return ir.Const(getattr(self.names[name], attr))
            case ast.Attribute(value=value, attr=attr):
                base = self.expr(value, env, builder)
                assert isinstance(base, ir.Var) and isinstance(base.type, ir.Instance)
                return builder.load(base, ir.Attribute(attr), base.type.fields[attr])
            case _:
                raise NotImplementedError(ast.dump(node))

    def call(self, func: ast.expr, args: list[ast.expr], env: Env, builder: Builder) -> Any:
        if isinstance(func, ast.Attribute) and func.attr == "pop":
            base = self.expr(func.value, env, builder)
            target = ir.Var("t", base.type.element)
            builder.emit(ir.Call((target,), list.pop, (base,)))
            return target
        atoms = [self.expr(arg, env, builder) for arg in args]
        callee = self.names.get(func.id) if isinstance(func, ast.Name) else self.expr(func, env, builder).value
        if callee is self.fn or (isinstance(func, ast.Name) and func.id == self.tree.name):
            target = ir.Var("t", ir.FLOAT)
            builder.emit(ir.Call((target,), self.itself, tuple(atoms)))
            return target
        return builder.call(callee, *atoms)

    def key(self, node: ast.expr, env: Env, builder: Builder) -> ir.Subscript:
        def item(part: ast.expr) -> ir.Atom | ir.Slice:
            if not isinstance(part, ast.Slice):
                return self.expr(part, env, builder)
            ends = (part.lower, part.upper, part.step)
            return ir.Slice(*(ir.Const(None) if end is None else self.expr(end, env, builder) for end in ends))

        if isinstance(node, ast.Tuple):
            return ir.Subscript(tuple(map(item, node.elts)), True)
        return ir.Subscript((item(node),))

    def element(self, base: ir.Var, node: ast.expr, env: Env, builder: Builder) -> ir.Type:
        match base.type:
            case ir.Array(dtype=dtype, dims=dims, storage=storage):
                assert dims is not None
                parts = node.elts if isinstance(node, ast.Tuple) else [node]
                kept: list[Any] = []
                for part, dim in zip(parts, dims, strict=False):
                    if isinstance(part, ast.Slice):
                        kept.append("any")
                    elif isinstance(part, ast.Name) and isinstance(env[part.id].type, ir.Array):  # type: ignore[union-attr]
                        return ir.Array(dtype, ("any",))
                    del dim
                kept += dims[len(parts) :]
                return ir.Array(dtype, tuple(kept), storage) if kept else ir.Scalar("float", dtype)
            case ir.List(element=element):
                assert element is not None
                return element
            case ir.Tuple(items=items):
                assert isinstance(node, ast.Constant)
                return items[node.value]
            case _:
                raise NotImplementedError(base.type)


def _carried(atom: ir.Atom) -> ir.Type:
    type_ = join_atoms([atom])
    return {ir.BOOL: ir.BOOL, ir.INT: ir.INT}.get(type_, type_)  # type: ignore[call-overload,no-any-return]


def _assigned(body: list[ast.stmt]) -> list[str]:
    found: dict[str, None] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
    return list(found)


def _escapes(body: list[ast.stmt]) -> bool:
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
            return True
        if isinstance(statement, ast.If) and (_escapes(statement.body) or _escapes(statement.orelse)):
            return True
        if isinstance(statement, (ast.For, ast.While)):
            if any(isinstance(inner, ast.Return) for inner in ast.walk(statement)):
                return True
    return False


def _ends(body: list[ast.stmt]) -> bool:
    return bool(body) and (
        isinstance(body[-1], (ast.Return, ast.Break, ast.Continue))
        or (isinstance(body[-1], ast.If) and _ends(body[-1].body) and _ends(body[-1].orelse))
    )
