"""IR as text: stable, every variable with a name of its own, for reading and for tests.

The first variable with the hint ``x`` prints as ``%x``, those bound after it as ``%x.1``, ``%x.2`` and so on.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from adjoint.ir.nodes import (
    Applied,
    Atom,
    Attribute,
    Block,
    Branch,
    Call,
    Const,
    Continue,
    Declared,
    Definition,
    Derived,
    Exit,
    Function,
    Guarded,
    If,
    Items,
    Key,
    Load,
    Loop,
    Raise,
    Range,
    Return,
    Slice,
    Statement,
    Store,
    Terminator,
    Undefined,
    Var,
    Yield,
)
from adjoint.ir.types import Array, Dict, Instance, List, Number, Opaque, Scalar, Tuple, Type

_MARKS = {"set": "=", "add": "+=", "sub": "-=", "add_at": "+=@"}
_BARE_MODULES = frozenset({"builtins", "operator", "_operator", "adjoint.runtime.display"})


def format_function(function: Function, *, types: bool = False) -> str:
    """The text of a function.

    Parameters
    ----------
    function : Function
    types : bool
        Whether each variable's type is printed where the variable is bound.
    """
    return _Printer(types).function(function)


def format_type(type_: Type | None) -> str:
    """A type, short."""
    match type_:
        case None:
            return "?"
        case Scalar(kind=kind, dtype=dtype):
            return kind if dtype is None else str(dtype)
        case Array(dtype=dtype, dims=dims, storage=storage):
            marks = "?" if dims is None else ", ".join({"one": "1", "many": ":", "any": "_"}[dim] for dim in dims)
            return f"{'buffer' if storage.written else 'array'}[{'?' if dtype is None else dtype}, ({marks})]"
        case Number():
            return "number"
        case List(element=element):
            return f"list[{format_type(element)}]"
        case Dict(value=value):
            return f"dict[{format_type(value)}]"
        case Tuple(items=items):
            return f"tuple[{', '.join(map(format_type, items))}]"
        case Instance(cls=cls):
            return cls.__qualname__
        case Opaque(cls=cls):
            return "opaque" if cls is None else f"opaque[{cls.__qualname__}]"
        case _:
            return type(type_).__name__


def format_callee(callee: Any) -> str:
    """The name of what is called, without anything that differs between runs."""
    match callee:
        case Function(name=name) | Definition(name=name):
            return f"@{name}"
        case Derived(function=function, wrt=wrt, outputs=outputs):
            return f"@{function.name}'[wrt={list(wrt)}, outputs={list(outputs)}]"
        case Declared(name=name):
            return f"@{name}'"
        case Applied(places=places):
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
        self.names: dict[Var, str] = {}
        self.taken: dict[str, int] = {}

    def function(self, function: Function) -> str:
        params = self.binders(function.params)
        self.line(0, f"function {function.name}({params}):")
        self.block(function.body, 1)
        return "\n".join(self.lines)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def binder(self, var: Var) -> str:
        if var not in self.names:
            count = self.taken.get(var.hint, 0)
            self.taken[var.hint] = count + 1
            self.names[var] = f"%{var.hint}.{count}" if count else f"%{var.hint}"
        name = self.names[var]
        return f"{name}: {format_type(var.type)}" if self.types else name

    def binders(self, variables: Iterable[Var]) -> str:
        return ", ".join(map(self.binder, variables))

    def atom(self, atom: Atom) -> str:
        match atom:
            case Var():
                return self.names.get(atom, f"%?{atom.hint}")
            case Undefined():
                return "undefined"
            case Const(value=value):
                return _constant(value)

    def atoms(self, atoms: Iterable[Atom]) -> str:
        return ", ".join(map(self.atom, atoms))

    def access(self, base: Atom, key: Key | None) -> str:
        text = self.atom(base)
        if key is None:
            return text
        if isinstance(key, Attribute):
            return f"{text}.{key.name}"
        items = ", ".join(self.slice(item) if isinstance(item, Slice) else self.atom(item) for item in key.items)
        return f"{text}[{items}{',' if key.tupled and len(key.items) == 1 else ''}]"

    def slice(self, item: Slice) -> str:
        parts = ["" if part == Const(None) else self.atom(part) for part in (item.lower, item.upper, item.step)]
        return ":".join(parts if parts[2] else parts[:2])

    def block(self, block: Block, depth: int) -> None:
        for statement in block.statements:
            self.statement(statement, depth)
        self.terminator(block.terminator, depth)

    def statement(self, statement: Statement, depth: int) -> None:
        match statement:
            case Call(targets, callee, args, kwargs):
                passed = [self.atom(arg) for arg in args] + [f"{name}={self.atom(value)}" for name, value in kwargs]
                self.bind(depth, targets, f"{format_callee(callee)}({', '.join(passed)})")
            case Load(target, base, key):
                self.bind(depth, (target,), self.access(base, key))
            case Store(base, store_key, value, mode):
                whole = "[...]" if store_key is None else ""
                self.line(depth, f"{self.access(base, store_key)}{whole} {_MARKS[mode]} {self.atom(value)}")
            case If(cond, then, orelse, targets):
                self.choice(depth, "if", cond, then, orelse)
                self.results(depth, targets)
            case Loop():
                self.loop(statement, depth)
            case Guarded():
                self.guarded(statement, depth)

    def bind(self, depth: int, targets: tuple[Var, ...], text: str) -> None:
        self.line(depth, f"{self.binders(targets)} = {text}" if targets else text)

    def results(self, depth: int, targets: tuple[Var, ...]) -> None:
        if targets:
            self.line(depth, f"-> {self.binders(targets)}")

    def choice(self, depth: int, word: str, cond: Atom, then: Block, orelse: Block) -> None:
        self.line(depth, f"{word} {self.atom(cond)}:")
        self.block(then, depth + 1)
        self.line(depth, "else:")
        self.block(orelse, depth + 1)

    def loop(self, loop: Loop, depth: int) -> None:
        match loop.over:
            case Range(start, stop, step, backward):
                source = f"{'reversed ' if backward else ''}range({self.atoms((start, stop, step))})"
            case Items(iterable):
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

    def guarded(self, guarded: Guarded, depth: int) -> None:
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

    def terminator(self, terminator: Terminator, depth: int) -> None:
        match terminator:
            case Yield(values):
                self.line(depth, f"yield {self.atoms(values)}".rstrip())
            case Continue(values):
                self.line(depth, f"continue {self.atoms(values)}".rstrip())
            case Exit(kind, values):
                self.line(depth, f"exit {kind}: {self.atoms(values)}".rstrip())
            case Return(values):
                self.line(depth, f"return {self.atoms(values)}".rstrip())
            case Raise(exception, cause):
                text = "raise" if exception is None else f"raise {self.atom(exception)}"
                self.line(depth, text if cause is None else f"{text} from {self.atom(cause)}")
            case Branch(cond, then, orelse):
                self.choice(depth, "branch", cond, then, orelse)


def _constant(value: Any) -> str:
    if value is None or value is ... or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"<{format_type(Array(value.dtype, None))} {value.shape}>"
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))}{',' if len(value) == 1 else ''})"
    if callable(value) or isinstance(value, (ModuleType, Function, Definition, Declared, Derived, Applied)):
        return format_callee(value)
    return f"<{type(value).__name__}>"
