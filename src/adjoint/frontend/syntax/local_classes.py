"""Classes defined inside a function: made when their statement is lowered.

The class is a real one, so that look-up, inheritance and dataclasses work as for any other. Functions in it are
*stand-ins*, whose closures the run knows; values that only the derivative computes are variables (:class:`Held`).
No object of the class ever meets code that would call a stand-in:
:func:`adjoint.frontend.calls.opaque.arguments.refuse_made_here` sees to that.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import dataclasses
import functools
import types
from abc import ABCMeta
from collections.abc import Iterable
from typing import Any, NamedTuple

from adjoint import ir
from adjoint.frontend.control.binding_flags import note_bound
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import (
    LOCAL,
    Cell,
    Closure,
    Held,
    Local,
    Operator,
    Pullback,
    TupleValue,
    Union,
    Value,
)
from adjoint.frontend.objects.classes import class_of
from adjoint.frontend.syntax.assign import assign_name
from adjoint.frontend.syntax.expressions import make_closure
from adjoint.records import replace
from adjoint.sources.scope import COMPREHENSIONS, assigned_names
from adjoint.types.marks import Mark

_WRAPPERS = (property, staticmethod, classmethod, functools.cached_property)
_ACCESSORS = ("getter", "setter", "deleter")


def define(lo: Lowerer, node: ast.ClassDef) -> None:
    """A ``class`` statement."""
    assert lo.frame is not None
    enclosing = lo.frame
    if _is_in_loop(node, enclosing):
        raise _refusal(lo, node, f"the class {node.name!r} is made anew in each iteration", "define it before the loop")
    bases = _bases(lo, node)
    decorators = [_decorator(lo, decorator) for decorator in node.decorator_list]
    body = _Body(lo, node, _class_frame(node, enclosing))
    lo.frame = body.frame
    try:
        body.run()
    finally:
        lo.frame = enclosing
    cls = body.made(bases, decorators)
    assign_name(lo, node.name, ir.Const(cls), node)


def _refusal(lo: Lowerer, node: ast.AST, label: str, help_: str) -> Problem:
    return lo.problem("AD0301", node, label, helps=(help_,))


def _is_in_loop(node: ast.ClassDef, frame: Frame) -> bool:
    """Whether the statement may run more than once while its function runs."""
    loops = [part for part in ast.walk(frame.source.node) if isinstance(part, (ast.For, ast.While))]
    return any(part is node for loop in loops for part in ast.walk(loop))


def _bases(lo: Lowerer, node: ast.ClassDef) -> tuple[Any, ...]:
    if node.keywords:
        place = node.keywords[0].value
        raise _refusal(lo, place, f"the class {node.name!r} has a metaclass or options", "leave them out")
    bases = []
    for base in node.bases:
        value = lo.evaluate(base)
        if value == ir.Const(NamedTuple):
            bases.append(value.value)  # type: ignore[union-attr]
            continue
        if not isinstance(value, ir.Const) or not isinstance(value.value, type):
            raise _refusal(lo, base, "which class this is is not known", "name a class of the module")
        if type(value.value) not in (type, ABCMeta):
            label = f"the class {value.value.__name__!r} has a metaclass"
            raise _refusal(lo, base, label, "define the class at the top of the module")
        if "__init_subclass__" in {name for cls in value.value.__mro__[:-1] for name in cls.__dict__}:
            label = f"the class {value.value.__name__!r} runs code of its own where it is inherited from"
            raise _refusal(lo, base, label, "define the class at the top of the module")
        bases.append(value.value)
    return tuple(bases)


def _decorator(lo: Lowerer, node: ast.expr) -> Any:
    """A decorator of the class, as a function of classes."""
    called = node.func if isinstance(node, ast.Call) else node
    if _meaning(lo, called) is dataclasses.dataclass:
        if not isinstance(node, ast.Call):
            return dataclasses.dataclass
        options = {keyword.arg: lo.evaluate(keyword.value) for keyword in node.keywords}
        if not node.args and all(name and isinstance(value, ir.Const) for name, value in options.items()):
            return dataclasses.dataclass(**{name: value.value for name, value in options.items()})  # type: ignore
    label = "a class in a function can have no decorator but 'dataclass'"
    raise _refusal(lo, node, label, "define the class at the top of the module")


def _meaning(lo: Lowerer, node: ast.expr) -> Any:
    """The object that a dotted name means where that is known; None if it is not."""
    if isinstance(node, ast.Attribute):
        return getattr(_meaning(lo, node.value), node.attr, None)
    if not isinstance(node, ast.Name) or lo.frame is None:
        return None
    cell = lo.cell_named(node.id)
    if cell is not None:
        value = lo.evaluate(node)
        return value.value if isinstance(value, ir.Const) else None
    table = lo.frame.closure.globals
    return table[node.id] if node.id in table else getattr(builtins, node.id, None)


def _class_frame(node: ast.ClassDef, enclosing: Frame) -> Frame:
    """The variables of the body, which functions defined in it do not see."""
    enclosing.makes_closures = True
    closure = replace(enclosing.closure, cells=enclosing.visible_to_closures)
    cells = {name: Cell(name) for statement in node.body for name in assigned_names(statement)}
    return Frame(closure, cells, enclosing.caller, enclosing.call_span, is_class=True)


class _Body:
    """The body of a class while it is run.

    Attributes
    ----------
    members
        What will stand in the class.
    known
        What an earlier attempt at lowering made of the same statement: taken again if it says the same.
    """

    def __init__(self, lo: Lowerer, node: ast.ClassDef, frame: Frame) -> None:
        self.lo, self.node, self.frame = lo, node, frame
        self.members: dict[str, Any] = {}
        self.annotations: dict[str, Any] = {}
        self.closures: dict[types.FunctionType, Closure] = {}
        self.settled = not any(region.kind == "loop" for region in lo.regions) and not any(
            called.lowering for called in lo.run_data.definitions.values()
        )
        self.place = lo.site(node).place, lo.run_data.classes.get(lo.site(node), 0)
        lo.run_data.classes[lo.site(node)] = self.place[1] + 1
        self.known: Local | None = lo.settings.classes.get(self.place) if self.settled else None
        self.parts: list[Any] = []

    # -- statements ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        for statement in self.node.body:
            self.lo.at(statement)
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.FunctionDef(name=name):
                self.bind(name, self.function(node))
            case ast.ClassDef(name=name):
                define(self.lo, node)
                inner = self.lo.store[self.frame.cells[name]]
                assert isinstance(inner, ir.Const)
                self.members[name] = inner.value
            case ast.Assign(targets=targets, value=value) if all(isinstance(target, ast.Name) for target in targets):
                found = self.expression(value)
                for target in targets:
                    assert isinstance(target, ast.Name)
                    self.bind(target.id, found)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                self.annotations[name] = self.annotation(annotation)
                if value is not None:
                    self.bind(name, self.expression(value))
            case _:
                label = "in a class inside a function only functions and assignments to names can stand"
                raise _refusal(self.lo, node, label, "define the class at the top of the module")

    def expression(self, node: ast.expr) -> Value:
        for part in ast.walk(node):
            if isinstance(part, (*COMPREHENSIONS, ast.NamedExpr)):
                raise _refusal(self.lo, part, "this is not supported in the body of a class", "put it before the class")
        if isinstance(node, ast.Call):
            specifier = _meaning(self.lo, node.func)
            if specifier is dataclasses.field or isinstance(specifier, Mark):
                return ir.Const(self.specified(specifier, node))
        return self.lo.evaluate(node)

    def specified(self, specifier: Any, node: ast.Call) -> Any:
        """``field(...)``"""
        options = {keyword.arg: self.lo.evaluate(keyword.value) for keyword in node.keywords}
        if node.args or None in options:
            raise _refusal(self.lo, node, "these options of the field are not known", "give each by its name")
        try:
            return specifier(**{str(name): self.member(str(name), value, node) for name, value in options.items()})
        except (TypeError, ValueError) as error:
            raise self.lo.problem("AD0203", node, f"this field cannot be made: {error}") from None

    def annotation(self, node: ast.expr) -> Any:
        """A class where it names one; else its text, which says as much."""
        if self.frame.source.code.co_flags & __future__.annotations.compiler_flag:
            return ast.unparse(node)
        if isinstance(node, ast.Constant):
            return node.value
        found = _meaning(self.lo, node)
        return found if isinstance(found, type) else ast.unparse(node)

    # -- members -------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: Value) -> None:
        self.lo.store[self.frame.cells[name]] = value
        note_bound(self.lo, self.frame.cells[name], is_bound=True)
        self.members[name] = self.member(name, value, self.node)

    def member(self, name: str, value: Value, node: ast.AST) -> Any:
        """What stands in the class for a value."""
        constant = _constant(value)
        if constant is not None and (self.node, name) not in self.lo.settings.assigned_in_classes:
            if not isinstance(constant.value, (*_WRAPPERS, dataclasses.Field)):  # whose parts are known already
                self.parts.append(constant)
            return constant.value
        if isinstance(value, Closure):
            return self.stand_in(value)
        cls = class_of(self.lo, value)
        is_descriptor = cls is not None and any(hasattr(cls, method) for method in ("__get__", "__set_name__"))
        if isinstance(value, (Union, Operator, Pullback)) or is_descriptor:
            label = f"what the class attribute {name!r} is is not known before the function runs"
            raise _refusal(self.lo, node, label, "give it to the objects, in '__init__'")
        if name.startswith("__") and name.endswith("__"):
            raise _refusal(self.lo, node, f"what {name!r} is must be known", "write a tuple of strings")
        held = self.taken(Held)
        if held is None:
            held = Held(name)
        self.parts.append(held)
        self.lo.store[held] = value
        return held

    def function(self, node: ast.FunctionDef) -> Value:
        value: Any = make_closure(self.lo, node, node.name)
        for decorator in reversed(node.decorator_list):
            value = self.decorated(decorator, value)
        return value  # type: ignore[no-any-return]

    def decorated(self, decorator: ast.expr, value: Value) -> Value:
        found = self.wrapper(decorator)
        if found is not None:
            inner = self.stand_in(value) if isinstance(value, Closure) else _constant(value)
            self.parts.append(getattr(found, "__name__", ""))
            return ir.Const(found(inner.value if isinstance(inner, ir.Const) else inner))
        result = self.lo.call(self.lo.evaluate(decorator), [value], {}, decorator)
        if not isinstance(result, Closure):
            label = "what this decorator makes of the method is not known"
            raise _refusal(self.lo, decorator, label, "call what the decorator does in the method itself")
        return result

    def wrapper(self, decorator: ast.expr) -> Any:
        """``property`` and its like, as functions of functions."""
        if isinstance(decorator, ast.Attribute) and decorator.attr in _ACCESSORS:
            owner = _meaning(self.lo, decorator.value)
            return getattr(owner, decorator.attr) if isinstance(owner, property) else None
        found = _meaning(self.lo, decorator)
        return found if any(found is wrapper for wrapper in _WRAPPERS) else None

    def stand_in(self, closure: Closure) -> types.FunctionType:
        """A function object by which the class knows a closure."""
        function: types.FunctionType | None = self.taken(types.FunctionType)
        if function is None:
            function = stand_in(closure, self.node.name)
        self.parts.append(function)
        self.closures[function] = closure
        return function

    def taken(self, kind: type) -> Any:
        """The part that an earlier attempt put in this place, if it is one of the same kind."""
        place = len(self.parts)
        if self.known is None or place >= len(self.known.parts) or type(self.known.parts[place]) is not kind:
            return None
        return self.known.parts[place]

    # -- the class -----------------------------------------------------------------------------------------------------

    def made(self, bases: tuple[Any, ...], decorators: Iterable[Any]) -> type:
        """The class, its methods known to the run."""
        said = (bases, tuple(self.members), self.annotations)
        if self.known is not None and self.known.said == said and self.known.parts == self.parts:
            cls = self.known.cls
            assert cls is not None
        else:
            mark = Local(self.settled, self.node, said, self.parts)
            cls = mark.cls = self.new(bases, decorators, mark)
            if self.settled:
                self.lo.settings.classes[self.place] = mark
        if issubclass(cls, BaseException) and self.closures:
            raise _refusal(self.lo, self.node, "an exception with methods is defined here", "define it in the module")
        for function, closure in self.closures.items():
            self.lo.run_data.closures[function] = replace(closure, owner=cls)
        return cls

    def new(self, bases: tuple[Any, ...], decorators: Iterable[Any], mark: Local) -> type:
        outer = self.frame.source.name
        namespace = {
            **self.members,
            "__annotations__": self.annotations,
            "__module__": self.frame.closure.globals.get("__name__", "__main__"),
            "__qualname__": f"{outer}.<locals>.{self.node.name}",
            LOCAL: mark,
        }
        try:
            cls = types.new_class(self.node.name, bases, exec_body=lambda body: body.update(namespace))
            for decorate in reversed(list(decorators)):
                cls = decorate(cls)
        except (TypeError, ValueError, AttributeError) as error:
            raise self.lo.problem("AD0203", self.node, f"this class cannot be made: {error}") from None
        return cls


def stand_in(closure: Closure, cls: str) -> types.FunctionType:
    """A new function object by which a class of this name knows a closure."""
    source = closure.source
    code = _unseen.__code__.replace(co_name=source.name, co_filename=source.file, co_firstlineno=source.node.lineno)
    function = types.FunctionType(code, closure.globals, source.name)
    setattr(function, LOCAL, cls)
    return function


def _unseen(*args: Any, **kwargs: Any) -> Any:
    raise TypeError("a method of a class inside a differentiated function is called from outside of its derivative")


def _constant(value: Value) -> ir.Const | None:
    """A constant that may stand in a class as it is."""
    if isinstance(value, ir.Const):
        return value
    if isinstance(value, TupleValue) and value.cls is tuple:
        items = [_constant(item) for item in value.items]
        return None if None in items else ir.Const(tuple(item.value for item in items))  # type: ignore[union-attr]
    return None
