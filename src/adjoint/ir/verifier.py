"""What well-formed IR is, as code that checks it.

``verify`` runs after every pass in tests. It holds where the nodes' own words hold: each variable is bound once and
before it is read, in a block around the reader; each terminator belongs to the construct around it and hands out as
many values as that construct takes; undefined values are only handed on, never read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from adjoint import ir
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.printer import format_function
from adjoint.ir.walk import binders_of, is_elsewhere, operands
from adjoint.records import dataclass

_EXTENTS = ("shape", "size", "ndim")


class InvalidIR(AssertionError):
    """A function breaks the rules of the IR: a defect of the pass that made it."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The construct that a block's terminator answers to, and how many values each kind of leaf hands it.

    ``is_endless`` tells of a loop that nothing but its body ends.
    """

    construct: str
    takes: dict[type, int | None]
    is_endless: bool = False


def verify(function: ir.Function, stage: str = "") -> None:
    """Checks a function, and the recursive functions that it calls.

    Parameters
    ----------
    function : Function
    stage : str
        What made the function, for the message.

    Raises
    ------
    InvalidIR
        With the broken rule and the printed function.
    """
    called: dict[ir.Definition, None] = {}
    _Verifier(function, stage, called).run()
    done: set[ir.Definition] = set()
    while rest := [definition for definition in called if definition not in done]:
        for definition in rest:
            done.add(definition)
            if definition.function is not None:  # None while it is being made
                _Verifier(definition.function, stage, called).run()


class _Verifier:
    def __init__(self, function: ir.Function, stage: str, called: dict[ir.Definition, None]) -> None:
        self.function = function
        self.stage = stage
        self.called = called
        self.bound: set[ir.Var] = set()
        self.visible: set[ir.Var] = set()
        self.place = _Place("function", {ir.Return: None})
        self.stored: set[ir.Storage | None] = set()
        self.elsewhere: list[ir.Load] = []

    def run(self) -> None:
        self.bind(self.function.params)
        self.block(self.function.body)
        self.views()

    def fail(self, message: str) -> NoReturn:
        after = f" after {self.stage}" if self.stage else ""
        raise InvalidIR(f"invalid IR{after}: {message}\n\n{format_function(self.function, types=True)}")

    def require(self, holds: bool, message: str) -> None:
        if not holds:
            self.fail(message)

    def bind(self, variables: Iterable[Any]) -> None:
        for var in variables:
            if type(var) is not ir.Var:
                self.fail(f"{var!r} is bound, but it is not a variable")
            if var in self.bound:
                self.fail(f"{var!r} is bound twice")
            if not isinstance(var.type, ir.Type):
                self.fail(f"{var!r} has no type: {var.type!r}")
            self.bound.add(var)
            self.visible.add(var)

    def read(self, atom: Any, where: object, *, may_be_undefined: bool = False) -> None:
        if isinstance(atom, ir.Var):
            if atom not in self.visible:
                why = "outside of the block that binds it" if atom in self.bound else "before it is bound"
                self.fail(f"{atom!r} is read {why}, in {_brief(where)}")
        elif isinstance(atom, ir.Undefined):
            if not may_be_undefined:
                self.fail(f"an undefined value is read in {_brief(where)}")
        elif not isinstance(atom, ir.Const):
            self.fail(f"{atom!r} is no atom, in {_brief(where)}")

    def block(self, block: Any) -> None:
        """Checks a block in the place that is set; what it binds is not visible after it."""
        if not isinstance(block, ir.Block):
            self.fail(f"{block!r} is no block")
        outer = set(self.visible)
        for statement in block.statements:
            self.statement(statement)
        self.terminator(block.terminator)
        self.visible = outer

    def inside(self, place: _Place, blocks: Iterable[ir.Block]) -> None:
        outer, self.place = self.place, place
        for block in blocks:
            self.block(block)
        self.place = outer

    def statement(self, statement: Any) -> None:
        if type(statement) is ir.Call:
            self.call(statement)
            return
        if not isinstance(statement, ir.Statement):
            self.fail(f"{statement!r} is no statement")
        inits = statement.inits if isinstance(statement, ir.Loop) else ()
        direct, visible = operands(statement), self.visible
        for atom in direct[: len(direct) - len(inits)] if inits else direct:
            if type(atom) is not ir.Const and atom not in visible:
                self.read(atom, statement)
        for init in inits:
            self.read(init, statement, may_be_undefined=True)
        match statement:
            case ir.Store(base=base, key=key, mode=mode):
                self.store(key, mode)
                self.stored.add(ir.storage_of(type_of_atom(base)))
            case ir.Load(target=target, base=base, key=key):
                self.key(key)
                if is_array(base) and isinstance(key, ir.Attribute):
                    self.require(key.name not in _EXTENTS, f"np.{key.name} asks for extents, in {_brief(statement)}")
                if is_elsewhere(statement):
                    self.elsewhere.append(statement)
                self.bind((target,))
            case ir.If(then=then, orelse=orelse, targets=targets):
                self.inside(_Place("if", {ir.Yield: len(targets)}), (then, orelse))
                self.bind(targets)
            case ir.Loop():
                self.loop(statement)
            case ir.Guarded():
                self.guarded(statement)

    def call(self, call: ir.Call) -> None:
        visible = self.visible
        for atom in operands(call):
            if type(atom) is not ir.Const and atom not in visible:
                self.read(atom, call)
        if isinstance(call.callee, ir.Definition):
            self.called[call.callee] = None
        if call.kwargs:
            names = [name for name, _ in call.kwargs]
            self.require(len(set(names)) == len(names), "a keyword argument is given twice")
        self.bind(call.targets)

    def key(self, key: Any) -> None:
        if isinstance(key, ir.Subscript):
            self.require(key.tupled or len(key.items) == 1, "an index of several items is a tuple")
            for item in key.items:
                if not isinstance(item, (ir.Var, ir.Const, ir.Slice)):
                    self.fail(f"{item!r} is no index")
        elif not isinstance(key, ir.Attribute):
            self.fail(f"{key!r} is no key")
        elif not isinstance(key.name, str):
            self.fail(f"{key.name!r} is no attribute's name")

    def views(self) -> None:
        """A view of what this function stores to, or through which it does, is in the memory of its array."""
        for load in self.elsewhere:
            atoms = (load.base, load.target)
            if any(ir.storage_of(type_of_atom(atom)) in self.stored for atom in atoms):
                self.fail(f"a view lies in memory of its own, in {_brief(load)}")

    def store(self, key: Any, mode: str) -> None:
        if mode not in ("set", "add", "sub", "add_at"):
            self.fail(f"{mode!r} is no way to store")
        if key is None:
            self.require(mode != "add_at", "'add_at' takes an index")
            return
        self.key(key)
        self.require(mode != "add_at" or isinstance(key, ir.Subscript), "'add_at' takes an index")

    def loop(self, loop: ir.Loop) -> None:
        if not isinstance(loop.over, (ir.Range, ir.Items, type(None))):
            self.fail(f"a loop over {loop.over!r}")
        self.require(loop.over is not None or loop.index is None, "a loop over nothing has no index")
        self.require(len(loop.inits) == len(loop.params), "a loop has as many first values as parameters")
        self.require(len(loop.targets) >= len(loop.params), "a loop has a target for each parameter")
        outer = set(self.visible)
        self.bind(binders_of(loop))
        takes: dict[type, int | None] = {ir.Continue: len(loop.params), ir.Exit: len(loop.targets)}
        self.inside(_Place("loop", takes, is_endless=loop.over is None), (loop.body,))
        self.visible = outer
        self.bind(loop.targets)
        if loop.exit is not None:
            self.bind((loop.exit,))

    def guarded(self, guarded: ir.Guarded) -> None:
        self.require(guarded.name is None or guarded.context is not None, "only a context is given a name")
        self.require(guarded.context is None or not guarded.handlers, "a 'with' has no handlers")
        place = _Place("guarded", {ir.Yield: len(guarded.targets)})
        outer = set(self.visible)
        if guarded.name is not None:
            self.bind((guarded.name,))
        self.inside(place, (guarded.body,))
        self.visible = set(outer)
        for handler in guarded.handlers:
            if handler.name is not None:
                self.bind((handler.name,))
            self.inside(place, (handler.body,))
            self.visible = set(outer)
        if guarded.final is not None:
            self.inside(_Place("finally", {ir.Yield: 0}), (guarded.final,))
        self.bind(guarded.targets)

    def terminator(self, terminator: Any) -> None:
        match terminator:
            case ir.Branch(cond=cond, then=then, orelse=orelse):
                self.read(cond, terminator)
                self.block(then)
                self.block(orelse)
            case ir.Raise(exception=exception, cause=cause):
                self.require(exception is not None or cause is None, "a re-raise has no cause")
                for atom in operands(terminator):
                    self.read(atom, terminator)
            case ir.Yield() | ir.Continue() | ir.Exit() | ir.Return():
                self.leaf(terminator)
            case _:
                self.fail(f"{terminator!r} is no terminator")

    def leaf(self, leaf: ir.Yield | ir.Continue | ir.Exit | ir.Return) -> None:
        kind, place = type(leaf), self.place
        if kind not in place.takes:
            self.fail(f"{kind.__name__} ends a block of a {place.construct}")
        for atom in leaf.values:
            self.read(atom, leaf, may_be_undefined=kind is not ir.Return)
        if isinstance(leaf, ir.Exit):
            least = 0 if place.is_endless else 1
            if leaf.kind < least:
                self.fail(f"exit kind {leaf.kind!r} is less than {least}")
        expected = place.takes[kind]
        if expected is None:
            place.takes[kind] = len(leaf.values)
        elif len(leaf.values) != expected:
            self.fail(f"{kind.__name__} hands {len(leaf.values)} values to a {place.construct} that takes {expected}")


def _brief(node: object) -> str:
    match node:
        case ir.Call(targets=targets, callee=callee):
            name = getattr(callee, "__name__", None) or getattr(callee, "name", type(callee).__name__)
            return f"the call {', '.join(map(repr, targets))} = {name}(...)"
        case ir.Load(target=target):
            return f"the load of {target!r}"
        case _:
            return f"a {type(node).__name__}"
