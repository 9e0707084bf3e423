"""Generators as objects: those that are sent something, that a program comes back to, or that a container has.

The class of such an object is made of the generator function. Its methods are the function's state machine, and its
attributes are the variables that are kept from one ``yield`` to the next.
"""

from __future__ import annotations

import ast
import types
from typing import Any
from weakref import WeakKeyDictionary

from adjoint import ir
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.control.binding_flags import note_bound
from adjoint.frontend.data import making
from adjoint.frontend.functions.inlining import activated
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.state.signals import Unreached
from adjoint.frontend.interpreter.values import (
    LOCAL,
    NONE,
    STANDS_FOR,
    Closure,
    GeneratorObject,
    GeneratorValue,
    Local,
    Method,
    RangeValue,
    Record,
    Ref,
    TupleValue,
    Value,
)
from adjoint.frontend.iterators.generators.state_machines import Keep, Restore, Resume, StateMachine, state_machine_of
from adjoint.frontend.iterators.generators.yields_as_statements import CannotSuspend, fill_in_places
from adjoint.frontend.iterators.iterator_objects import as_object, iterator_of
from adjoint.frontend.library.in_python.iterator_definitions import Delegate, Resumable
from adjoint.frontend.objects.attribute_writes import set_attribute
from adjoint.frontend.objects.attributes import attribute
from adjoint.frontend.objects.classes import class_of
from adjoint.frontend.objects.construction import construct
from adjoint.frontend.syntax.local_classes import stand_in
from adjoint.frontend.syntax.statements import STATEMENTS
from adjoint.records import replace
from adjoint.sources.trees import nodes


def resumable(lo: Lowerer, generator: GeneratorObject, node: ast.AST) -> Value:
    """The object that gives what a generator gives, of which nothing has run yet."""
    frame = generator.frame
    machine = _machine(lo, frame)
    cls = _class_of(lo, frame.closure, machine)
    names = {name.id for part in nodes(machine.advance) if isinstance(part, Keep) for name in part.names}
    parts: dict[str, Value] = {
        "_begun": ir.Const(False),
        "_ended": ir.Const(False),
        "_delegated": ir.Const(False),
        "_item": ir.UNDEFINED,
        "_result": ir.UNDEFINED if machine.gives else NONE,
        **{_attribute(name): ir.UNDEFINED for name in sorted(names)},
        **{_attribute(name): lo.store.pop(cell) for name, cell in frame.cells.items() if cell in lo.store},
    }
    ref = Ref(generator.site)
    lo.store[ref] = Record(cls, (*parts.items(),))
    if ref.site not in lo.settings.runtime_sites:
        return ref
    if any(code is machine.advance for code, *_ in lo.run_data.activations):
        label = f"{frame.source.name!r} goes through itself, and is gone on with at places that are not known"
        raise lo.problem("AD0104", node, label, helps=("make a list of its items: list(...)",), name=frame.source.name)
    return making.runtime_object(lo, ref, node)


def _attribute(name: str) -> str:
    """The attribute that a variable is kept in."""
    return f"{name}_" if hasattr(Resumable, name) or name in Resumable.__annotations__ else name


def _machine(lo: Lowerer, frame: Frame) -> StateMachine:
    function, name = frame.source.node, frame.source.name
    assert isinstance(function, ast.FunctionDef)
    try:
        for part in nodes(function):
            if isinstance(part, ast.Name) and part.id in ("super", "__class__"):
                raise CannotSuspend(part, f"{name!r} is gone on with", "name the class: Base.method(self)")
        return state_machine_of(function, iterator, bounds, delegate)
    except CannotSuspend as found:
        outer, lo.frame = lo.frame, frame
        try:
            problem = lo.problem("AD0104", found.node, found.label, helps=(found.help,), name=name)
        finally:
            lo.frame = outer
        raise problem from None


def _class_of(lo: Lowerer, closure: Closure, machine: StateMachine) -> type:
    """The class of the generators that a function makes."""
    function = closure.source.node
    names = {part.id for part in nodes(function) if isinstance(part, ast.Name)}
    captured = {name: cell for name, cell in closure.cells.items() if name in names}
    made = lo.run_data.generator_classes.setdefault(function, {})
    key = frozenset(captured.items())
    if key not in made:
        in_loop = any(region.kind == "loop" for region in lo.regions)
        is_called = any(called.lowering for called in lo.run_data.definitions.values())
        settled = not captured or closure.function is not None or not (in_loop or is_called)
        others = sum(any(cell in lo.store for _, cell in cells) for cells in made)  # those given up have no variables
        made[key] = _known_class(lo, closure, (function, others), settled)
    cls = made[key]
    for name, body in (("_advance", machine.advance), ("_thrown", machine.throw)):
        source = replace(closure.source, node=body)
        lo.run_data.closures[cls.__dict__[name]] = replace(
            closure, source=source, defaults=(), kw_defaults={}, owner=None, function=None
        )
    return cls


def _known_class(lo: Lowerer, closure: Closure, place: tuple[Any, ...], settled: bool) -> type:
    """The class that an earlier attempt at lowering has made, or a new one."""
    known = lo.settings.classes.get(place)
    if known is None or known.settled is not settled:
        known = lo.settings.classes[place] = Local(settled, place[0], None, [])
        name = closure.source.name
        methods = {method: stand_in(closure, name) for method in ("_advance", "_thrown")}
        module = closure.globals.get("__name__", "__main__")
        members = {**methods, LOCAL: known, STANDS_FOR: types.GeneratorType, "__module__": module}
        known.cls = type(name if name.isidentifier() else "generator", (Resumable,), members)
    assert known.cls is not None
    return known.cls


# Generator expressions


_functions: WeakKeyDictionary[ast.GeneratorExp, ast.FunctionDef] = WeakKeyDictionary()
_FIRST = "items"


def generator_of(lo: Lowerer, value: GeneratorValue) -> GeneratorObject:
    """What a call of the generator function gives that a generator expression stands for."""
    expression, frame = value.node, value.frame
    function = _functions.get(expression)
    if function is None:
        function = _functions[expression] = _function_of(lo, expression)
    frame.makes_closures = True
    source = replace(frame.source, node=function, name="<genexpr>")
    outer = frame.closure
    closure = Closure(source, frame.visible_to_closures, outer.globals, owner=outer.owner, block=lo.block)
    first = as_object(lo, value.first, expression, (1,))
    inner = activated(lo, closure, [first], {}, expression)
    assert value.site is not None
    return GeneratorObject(inner, expression, (first,), value.site)


def _function_of(lo: Lowerer, node: ast.GeneratorExp) -> ast.FunctionDef:
    if any(isinstance(part, ast.NamedExpr) for part in nodes(node)) or any(part.is_async for part in node.generators):
        label = "this generator expression assigns variables of the function around it"
        raise lo.problem("AD0305", node, label, helps=("make a list of its items: [...]",))
    names = {part.id for part in nodes(node) if isinstance(part, ast.Name)}
    first = _FIRST
    while first in names:
        first += "_"
    body: ast.stmt = ast.Expr(ast.Yield(node.elt))
    for place, clause in reversed([*enumerate(node.generators)]):
        for test in reversed(clause.ifs):
            body = ast.If(test, [body], [])
        body = ast.For(clause.target, clause.iter if place else ast.Name(first, ast.Load()), [body], [])
    arguments = ast.arguments([], [ast.arg(first)], None, [], [], None, [])
    return fill_in_places(ast.FunctionDef("generator", arguments, [body], []), node)


# What the state machines call


def iterator(items: Any) -> Any:
    """What a loop in a generator goes through."""
    raise NotImplementedError


def bounds(numbers: Any) -> Any:
    """The first number of a range, and its end."""
    raise NotImplementedError


def delegate(items: Any) -> Any:
    """What ``yield from`` goes through."""
    raise NotImplementedError


@handles(iterator)
def _iterator(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    assert node is not None
    return as_object(lo, iterator_of(lo, args[0], node), node)


@handles(bounds)
def _bounds(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    if not isinstance(args[0], RangeValue):
        raise lo.problem("AD0104", node, "this 'range' is not Python's")
    return TupleValue((args[0].start, args[0].stop))


@handles(delegate)
def _delegate(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    assert node is not None
    found: Value = _iterator(lo, args, kwargs, node)
    cls = class_of(lo, found)
    if cls is None or not issubclass(cls, Resumable):
        return construct(lo, Delegate, [found], {}, node)
    if isinstance(args[0], GeneratorObject):
        return found
    resumed: Value = lo.call(Method(ir.Const(Resumable._as_delegate), found), [], {}, node)
    return resumed


def _keep(lo: Lowerer, node: Keep) -> None:
    assert lo.frame is not None
    owner = lo.evaluate(node.owner)
    for name in node.names:
        value = lo.store.get(lo.frame.cells[name.id], ir.UNDEFINED)
        if value is not ir.UNDEFINED:
            set_attribute(lo, owner, _attribute(name.id), value, name)


def _restore(lo: Lowerer, node: Restore) -> None:
    assert lo.frame is not None
    owner = lo.evaluate(node.owner)
    for name in node.names:
        value = _kept(lo, owner, _attribute(name.id), name)
        if value is ir.UNDEFINED and lo.run_data.diagnostics:
            raise Unreached  # what could not be lowered may bind it
        if value is not ir.UNDEFINED:
            lo.store[lo.frame.cells[name.id]] = value
            note_bound(lo, lo.frame.cells[name.id], is_bound=True)


def _resume(lo: Lowerer, node: Resume) -> None:
    _restore(lo, node)
    assert lo.frame is not None
    if lo.block is not None and any(lo.frame.cells[name.id] not in lo.store for name in node.names):
        lo.stop(ir.Raise(ir.Const(AssertionError), None, lo.span(node)))  # nothing comes to that 'yield', so far


def _kept(lo: Lowerer, owner: Value, name: str, node: ast.AST) -> Value:
    """What a generator has kept of a variable; undefined where that was not bound."""
    if isinstance(owner, Ref):
        record = lo.store[owner]
        assert isinstance(record, Record)
        found = record.get(name)
        return ir.UNDEFINED if found is None else found
    if isinstance(owner, ir.Var) and isinstance(owner.type, ir.Instance) and name not in owner.type.fields:
        return ir.UNDEFINED
    return attribute(lo, owner, name, node)


STATEMENTS[Keep] = _keep
STATEMENTS[Restore] = _restore
STATEMENTS[Resume] = _resume
