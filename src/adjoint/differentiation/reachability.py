"""Through which values and which memory a derivative flows, as reachability in a graph.

Its nodes are values, and *slots*: the places of one storage class that hold values (for objects, one for each field).
An edge says that one's derivative may contribute to the other's. What is reached from the inputs varies, what reaches
the outputs is useful; what does both is active. Memory that may be one is one node, whatever the order of events.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import effects, written_args
from adjoint.analysis.joins import caught, joins, reached
from adjoint.analysis.memory.reachable import lends_memory, may_be_written, may_keep_in, may_write_anything
from adjoint.analysis.messages import communicates
from adjoint.diagnostics import Diagnostic
from adjoint.differentiation.aliases import Aliases, Node, takes_out
from adjoint.differentiation.memory.slots import Slot, has_slots, is_container
from adjoint.differentiation.memory.structural import as_store, is_object_display, object_display, roles_of
from adjoint.differentiation.nondifferentiable import is_of_others, names_field, problems_of
from adjoint.ir.join import reads_metadata, type_of_atom
from adjoint.ir.walk import leaves, operands, statements_in
from adjoint.rules.kinds import Constant, Linear, NoDerivative, Observer, Rule
from adjoint.rules.registry import rule_for
from adjoint.runtime import display, tangents
from adjoint.runtime.array_functions.arrays import zeros_in_memory, zeros_like
from adjoint.runtime.tangents import follow_view, shadow, shadow_like, shadow_of_values, shadow_with

_OF_WHOLE_NUMBERS = frozenset(
    {operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift, operator.rshift, operator.floordiv}
)


class Dependence(Aliases):
    """The activity of everything in a function.

    Parameters
    ----------
    function
        The function.
    wrt, outputs
        The parameters with respect to which, and the results of which, the derivative is taken. What the function
        writes to memory of the parameters in ``wrt`` counts as a result.
    is_called
        Whether others go on with the memory of the outputs, and may write to it what varies.
    """

    def __init__(
        self, function: ir.Function, wrt: Sequence[int], outputs: Sequence[int], *, is_called: bool = False
    ) -> None:
        super().__init__(function)
        self.body = function.body
        self.read: set[ir.Atom] | None = None
        self.edges: dict[Node, set[Node]] = defaultdict(set)
        self.opaque: list[tuple[ir.Call, str]] = []
        self.settings: list[tuple[ir.Call, str, ir.Atom]] = []
        self.stores: list[ir.Store] = []
        self.writers: list[ir.Call] = []
        self.foreign: list[ir.Load] = []
        self.from_records: list[ir.Load] = []
        self.draws: list[tuple[ir.Loop, ir.Var]] = []
        self.received: list[Node] = []
        self.sent: list[Node] = []
        for statement in statements_in(function.body):
            self._connect(statement)
        self._connect_objects(function)
        self._answer(function, wrt, outputs, is_called)

    def _answer(self, function: ir.Function, wrt: Sequence[int], outputs: Sequence[int], is_called: bool) -> None:
        inputs = [node for index in wrt for node in self.nodes(function.params[index])]
        results = [
            node
            for leaf in leaves(function.body)
            if isinstance(leaf, ir.Return)
            for node in self._results(leaf, outputs)
        ]
        results += [slot for index in wrt for slot in self.memory.slots(function.params[index].type)]
        inputs += self._handed_out(function, outputs) if is_called else []
        self.varied = reached([*inputs, *self.received], self.edges)
        self.useful = reached([*results, *self.sent], _reversed(self.edges))
        self.active_nodes = self.varied & self.useful
        self._asked = function, wrt
        self._problems: list[Diagnostic] | None = None

    def of_parameters(self, function: ir.Function, wrt: Sequence[int], outputs: Sequence[int]) -> Dependence:
        """The same of other parameters of the function: what is connected with what is found once."""
        other = copy(self)
        other._answer(function, wrt, outputs, is_called=False)
        return other

    # What the transform asks

    @property
    def problems(self) -> list[Diagnostic]:
        """What cannot be differentiated."""
        if self._problems is None:
            self._problems = problems_of(self, *self._asked)
        return self._problems

    def active(self, atom: ir.Atom) -> bool:
        """Whether a derivative flows through a value, or through memory that it refers to."""
        return isinstance(atom, ir.Var) and any(node in self.active_nodes for node in self.nodes(atom))

    def varies(self, atom: ir.Atom) -> bool:
        return isinstance(atom, ir.Var) and any(node in self.varied for node in self.nodes(atom))

    def active_slot(self, base: ir.Atom, key: ir.Key | None) -> bool:
        """Whether a derivative flows through a slot, or through memory that what lies there refers to."""
        type_ = type_of_atom(base)
        slot = self.slot(type_, key)
        if slot is None:
            return self.active(base)
        return slot in self.active_nodes or any(
            inner in self.active_nodes for inner in self.memory.slots(self.memory.content.get(slot))
        )

    def _results(self, leaf: ir.Return, outputs: Sequence[int]) -> list[Node]:
        return [node for index in outputs for node in self.nodes(leaf.values[index])]

    def _handed_out(self, function: ir.Function, outputs: Sequence[int]) -> list[Node]:
        """The memory of what a function returns, also of what lies in tuples that nobody looks into."""
        parts: dict[ir.Atom, list[ir.Atom]] = defaultdict(list)
        for statement in statements_in(function.body):
            if isinstance(statement, ir.Call) and statement.callee is display.make_tuple:
                parts[statement.targets[0]] += statement.args
            for source, target in joins(statement):
                parts[target].append(source)
        ends = [leaf for leaf in leaves(function.body) if isinstance(leaf, ir.Return)]
        returned = [end.values[index] for end in ends for index in outputs]
        for atom in returned:
            returned += [part for part in parts.get(atom, ()) if part not in returned]
        return [node for node in self._all(returned) if isinstance(node, tuple)]

    # Edges

    def _connect(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Load(target=target, base=base, key=key):
                self._connect_load(statement, target, base, key)
            case ir.Store(base=base, key=key, value=value):
                slot = self.slot(type_of_atom(base), key)
                if slot is not None and ir.may_vary(type_of_atom(base)) and not names_field(base, key):
                    self._flow(self._carried(value, base), self._into(slot, value))
                    if isinstance(base, ir.Const):
                        self.stores.append(statement)
                else:
                    self.stores.append(statement)
                    self._flow(self.nodes(value), self.nodes(base))
            case ir.Call() if (stored := as_store(statement)) is not None:
                self._connect(stored)
            case ir.Call():
                self._connect_call(statement)
            case ir.Loop(over=ir.Items(iterable=iterable), index=ir.Var() as index):
                self._flow(self.nodes(iterable), self.nodes(index))
                self.draws.append((statement, index))
        for source, target in joins(statement):
            same_kind = has_slots(type_of_atom(source)) == has_slots(target.type)
            read = self._values if same_kind else self.nodes
            self._flow(read(source), read(target))
        for source, target in caught(statement):
            self._flow(self.nodes(source), self.nodes(target))

    def _connect_objects(self, function: ir.Function) -> None:
        """Objects of one class that nobody looks into may be one: what is kept in one is found in the others."""
        if not self.opaque:
            return
        given: dict[type, list[Node]] = defaultdict(list)
        loaded = [statement.target for statement in statements_in(function.body) if isinstance(statement, ir.Load)]
        for var in (*function.params, *loaded):
            if isinstance(var.type, ir.Opaque) and var.type.cls is not None and may_be_written(var.type):
                given[var.type.cls] += self.nodes(var)
        for nodes in given.values():
            self._flow(nodes[:1], nodes[1:])
            self._flow(nodes[1:], nodes[:1])

    def _connect_load(self, load: ir.Load, target: ir.Var, base: ir.Atom, key: ir.Key) -> None:
        if key == ir.Attribute("dtype") and reads_metadata(load):
            return
        if names_field(base, key) or is_of_others(base):
            self.from_records.append(load)
        slot = self.slot(type_of_atom(base), key)
        if slot is not None:
            self._flow(self._out_of(slot, target), self._values(target))
        elif isinstance(base, ir.Var) and isinstance(base.type, ir.Array):
            self._flow(self.nodes(base), self.nodes(target))
        elif isinstance(base, ir.Var) and isinstance(base.type, ir.Tuple):
            self._flow(self.nodes(base), self._values(target))
        else:
            self._flow(self.nodes(base), self.nodes(target))
            if has_slots(target.type):
                self.foreign.append(load)
            elif target.type == ir.Opaque():
                self._flow(self.nodes(target), self.nodes(base))  # it may be a method, and store what it is given

    def _out_of(self, slot: Slot, target: ir.Var) -> list[Node]:
        """What flows to a value that is taken out of a slot, in which there may be references all the same."""
        return [slot] if has_slots(target.type) else [slot, *self.memory.slots(self.memory.content.get(slot))]

    def _into(self, slot: Slot, value: ir.Atom) -> list[Node]:
        """What a value that is put into a slot flows to."""
        if has_slots(type_of_atom(value)):
            return [slot]
        return [slot, *self.memory.slots(self.memory.content.get(slot))]

    def _values(self, atom: ir.Atom) -> list[Node]:
        """The value itself, unless it is a reference: what flows where references need no edges."""
        if not isinstance(atom, ir.Var) or not ir.may_vary(atom.type) or has_slots(atom.type):
            return []
        return [atom]

    def _carried(self, value: ir.Atom, base: ir.Atom) -> list[Node]:
        return self.nodes(value) if isinstance(type_of_atom(base), ir.Array) else self._values(value)

    def _flow(self, sources: Iterable[Node], sinks: Sequence[Node]) -> None:
        if sinks:
            for source in sources:
                self.edges[source].update(sinks)

    def _all(self, atoms: Iterable[ir.Atom]) -> list[Node]:
        return [node for atom in atoms for node in self.nodes(atom)]

    def _connect_call(self, call: ir.Call) -> None:
        args = (*call.args, *(value for _, value in call.kwargs))
        sources, sinks = self._all(args), self._all(call.targets)
        if isinstance(call.callee, (ir.Definition, ir.Function, ir.Derived)):
            written = [node for node in self._all(written_args(call)) if isinstance(node, tuple)]
            memory = [node for node in sinks if isinstance(node, tuple)]
            packs = [node for node in sinks if isinstance(node, ir.Var) and isinstance(node.type, ir.Opaque)]
            if communicates(call.callee):
                self.received += [*sinks, *written]
                self.sent += sources
            self._flow(sources, [*sinks, *written])
            self._flow(memory, packs)  # what nobody looks into may hold what is beside it
            return
        if isinstance(call.callee, ir.Declared):
            self._flow(self._all(ir.differentiated_args(call)), sinks)
            return
        if isinstance(call.callee, ir.Applied):
            self._connect_applied(call)
            return
        roles = roles_of(call, is_container)
        if roles is not None:
            self._connect_structural(call, roles)
            return
        rule = None if _is_of_objects(call) else rule_for(call.callee)
        declared = rule is not None and not isinstance(rule, NoDerivative)
        if isinstance(rule, (Constant, Observer)) or (not declared and _reads_no_values(call.callee)):
            return
        if call.callee is follow_view:
            self._flow(self.nodes(call.args[0]), sinks)
        elif rule is None:
            self.opaque.append((call, "AD0201"))
            lent = self._all(filter(lends_memory, args)) if may_write_anything(call) else []
            lent += self._all(may_keep_in(call))
            self._flow(sources, [*sinks, *lent])
            if lent:  # its result may keep the memory, and write what it is handed later
                self._flow(self._all(target for target in call.targets if target in self._read()), lent)
        elif isinstance(rule, NoDerivative):
            self.opaque.append((call, "AD0204"))
            self._flow(
                sources, [node for target in call.targets if _surely_varies(target.type) for node in self.nodes(target)]
            )
        else:
            self._connect_rule(call, rule, sinks)

    def _connect_applied(self, call: ir.Call) -> None:
        for place, arg in enumerate(call.args):
            if place not in call.callee.places and ir.may_vary(type_of_atom(arg)):
                self.settings.append((call, "", arg))
        self._flow(self._all(call.args), self._all(call.targets))

    def _read(self) -> set[ir.Atom]:
        """All that some statement reads."""
        if self.read is None:
            self.read = {atom for statement in statements_in(self.body) for atom in operands(statement)}
        return self.read

    def _connect_rule(self, call: ir.Call, rule: Rule, sinks: list[Node]) -> None:
        args, kwargs = rule.bind(call.args, dict(call.kwargs))
        if rule.exchanges:
            self.received += sinks
            self.sent += self._all(args)
        wrt = rule.wrt if isinstance(rule, Linear) and rule.wrt is not None else range(len(args))
        settings = [(name, args[place]) for place, name in rule.settings(len(args))] + list(kwargs.items())
        self.settings += [(call, name, value) for name, value in settings if ir.may_vary(type_of_atom(value))]
        sources = self._all([args[place] for place in wrt if place < len(args)] + [value for _, value in settings])
        written = self._all(args[place] for place in rule.writes if place < len(args))
        self._flow(sources, sinks + written)
        if rule.unsupported(len(args), tuple(kwargs)):
            self.opaque.append((call, "AD0204"))
        if rule.writes and not isinstance(rule, Linear):
            self.writers.append(call)

    def _connect_structural(self, call: ir.Call, roles: Sequence[str]) -> None:
        if call.callee in (tangents.pour, *tangents.LAYOUTS):
            source, into = (call.args[0], call.targets) if call.targets else (call.args[1], call.args[:1])
            self._flow(self.nodes(source), self._all(into))
            return
        slots: list[Slot] = []
        for arg, role in zip(call.args, roles, strict=True):
            own = self.slot(type_of_atom(arg), None) if role == "container" else None
            if own is not None:
                slots.append(own)
            elif role == "container":
                self._flow(self.nodes(arg), self._all(call.targets))
        if is_object_display(call.callee):
            for name, value in zip(object_display(call)[1], call.args[2:], strict=True):
                self._flow(self._values(value), [self.field(call.targets[0], name)])
            return
        sinks = [node for target in call.targets for node in self._values(target)]
        sinks += [slot for target in call.targets if (slot := self.slot(target.type, None)) is not None]
        if not slots:
            sinks += [
                node for target in call.targets if isinstance(target.type, ir.Tuple) for node in self._values(target)
            ]
        items = [
            node for arg, role in zip(call.args, roles, strict=True) if role == "item" for node in self._values(arg)
        ]
        held = [inner for slot in slots for inner in self.memory.slots(self.memory.content.get(slot))]
        if not all(has_slots(target.type) for target in call.targets):
            self._flow(held, [sink for sink in sinks if not isinstance(sink, tuple)])
        for arg, role in zip(call.args, roles, strict=True):
            if role == "item" and not has_slots(type_of_atom(arg)):
                self._flow(self._values(arg), held)
        self._flow(items, slots + sinks)
        opaque: list[Node] = [slot for slot in slots if isinstance(self.memory.content.get(slot), ir.Opaque)]
        opaque += [node for target in call.targets if isinstance(target.type, ir.Opaque) for node in self.nodes(target)]
        for arg, role in zip(call.args, roles, strict=True):
            if role == "item":  # what a reference leads to is part of what nobody looks into
                self._flow(self.nodes(arg), opaque)
        self._flow(slots, slots + [sink for sink in sinks if not isinstance(sink, tuple) or not takes_out(call)])


def _reads_no_values(callee: Any) -> bool:
    """Whether a function looks at nothing but the shapes and types of its arguments."""
    makers = (shadow, shadow_with, shadow_like, shadow_of_values, zeros_in_memory, zeros_like)
    return callee in makers or effects(callee).reads == ()


def _is_of_objects(call: ir.Call) -> bool:
    """Whether it is an operator of whole numbers and truth values, of objects that may give it any meaning."""
    return call.callee in _OF_WHOLE_NUMBERS and any(isinstance(target.type, ir.Opaque) for target in call.targets)


def _surely_varies(type_: ir.Type) -> bool:
    match type_:
        case ir.Scalar(kind=kind):
            return kind in ("float", "complex")
        case ir.Array(dtype=dtype):
            return ir.is_float_dtype(dtype)
        case ir.Opaque(cls=cls):
            return cls is set
        case _:
            return (
                isinstance(type_, (ir.List, ir.Dict, ir.Tuple, ir.Instance))
                and ir.may_vary(type_)
                and not isinstance(type_, ir.Number)
            )


def _reversed(edges: dict[Node, set[Node]]) -> dict[Node, set[Node]]:
    back: dict[Node, set[Node]] = defaultdict(set)
    for source, sinks in edges.items():
        for sink in sinks:
            back[sink].add(source)
    return back
