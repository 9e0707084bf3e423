"""The reverse region while it is being written: a tree that can still change.

Its blocks refer to variables of the forward region as if they were still there. Once the tree is complete, what
nobody needs is dropped (:func:`prune`), so that only real needs decide what the forward region keeps; then
:func:`freeze` turns the tree into statements, with each forward variable replaced by what stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.differentiation.reverse.bindings import Binding, Region
from adjoint.ir.builder import Builder
from adjoint.ir.rebuild import rebuild, substitute
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in, targets_of, vars_used
from adjoint.records import dataclass, field
from adjoint.rules.registry import exchanges

IMPURE = (list.pop, list.append, list.insert, list.extend, list.clear, dict.pop, dict.update, setattr)


class Sweep(Builder):
    """An open block of the reverse region: the reverse of the forward ``region``."""

    def __init__(self, model: Builder, region: Region) -> None:
        super().__init__(model.type_of_call, model.span)
        self.region = region
        self.nodes: list[ir.Statement | ReverseIf | ReverseLoop] = self.statements  # type: ignore[assignment]
        self.prologue: list[tuple[tuple[int, int], ir.Statement]] = []
        self.lasting: set[int] = set()

    def last(self, start: int) -> None:
        """Has statements from a place on stay that raise or act on the world, needed or not: they do not run again."""
        self.lasting |= {
            id(node) for node in self.nodes[start:] if isinstance(node, ir.Statement) and raises_or_acts(node)
        }

    def first(self, order: tuple[int, int], statement: ir.Statement) -> None:
        """Puts a statement at the start of the block, among others in the order of the forward region."""
        self.prologue.append((order, statement))

    def content(self) -> Iterator[ir.Statement | ReverseIf | ReverseLoop]:
        """All nodes, those of the start first."""
        for _, statement in sorted(self.prologue, key=lambda entry: entry[0]):
            yield statement
        yield from self.nodes


@dataclass(eq=False, slots=True)
class ReverseIf:
    """An ``If`` of the reverse region; ``values`` are pairs, one for each target."""

    cond: ir.Atom
    then: Sweep
    orelse: Sweep
    targets: list[ir.Var] = field(default_factory=list)
    values: list[tuple[ir.Atom, ir.Atom]] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class ReverseLoop:
    """A ``Loop`` of the reverse region, without exits; ``values`` are those of the next iteration."""

    over: ir.Range
    index: ir.Var
    body: Sweep
    params: list[ir.Var] = field(default_factory=list)
    inits: list[ir.Atom] = field(default_factory=list)
    values: list[ir.Atom] = field(default_factory=list)
    targets: list[ir.Var] = field(default_factory=list)

    def carried(self, var: ir.Var) -> ir.Var:
        """One more variable that it carries; the caller adds its first value and the next ones."""
        param = ir.Var(var.hint, var.type, var.named)
        self.params.append(param)
        self.targets.append(ir.Var(var.hint, var.type, var.named))
        return param


Node = ir.Statement | ReverseIf | ReverseLoop


def blocks(node: Node) -> tuple[Sweep, ...]:
    """The open blocks directly inside a node."""
    if type(node) is ReverseIf:
        return (node.then, node.orelse)
    return (node.body,) if type(node) is ReverseLoop else ()


def own_reads(node: Node) -> list[ir.Var]:
    """The variables that a node reads outside of its open blocks."""
    atoms: tuple[ir.Atom, ...]
    match node:
        case ir.Call():
            atoms = operands(node)
        case ReverseIf(cond=cond):
            atoms = (cond,)
        case ReverseLoop(over=over):
            atoms = (over.start, over.stop, over.step)
        case _:
            atoms = operands(node) + tuple(atom for block in blocks_of(node) for atom in vars_used(block))
    return [atom for atom in atoms if type(atom) is ir.Var]


def acts(statement: ir.Statement) -> bool:
    """Whether a statement of the reverse region does more than to give values."""
    if isinstance(statement, ir.Store):
        return True
    if isinstance(statement, ir.Call):
        callee = statement.callee
        if not statement.targets or isinstance(callee, (ir.Definition, ir.Derived)):
            return True
        return callee in IMPURE or exchanges(callee)
    return any(acts(inner) for block in blocks_of(statement) for inner in statements_in(block))


def raises_or_acts(statement: ir.Statement) -> bool:
    """Whether a statement raises by ``raise``, or may act on the world."""
    if isinstance(statement, ir.Call):
        return effects_of(statement).acts
    inside = blocks_of(statement)
    if any(isinstance(end, ir.Raise) for block in inside for end in leaves(block)):
        return True
    return any(raises_or_acts(inner) for block in inside for inner in statements_in(block))


# Dropping what nobody needs


def prune(root: Sweep, results: list[ir.Atom]) -> None:
    """Drops all nodes, targets and loop parameters that neither ``results`` nor an effect needs."""
    _Pruner(root).run(results)


class _Pruner:
    def __init__(self, root: Sweep) -> None:
        self.root = root
        self.origin: dict[ir.Var, tuple[Node, int]] = {}
        self.holder: dict[int, Node] = {}
        self.needed_nodes: set[int] = set()
        self.needed_vars: set[ir.Var] = set()
        self.work: list[ir.Var] = []
        self.effects: list[Node] = []
        self.scan(root, None)

    def scan(self, sweep: Sweep, holder: Node | None) -> None:
        lasting = sweep.lasting
        for node in sweep.content():
            if holder is not None:
                self.holder[id(node)] = holder
            match node:
                case ReverseIf(targets=targets):
                    self.origin.update((target, (node, slot)) for slot, target in enumerate(targets))
                case ReverseLoop(params=params, targets=targets):
                    self.origin.update((param, (node, slot)) for slot, param in enumerate(params))
                    self.origin.update((target, (node, slot)) for slot, target in enumerate(targets))
                case _:
                    for target in targets_of(node):
                        self.origin[target] = node, -1
                    if acts(node) or (lasting and id(node) in lasting):
                        self.effects.append(node)
            for block in blocks(node):
                self.scan(block, node)

    def run(self, results: list[ir.Atom]) -> None:
        for node in self.effects:
            self.need_node(node)
        for result in results:
            self.need(result)
        while self.work:
            self.follow(self.work.pop())
        self.drop(self.root)

    def need(self, atom: ir.Atom) -> None:
        if isinstance(atom, ir.Var) and atom not in self.needed_vars:
            self.needed_vars.add(atom)
            self.work.append(atom)

    def need_node(self, node: Node) -> None:
        while id(node) not in self.needed_nodes:
            self.needed_nodes.add(id(node))
            for var in own_reads(node):
                self.need(var)
            if id(node) not in self.holder:
                return
            node = self.holder[id(node)]

    def follow(self, var: ir.Var) -> None:
        if var not in self.origin:
            return
        node, slot = self.origin[var]
        self.need_node(node)
        match node:
            case ReverseIf(values=values):
                for atom in values[slot]:
                    self.need(atom)
            case ReverseLoop(params=params, inits=inits, values=values):
                for atom in (params[slot], inits[slot], values[slot]):
                    self.need(atom)

    def drop(self, sweep: Sweep) -> None:
        sweep.nodes[:] = [node for node in sweep.nodes if id(node) in self.needed_nodes]
        sweep.prologue[:] = [entry for entry in sweep.prologue if id(entry[1]) in self.needed_nodes]
        for node in sweep.nodes:
            match node:
                case ReverseIf():
                    kept = [slot for slot, target in enumerate(node.targets) if target in self.needed_vars]
                    node.targets[:] = [node.targets[slot] for slot in kept]
                    node.values[:] = [node.values[slot] for slot in kept]
                case ReverseLoop():
                    pairs = zip(node.params, node.targets, strict=True)
                    kept = [slot for slot, pair in enumerate(pairs) if not self.needed_vars.isdisjoint(pair)]
                    node.params[:] = [node.params[slot] for slot in kept]
                    node.inits[:] = [node.inits[slot] for slot in kept]
                    node.values[:] = [node.values[slot] for slot in kept]
                    node.targets[:] = [node.targets[slot] for slot in kept]
            for block in blocks(node):
                self.drop(block)


# What the forward region has computed already


def known_values(root: Sweep, bindings: Mapping[ir.Var, Binding]) -> dict[ir.Var, ir.Var]:
    """The values that are computed in the reverse region, but are read of the forward region, too; they are dropped.

    What a rule computes anew, as the sine in the derivative of a cosine, is that of the forward region where the
    reverse region reads this all the same: so nothing more is kept.
    """
    read: dict[ir.Var, None] = {}
    _note_reads(root, read)
    computed: dict[Hashable, list[ir.Var]] = {}
    for var in read:
        binding = bindings.get(var)
        made = None if binding is None else binding.statement
        if isinstance(made, ir.Call) and made.targets == (var,) and _gives_the_same_again(made):
            computed.setdefault(_key(made), []).append(var)
    found: dict[ir.Var, ir.Var] = {}
    if computed:
        _drop_known(root, computed, bindings, found)
    return found


def _note_reads(sweep: Sweep, found: dict[ir.Var, None]) -> None:
    for node in sweep.content():
        found.update(dict.fromkeys(own_reads(node)))
        if isinstance(node, ReverseIf):
            found.update(dict.fromkeys(atom for pair in node.values for atom in pair if isinstance(atom, ir.Var)))
        elif isinstance(node, ReverseLoop):
            found.update(dict.fromkeys(atom for atom in (*node.inits, *node.values) if isinstance(atom, ir.Var)))
        for block in blocks(node):
            _note_reads(block, found)


def _drop_known(
    sweep: Sweep,
    computed: Mapping[Hashable, Sequence[ir.Var]],
    bindings: Mapping[ir.Var, Binding],
    found: dict[ir.Var, ir.Var],
) -> None:
    kept: list[Node] = []
    for node in sweep.nodes:
        if isinstance(node, ir.Call) and len(node.targets) == 1 and node.targets[0] not in bindings:
            (target,) = node.targets
            there = [
                var
                for var in computed.get(_key(node), ())
                if var.type == target.type and sweep.region.within(bindings[var].region)
            ]
            if there and _gives_the_same_again(node):
                found[target] = there[0]
                continue
        kept.append(node)
        for block in blocks(node):
            _drop_known(block, computed, bindings, found)
    sweep.nodes[:] = kept


def _key(call: ir.Call) -> Hashable:
    values = [(type(atom.value), atom) if isinstance(atom, ir.Const) else atom for atom in operands(call)]
    return id(call.callee), tuple(values), tuple(name for name, _ in call.kwargs)


def _gives_the_same_again(call: ir.Call) -> bool:
    """Whether a call computes a new value of values that nobody writes."""
    if not all(map(_is_value, (*operands(call), *call.targets))):
        return False
    facts = effects_of(call)
    return facts.pure and not facts.fresh and not facts.hands_on and facts.view_of is None


def _is_value(atom: ir.Atom) -> bool:
    match atom:
        case ir.Const(value=value):
            return isinstance(value, (bool, int, float, complex, str, type(None), tuple))
        case ir.Var(type=ir.Scalar()):
            return True
        case ir.Var(type=ir.Array(storage=storage)):
            return not storage.find().written
        case _:
            return False


# Into statements


def freeze(sweep: Sweep, resolve: Callable[[ir.Atom], ir.Atom]) -> tuple[ir.Statement, ...]:
    """The statements of an open block, with ``resolve`` applied to every atom that it reads."""
    return tuple(_frozen(node, resolve) for node in sweep.content())


def _frozen(node: Node, resolve: Callable[[ir.Atom], ir.Atom]) -> ir.Statement:
    match node:
        case ir.Call():
            return rebuild(node, resolve)
        case ReverseIf(cond, then, orelse, targets, values):
            first = ir.Block(freeze(then, resolve), ir.Yield(tuple(resolve(pair[0]) for pair in values)))
            second = ir.Block(freeze(orelse, resolve), ir.Yield(tuple(resolve(pair[1]) for pair in values)))
            return ir.If(resolve(cond), first, second, tuple(targets))
        case ReverseLoop(over, index, body, params, inits, values, targets):
            start, stop, step = resolve(over.start), resolve(over.stop), resolve(over.step)
            inner = ir.Block(freeze(body, resolve), ir.Continue(tuple(map(resolve, values))))
            firsts = tuple(map(resolve, inits))
            space = ir.Range(start, stop, step, over.backward)
            return ir.Loop(space, index, tuple(params), firsts, inner, tuple(targets))
        case _ if blocks_of(node):
            return substitute(node, {var: resolve(var) for var in own_reads(node)})
        case _:
            return rebuild(node, resolve)


def is_zero(atom: ir.Atom | None) -> bool:
    """Whether a cotangent is the literal zero."""
    return isinstance(atom, ir.Const) and isinstance(atom.value, (int, float)) and atom.value == 0
