"""Removes what no result and no effect depends on: mark and sweep over the whole function.

Roots are returns, raises, calls with effects, and stores into memory that others may see. Marking a variable marks
what binds it and the constructs around that. A store into memory that the function made itself is marked with that
memory: when nobody reads a buffer but for its shape, nobody misses what was written into it. Memory is followed through
views, and through what joins and loops hand on. Of an ``If``, a ``Loop`` and a ``Guarded`` each target and each carried
variable is marked by itself. Where exceptions are handled, what may raise one is a root.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.known_effects import PURE
from adjoint.analysis.memory.reachable import parts
from adjoint.analysis.memory.storage_alias import owns_result
from adjoint.analysis.shapes.shape_arguments import shape_argument
from adjoint.ir.join import type_of_atom
from adjoint.ir.raising import handles, is_decided, may_raise
from adjoint.ir.walk import leaves, operands
from adjoint.runtime.arithmetic.checks import check_bound

_SIMPLE = frozenset({ir.Call, ir.Load, ir.Store})
_REPLAYABLE = (range, str, bytes, tuple, list, dict, set, frozenset)


def remove_dead_code(function: ir.Function) -> ir.Function:
    """The function without what nothing depends on; itself where there is nothing of that kind."""
    marked = _Marker(function)
    body = _Sweeper(marked).block(function.body, None)
    return function if body is function.body else ir.Function(function.name, function.params, body, function.doc)


class _Construct:
    """A statement with blocks, and the construct around it."""

    __slots__ = ("around", "final", "leaves", "live", "statement")

    def __init__(
        self, statement: ir.If | ir.Loop | ir.Guarded, around: _Construct | None, *, final: bool = False
    ) -> None:
        self.statement = statement
        self.around = around
        self.final = final  # stands for the final block only: what that hands out is nothing
        self.leaves: list[ir.Terminator] = []
        self.live = False


class _Marker:
    """Finds what is live: variables, statements (by identity) and constructs."""

    def __init__(self, function: ir.Function) -> None:
        self.vars: set[ir.Var] = set()
        self.statements: set[int] = set()
        self._queue: list[ir.Var] = []
        # where a variable comes from: a simple statement, or a position among the bound ones of a construct
        self._simple: dict[ir.Var, tuple[ir.Call | ir.Load, _Construct | None]] = {}
        self._target: dict[ir.Var, tuple[_Construct, int]] = {}
        self._param: dict[ir.Var, tuple[_Construct, int]] = {}
        self._bound: dict[ir.Var, _Construct] = {}  # bound by a construct as a whole: index, exit kind, context's name
        self._made: set[ir.Var] = set()  # bound to memory when the function made it
        self._viewed: dict[ir.Var, ir.Atom] = {}  # of views: of what
        self._writes: list[tuple[ir.Call | ir.Store, ir.Atom, _Construct | None]] = []
        self._writers: dict[ir.Var, list[tuple[ir.Call | ir.Store, _Construct | None]]] = {}
        self._roots: list[tuple[ir.Call | ir.Load | ir.Store | ir.Terminator, _Construct | None]] = []
        self._root_constructs: list[_Construct] = []
        self._scan(function.body, None, guarded=False)
        self._find_writers()
        for construct in self._root_constructs:
            self._keep_construct(construct)
        for node, around in self._roots:
            self._keep(node, around)
        while self._queue:
            self._trace(self._queue.pop())

    # Scanning

    def _scan(self, block: ir.Block, construct: _Construct | None, *, guarded: bool) -> None:
        for statement in block.statements:
            match statement:
                case ir.Call():
                    self._scan_call(statement, construct, guarded)
                case ir.Load():
                    self._scan_load(statement, construct, guarded)
                case ir.Store(base=base):
                    if guarded and may_raise(statement):
                        self._roots.append((statement, construct))
                    else:
                        self._writes.append((statement, base, construct))
                case _:
                    self._scan_construct(statement, construct, guarded)
        match block.terminator:
            case ir.Branch(then=then, orelse=orelse) as branch:
                if construct is None:
                    self._roots.append((branch, None))
                else:
                    construct.leaves.append(branch)
                self._scan(then, construct, guarded=guarded)
                self._scan(orelse, construct, guarded=guarded)
            case ir.Return() | ir.Raise() as leaf:
                self._roots.append((leaf, construct))
            case leaf:
                assert construct is not None
                construct.leaves.append(leaf)

    def _scan_call(self, call: ir.Call, construct: _Construct | None, guarded: bool) -> None:
        for target in call.targets:
            self._simple[target] = (call, construct)
        if call.callee is check_bound and call.args[0] == ir.Const(True):
            return  # it is bound on each path that is left
        found = effects_of(call)
        if guarded or not found.confined:
            self._roots.append((call, construct))
            return
        if found is PURE and len(call.targets) == 1 and type(call.targets[0].type) is ir.Scalar:
            return
        if owns_result(call, found):
            self._made.add(call.targets[0])
        elif found.view_of is not None and not found.hands_on and found.view_of < len(call.args):
            self._viewed.update(dict.fromkeys(call.targets, call.args[found.view_of]))
        for position in found.writes:
            base = call.args[position] if position < len(call.args) else ir.UNDEFINED
            self._writes.append((call, ir.UNDEFINED if _writes_below(call, base) else base, construct))

    def _scan_load(self, load: ir.Load, construct: _Construct | None, guarded: bool) -> None:
        self._simple[load.target] = (load, construct)
        if guarded or not (load_is_pure(load) or _reads_data(load)):
            self._roots.append((load, construct))
        if type(load.base) is ir.Var and type(load.base.type) is ir.Array and type(load.target.type) is ir.Array:
            self._viewed[load.target] = load.base

    def _find_writers(self) -> None:
        """Has what writes into memory wait for its makers to be live; where they are not known, it is live itself."""
        found: dict[ir.Var, set[ir.Var] | None] = {}
        for statement, base, construct in self._writes:
            if type(base) is ir.Var and base not in found:
                found[base] = self._makers(base)
            makers = found[base] if type(base) is ir.Var else None
            if makers is None:
                self._roots.append((statement, construct))
            else:
                for maker in makers:
                    self._writers.setdefault(maker, []).append((statement, construct))

    def _makers(self, base: ir.Var) -> set[ir.Var] | None:
        """The variables one of which was bound to some memory when the function made it; None where it may not have."""
        makers: set[ir.Var] = set()
        seen: set[ir.Var] = set()
        waiting: list[ir.Atom] = [base]
        while waiting:
            atom = waiting.pop()
            if atom is ir.UNDEFINED or (type(atom) is ir.Const and atom.value is None):
                continue
            if type(atom) is not ir.Var:
                return None
            if atom in seen:
                continue
            seen.add(atom)
            if atom in self._made:
                makers.add(atom)
            elif atom in self._viewed:
                waiting.append(self._viewed[atom])
            elif (target := self._target.get(atom)) is not None:
                waiting += _joined(*target)
            elif (param := self._param.get(atom)) is not None:
                waiting += _carried(*param)
            else:
                return None
        return makers

    def _scan_construct(
        self, statement: ir.If | ir.Loop | ir.Guarded, around: _Construct | None, guarded: bool
    ) -> None:
        construct = _Construct(statement, around)
        for position, target in enumerate(statement.targets):
            self._target[target] = (construct, position)
        match statement:
            case ir.If(cond=cond, then=then, orelse=orelse):
                self._scan(then, construct, guarded=guarded)
                self._scan(orelse, construct, guarded=guarded)
                if guarded and not is_decided(cond):
                    self._root_constructs.append(construct)
            case ir.Loop(index=index, params=params, body=body, exit=exit_):
                for position, param in enumerate(params):
                    self._param[param] = (construct, position)
                for var in (index, exit_):
                    if var is not None:
                        self._bound[var] = construct
                self._scan(body, construct, guarded=guarded)
                if guarded or not _terminates_quietly(statement):
                    self._root_constructs.append(construct)
            case ir.Guarded(context=context, name=name, body=body, handlers=handlers, final=final):
                for var in (name, *(handler.name for handler in handlers)):
                    if var is not None:
                        self._bound[var] = construct
                self._scan(body, construct, guarded=guarded or handles(statement))
                for handler in handlers:
                    self._scan(handler.body, construct, guarded=guarded)
                if final is not None:
                    self._scan(final, _Construct(statement, construct, final=True), guarded=guarded)
                if context is not None:
                    self._root_constructs.append(construct)

    # Marking

    def _keep(self, node: ir.Call | ir.Load | ir.Store | ir.Terminator, around: _Construct | None) -> None:
        if around is not None and not around.live:
            self._keep_construct(around)
        self.statements.add(id(node))
        atoms = operands(node)
        self._mark_all(self._read(node, atoms) if self._writers and type(node) is ir.Call else atoms)

    def _read(self, call: ir.Call, atoms: tuple[ir.Atom, ...]) -> tuple[ir.Atom, ...]:
        """The operands of a call of which it needs the contents; an array of which it asks the shape is just made."""
        place = shape_argument(call.callee)
        asked = call.args[place] if place is not None and place < len(call.args) else None
        if type(asked) is not ir.Var or type(asked.type) is not ir.Array or asked not in self._made:
            return atoms
        self._keep(*self._simple[asked])
        return tuple([atom for at, atom in enumerate(atoms) if at != place])

    def _keep_construct(self, construct: _Construct | None) -> None:
        while construct is not None and not construct.live:
            construct.live = True
            if not construct.final:
                self._keep_control(construct)
            construct = construct.around

    def _keep_control(self, construct: _Construct) -> None:
        """Marks what decides which blocks of a construct run."""
        statement = construct.statement
        self.statements.add(id(statement))
        direct = operands(statement)
        if isinstance(statement, ir.Loop):
            direct = direct[: len(direct) - len(statement.inits)]
        self._mark_all(direct)
        for leaf in construct.leaves:
            if isinstance(leaf, ir.Branch):
                self._mark(leaf.cond)

    def _mark(self, atom: ir.Atom) -> None:
        if type(atom) is ir.Var and atom not in self.vars:
            self.vars.add(atom)
            self._queue.append(atom)

    def _mark_all(self, atoms: Iterable[ir.Atom]) -> None:
        marked = self.vars
        for atom in atoms:
            if type(atom) is ir.Var and atom not in marked:
                marked.add(atom)
                self._queue.append(atom)

    def _trace(self, var: ir.Var) -> None:
        """Marks what a live variable depends on."""
        for writer, construct in self._writers.get(var, ()):
            self._keep(writer, construct)
        if (simple := self._simple.get(var)) is not None:
            self._keep(*simple)
        elif (target := self._target.get(var)) is not None:
            self._trace_target(*target)
        elif (param := self._param.get(var)) is not None:
            self._keep_construct(param[0])
            self._mark_all(_carried(*param))
        elif (bound := self._bound.get(var)) is not None:
            self._keep_construct(bound)

    def _trace_target(self, construct: _Construct, position: int) -> None:
        self._keep_construct(construct)
        self._mark_all(_joined(construct, position))


def _carried(construct: _Construct, position: int) -> list[ir.Atom]:
    """The values that a parameter of a loop takes."""
    assert isinstance(construct.statement, ir.Loop)
    return [construct.statement.inits[position], *_handed(construct, ir.Continue, position)]


def _joined(construct: _Construct, position: int) -> list[ir.Atom]:
    """The values that a target of a construct takes."""
    statement = construct.statement
    if not isinstance(statement, ir.Loop):
        return _handed(construct, ir.Yield, position)
    values = _handed(construct, ir.Exit, position)
    if statement.over is not None and position < len(statement.params):
        values.append(statement.params[position])
    return values


def _handed(construct: _Construct, kind: type[ir.Yield | ir.Continue | ir.Exit], position: int) -> list[ir.Atom]:
    return [leaf.values[position] for leaf in construct.leaves if isinstance(leaf, kind)]


def _writes_below(call: ir.Call, base: ir.Atom) -> bool:
    """Whether a call writes what lies in a container, which others may have: no method of the container does."""
    if type(base) is not ir.Var or getattr(call.callee, "__objclass__", None) in (list, dict):
        return False
    return any(map(ir.is_handle, parts(base.type)))


def load_is_pure(load: ir.Load) -> bool:
    """Whether a load does nothing but read: no method of an unknown class runs."""
    base = load.base
    if type(base) is not ir.Var:
        return isinstance(base, ir.Const) and isinstance(base.value, (str, bytes, tuple, list, dict))
    match base.type:
        case ir.Scalar() | ir.Array() | ir.Tuple() | ir.List() | ir.Dict():
            return True
        case ir.Instance(fields=fields):
            return isinstance(load.key, ir.Attribute) and load.key.name in fields
        case ir.Opaque(cls=cls):
            return cls is not None and issubclass(cls, _REPLAYABLE)
        case _:
            return False


def _reads_data(load: ir.Load) -> bool:
    """Whether a load reads an attribute that is there, without code of the class."""
    type_, key = type_of_atom(load.base), load.key
    return isinstance(type_, ir.Opaque) and isinstance(key, ir.Attribute) and key.name in type_.data


def _terminates_quietly(loop: ir.Loop) -> bool:
    """Whether a loop may be left out: it comes to an end, and drawing from its iterable changes nothing."""
    match loop.over:
        case None:
            return any(isinstance(leaf, (ir.Exit, ir.Raise)) for leaf in leaves(loop.body))
        case ir.Items(iterable=ir.Var(type=type_)):
            if isinstance(type_, ir.Opaque):
                return type_.cls is not None and issubclass(type_.cls, _REPLAYABLE)
            return isinstance(type_, (ir.Array, ir.List, ir.Tuple, ir.Dict))
        case ir.Items(iterable=ir.Const(value=value)):
            return isinstance(value, _REPLAYABLE)
        case _:
            return True


class _Sweeper:
    """Rebuilds a function from what is live. What is live as a whole stays the same object."""

    def __init__(self, marked: _Marker) -> None:
        self.live = marked.vars
        self.statements = marked.statements

    def block(self, block: ir.Block, construct: ir.Statement | None) -> ir.Block:
        live = self.statements
        statements = [
            statement if type(statement) in _SIMPLE else self.construct(statement)
            for statement in block.statements
            if id(statement) in live
        ]
        end = self.terminator(block.terminator, construct)
        if end is block.terminator and _are_same(statements, block.statements):
            return block
        return ir.Block(tuple(statements), end)

    def construct(self, statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.If(cond, then, orelse, targets, span):
                then, orelse, kept = self.block(then, statement), self.block(orelse, statement), self.only_live(targets)
                if then is statement.then and orelse is statement.orelse and kept is targets:
                    return statement
                return ir.If(cond, then, orelse, kept, span)
            case ir.Loop():
                return self.loop(statement)
            case ir.Guarded():
                return self.guarded(statement)
            case _:
                return statement

    def guarded(self, guarded: ir.Guarded) -> ir.Guarded:
        body = self.block(guarded.body, guarded)
        inner = [self.block(handler.body, guarded) for handler in guarded.handlers]
        final = None if guarded.final is None else self.block(guarded.final, None)
        name = guarded.name if guarded.name in self.live else None
        targets = self.only_live(guarded.targets)
        before = (guarded.body, guarded.final, guarded.name, guarded.targets, *[each.body for each in guarded.handlers])
        if _are_same((body, final, name, targets, *inner), before):
            return guarded
        handlers = tuple(
            ir.Handler(handler.exception, handler.name, block)
            for handler, block in zip(guarded.handlers, inner, strict=True)
        )
        return ir.Guarded(guarded.context, name, body, handlers, final, targets, guarded.span)

    def only_live(self, variables: tuple[ir.Var, ...]) -> tuple[ir.Var, ...]:
        kept = tuple([var for var in variables if var in self.live])
        return variables if len(kept) == len(variables) else kept

    def loop(self, loop: ir.Loop) -> ir.Loop:
        body = self.block(loop.body, loop)
        kept = [position for position, param in enumerate(loop.params) if param in self.live]
        order = self.target_order(loop)
        index = loop.index if loop.index in self.live else None
        exit_ = loop.exit if loop.exit in self.live else None
        same = body is loop.body and index is loop.index and exit_ is loop.exit
        if same and len(kept) == len(loop.params) and _is_whole(order, loop.targets):
            return loop
        params = tuple([loop.params[position] for position in kept])
        inits = tuple([loop.inits[position] for position in kept])
        targets = tuple([loop.targets[position] for position in order])
        return ir.Loop(loop.over, index, params, inits, body, targets, exit_, loop.span)

    def target_order(self, loop: ir.Loop) -> list[int]:
        """The targets that stay: one for each parameter that stays, then the live ones of the others."""
        count = len(loop.params)
        first = [position for position in range(count) if loop.params[position] in self.live]
        return first + [
            position
            for position, target in enumerate(loop.targets)
            if target in self.live and not (position < count and loop.params[position] in self.live)
        ]

    def terminator(self, terminator: ir.Terminator, construct: ir.Statement | None) -> ir.Terminator:
        match terminator:
            case ir.Branch(cond, then, orelse, span):
                then, orelse = self.block(then, construct), self.block(orelse, construct)
                same = then is terminator.then and orelse is terminator.orelse
                return terminator if same else ir.Branch(cond, then, orelse, span)
            case ir.Yield(values):
                if construct is None:
                    return terminator
                assert isinstance(construct, (ir.If, ir.Guarded))
                kept = self.of_live(construct.targets, values)
                return terminator if len(kept) == len(values) else ir.Yield(kept)
            case ir.Continue(values):
                assert isinstance(construct, ir.Loop)
                kept = self.of_live(construct.params, values)
                return terminator if len(kept) == len(values) else ir.Continue(kept)
            case ir.Exit(kind, values):
                assert isinstance(construct, ir.Loop)
                targets, order = construct.targets, self.target_order(construct)
                handed = [values[position] if targets[position] in self.live else ir.UNDEFINED for position in order]
                return terminator if _are_same(handed, values) else ir.Exit(kind, tuple(handed))
            case _:
                return terminator

    def of_live(self, variables: tuple[ir.Var, ...], values: tuple[ir.Atom, ...]) -> tuple[ir.Atom, ...]:
        """The values that are handed to variables which are live."""
        return tuple([value for var, value in zip(variables, values, strict=True) if var in self.live])


def _are_same(new: Sequence[object], old: Sequence[object]) -> bool:
    return len(new) == len(old) and all(map(operator.is_, new, old))


def _is_whole(order: list[int], targets: tuple[ir.Var, ...]) -> bool:
    return len(order) == len(targets) and order == list(range(len(order)))
