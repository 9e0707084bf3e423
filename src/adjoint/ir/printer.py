"""IR as text: stable, every variable with a name of its own, for reading and for tests.

The first variable with the hint ``x`` prints as ``%x``, those bound after it as ``%x.1``, ``%x.2`` and so on.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from adjoint import ir

_MARKS = {"set": "=", "add": "+=", "sub": "-=", "add_at": "+=@"}
_BARE_MODULES = frozenset({"builtins", "operator", "_operator", "adjoint.runtime.display"})


def format_function(function: ir.Function, *, types: bool = False) -> str:
    """The text of a function.

    Parameters
    ----------
    function : Function
    types : bool
        Whether each variable's type is printed where the variable is bound.
    """
    return _Printer(types).function(function)


def format_type(type_: ir.Type | None) -> str:
    """A type, short."""
    match type_:
        case None:
            return "?"
        case ir.Scalar(kind=kind, dtype=dtype):
            return kind if dtype is None else str(dtype)
        case ir.Array(dtype=dtype, dims=dims, storage=storage):
            marks = "?" if dims is None else ", ".join({"one": "1", "many": ":", "any": "_"}[dim] for dim in dims)
            return f"{'buffer' if storage.written else 'array'}[{'?' if dtype is None else dtype}, ({marks})]"
        case ir.Number():
            return "number"
        case ir.List(element=element):
            return f"list[{format_type(element)}]"
        case ir.Dict(value=value):
            return f"dict[{format_type(value)}]"
        case ir.Tuple(items=items):
            return f"tuple[{', '.join(map(format_type, items))}]"
        case ir.Instance(cls=cls):
            return cls.__qualname__
        case ir.Opaque(cls=cls):
            return "opaque" if cls is None else f"opaque[{cls.__qualname__}]"
        case _:
            return type(type_).__name__


def format_callee(callee: Any) -> str:
    """The name of what is called, without anything that differs between runs."""
    match callee:
        case ir.Function(name=name) | ir.Definition(name=name):
            return f"@{name}"
        case ir.Derived(function=function, wrt=wrt, outputs=outputs):
            return f"@{function.name}'[wrt={list(wrt)}, outputs={list(outputs)}]"
        case ir.Declared(name=name):
            return f"@{name}'"
        case ir.Applied(places=places):
            return f"applied[{', '.join(map(str, places))}]"
        case np.ufunc():
            return f"numpy.{callee.__name__}"
        case ModuleType():
            return callee.__name__
    qualified: Any = getattr(callee, "__qualname__", None) or getattr(callee, "__name__", None)
    if not isinstance(qualified, str):
        return f"<{type(callee).__name__}>"
    module = getattr(callee, "__module__", None)
    if not isinstance(module, str) or module in _BARE_MODULES:
        return qualified
    return f"{module.lstrip('_')}.{qualified}"


class _Printer:
    def __init__(self, types: bool) -> None:
        self.types = types
        self.lines: list[str] = []
        self.names: dict[ir.Var, str] = {}
        self.taken: dict[str, int] = {}

    def function(self, function: ir.Function) -> str:
        params = self.binders(function.params)
        self.line(0, f"function {function.name}({params}):")
        self.block(function.body, 1)
        return "\n".join(self.lines)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def binder(self, var: ir.Var) -> str:
        if var not in self.names:
            count = self.taken.get(var.hint, 0)
            self.taken[var.hint] = count + 1
            self.names[var] = f"%{var.hint}.{count}" if count else f"%{var.hint}"
        name = self.names[var]
        return f"{name}: {format_type(var.type)}" if self.types else name

    def binders(self, variables: Iterable[ir.Var]) -> str:
        return ", ".join(map(self.binder, variables))

    def atom(self, atom: ir.Atom) -> str:
        match atom:
            case ir.Var():
                return self.names.get(atom, f"%?{atom.hint}")
            case ir.Undefined():
                return "undefined"
            case ir.Const(value=value):
                return _constant(value)

    def atoms(self, atoms: Iterable[ir.Atom]) -> str:
        return ", ".join(map(self.atom, atoms))

    def access(self, base: ir.Atom, key: ir.Key | None) -> str:
        text = self.atom(base)
        if key is None:
            return text
        if isinstance(key, ir.Attribute):
            return f"{text}.{key.name}"
        items = ", ".join(self.slice(item) if isinstance(item, ir.Slice) else self.atom(item) for item in key.items)
        return f"{text}[{items}{',' if key.tupled and len(key.items) == 1 else ''}]"

    def slice(self, item: ir.Slice) -> str:
        parts = ["" if part == ir.Const(None) else self.atom(part) for part in (item.lower, item.upper, item.step)]
        return ":".join(parts if parts[2] else parts[:2])

    def block(self, block: ir.Block, depth: int) -> None:
        for statement in block.statements:
            self.statement(statement, depth)
        self.terminator(block.terminator, depth)

    def statement(self, statement: ir.Statement, depth: int) -> None:
        match statement:
            case ir.Call(targets, callee, args, kwargs):
                passed = [self.atom(arg) for arg in args] + [f"{name}={self.atom(value)}" for name, value in kwargs]
                self.bind(depth, targets, f"{format_callee(callee)}({', '.join(passed)})")
            case ir.Load(target, base, key):
                self.bind(depth, (target,), self.access(base, key))
            case ir.Store(base, store_key, value, mode):
                whole = "[...]" if store_key is None else ""
                self.line(depth, f"{self.access(base, store_key)}{whole} {_MARKS[mode]} {self.atom(value)}")
            case ir.If(cond, then, orelse, targets):
                self.choice(depth, "if", cond, then, orelse)
                self.results(depth, targets)
            case ir.Loop():
                self.loop(statement, depth)
            case ir.Guarded():
                self.guarded(statement, depth)

    def bind(self, depth: int, targets: tuple[ir.Var, ...], text: str) -> None:
        self.line(depth, f"{self.binders(targets)} = {text}" if targets else text)

    def results(self, depth: int, targets: tuple[ir.Var, ...]) -> None:
        if targets:
            self.line(depth, f"-> {self.binders(targets)}")

    def choice(self, depth: int, word: str, cond: ir.Atom, then: ir.Block, orelse: ir.Block) -> None:
        self.line(depth, f"{word} {self.atom(cond)}:")
        self.block(then, depth + 1)
        self.line(depth, "else:")
        self.block(orelse, depth + 1)

    def loop(self, loop: ir.Loop, depth: int) -> None:
        match loop.over:
            case ir.Range(start, stop, step, backward, free):
                order = "any order of " if free else "reversed " if backward else ""
                source = f"{order}range({self.atoms((start, stop, step))})"
            case ir.Items(iterable):
                source = self.atom(iterable)
            case None:
                source = ""
        inits = self.atoms(loop.inits)
        head = (
            "while true" if loop.over is None else f"for {self.binder(loop.index) if loop.index else '_'} in {source}"
        )
        carried = f" with {self.binders(loop.params)} = {inits}" if loop.params else ""
        self.line(depth, f"{head}{carried}:")
        self.block(loop.body, depth + 1)
        left = f" by {self.binder(loop.exit)}" if loop.exit is not None else ""
        if loop.targets or left:
            self.line(depth, f"-> {self.binders(loop.targets)}{left}")

    def guarded(self, guarded: ir.Guarded, depth: int) -> None:
        name = f" as {self.binder(guarded.name)}" if guarded.name is not None else ""
        self.line(depth, f"with {self.atom(guarded.context)}{name}:" if guarded.context is not None else "try:")
        self.block(guarded.body, depth + 1)
        for handler in guarded.handlers:
            caught = f" {self.atom(handler.exception)}" if handler.exception is not None else ""
            named = f" as {self.binder(handler.name)}" if handler.name is not None else ""
            self.line(depth, f"except{caught}{named}:")
            self.block(handler.body, depth + 1)
        if guarded.final is not None:
            self.line(depth, "finally:")
            self.block(guarded.final, depth + 1)
        self.results(depth, guarded.targets)

    def terminator(self, terminator: ir.Terminator, depth: int) -> None:
        match terminator:
            case ir.Yield(values):
                self.line(depth, f"yield {self.atoms(values)}".rstrip())
            case ir.Continue(values):
                self.line(depth, f"continue {self.atoms(values)}".rstrip())
            case ir.Exit(kind, values):
                self.line(depth, f"exit {kind}: {self.atoms(values)}".rstrip())
            case ir.Return(values):
                self.line(depth, f"return {self.atoms(values)}".rstrip())
            case ir.Raise(exception, cause):
                text = "raise" if exception is None else f"raise {self.atom(exception)}"
                self.line(depth, text if cause is None else f"{text} from {self.atom(cause)}")
            case ir.Branch(cond, then, orelse):
                self.choice(depth, "branch", cond, then, orelse)


def _constant(value: Any) -> str:
    if value is None or value is ... or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"<{format_type(ir.Array(value.dtype, None))} {value.shape}>"
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))}{',' if len(value) == 1 else ''})"
    if callable(value) or isinstance(
        value, (ModuleType, ir.Function, ir.Definition, ir.Declared, ir.Derived, ir.Applied)
    ):
        return format_callee(value)
    return f"<{type(value).__name__}>"
