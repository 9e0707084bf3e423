"""Through which values and which memory a derivative flows, as reachability in a graph.

Its nodes are values, and *slots*: the places of one storage class that hold values (for objects, one for each field).
An edge says that one's derivative may contribute to the other's. What is reached from the inputs varies, what reaches
the outputs is useful; what does both is active. Memory that may be one is one node, whatever the order of events.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adjoint.analysis.activity import lends_memory, may_write_anything
from adjoint.analysis.joins import caught, joins
from adjoint.analysis.may_vary import varying
from adjoint.analysis.messages import communicates
from adjoint.analysis.written_objects import is_text, read_back, reads
from adjoint.diagnostics import diagnostic
from adjoint.diagnostics.spans import called_text
from adjoint.differentiation.memory.dict_keys import key_problems
from adjoint.differentiation.memory.slots import Memory, Slot, has_slots, is_container
from adjoint.differentiation.memory.structural import is_object_display, object_display, roles_of
from adjoint.ir.effects import effects
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import (
    Applied,
    Atom,
    Attribute,
    Call,
    Const,
    Declared,
    Definition,
    Derived,
    Function,
    Items,
    Key,
    Load,
    Loop,
    Return,
    Statement,
    Store,
    Subscript,
    Var,
    differentiated_args,
)
from adjoint.ir.types import Array, Dict, Instance, List, Number, Opaque, Scalar, Tuple, Type, is_float_dtype, may_vary
from adjoint.ir.walk import leaves, operands, statements_in
from adjoint.rules.declare import Constant, General, Linear, NoDerivative, Observer, Rule
from adjoint.rules.registry import is_defined, rule_for
from adjoint.runtime import display, tangents
from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.runtime.tangents import follow_view, shadow, shadow_like, shadow_of_values

Node = Var | Slot

_OF_WHOLE_NUMBERS = frozenset(
    {operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift, operator.rshift, operator.floordiv}
)
_OF_RECORDS = ("keep an array for each field, in a dict or a dataclass",)
_OUT_OF_EXCEPTIONS = ("put what varies into a variable or a list before raising, and read it from there",)


class Dependence:
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
        self, function: Function, wrt: Sequence[int], outputs: Sequence[int], *, is_called: bool = False
    ) -> None:
        self.body = function.body
        self.read: set[Atom] | None = None
        self.memory = Memory()
        self.edges: dict[Node, set[Node]] = defaultdict(set)
        self.opaque: list[tuple[Call, str]] = []
        self.settings: list[tuple[Call, str, Atom]] = []
        self.conversions: list[Call] = []
        self.stores: list[Store] = []
        self.writers: list[Call] = []
        self.foreign: list[Load] = []
        self.draws: list[tuple[Loop, Var]] = []
        self.known_nodes: dict[Var, list[Node]] = {}
        self.received: list[Node] = []
        self.sent: list[Node] = []
        for param in function.params:
            self.memory.enter(param.type)
        for statement in statements_in(function.body):
            self._link(statement)
        for statement in statements_in(function.body):
            self._connect(statement)
        inputs = [node for index in wrt for node in self.nodes(function.params[index])]
        results = [
            node for leaf in leaves(function.body) if isinstance(leaf, Return) for node in self._results(leaf, outputs)
        ]
        results += [slot for index in wrt for slot in self.memory.slots(function.params[index].type)]
        inputs += self._handed_out(function, outputs) if is_called else []
        self.varied = _reached([*inputs, *self.received], self.edges)
        self.useful = _reached([*results, *self.sent], _reversed(self.edges))
        self.active_nodes = self.varied & self.useful
        self.problems = [*self._opaque_problems(), *self._setting_problems()]
        self.problems += self._text_problems(function, wrt)
        self.problems += self._memory_problems(bool(self.problems))
        self.problems += key_problems(function, self)
        if not self.problems:  # of which it may be a consequence
            self.problems += self._problems_of_written_objects(function, wrt)

    # What the transform asks

    def active(self, atom: Atom) -> bool:
        """Whether a derivative flows through a value, or through memory that it refers to."""
        return isinstance(atom, Var) and any(node in self.active_nodes for node in self.nodes(atom))

    def varies(self, atom: Atom) -> bool:
        return isinstance(atom, Var) and any(node in self.varied for node in self.nodes(atom))

    def active_slot(self, base: Atom, key: Key | None) -> bool:
        """Whether a derivative flows through a slot, or through memory that what lies there refers to."""
        type_ = type_of_atom(base)
        slot = self.slot(type_, key)
        if slot is None:
            return self.active(base)
        return slot in self.active_nodes or any(
            inner in self.active_nodes for inner in self.memory.slots(self.memory.content.get(slot))
        )

    def content(self, base: Atom, key: Key | None) -> Type | None:
        """The type of what lies in a slot."""
        slot = self.slot(type_of_atom(base), key)
        return None if slot is None else self.memory.content.get(slot)

    # Nodes

    def slot(self, type_: Type | None, key: Key | None) -> Slot | None:
        match type_:
            case Array(storage=storage) if storage.written:
                return self.memory.find(storage), None
            case List(storage=storage) | Dict(storage=storage):
                return self.memory.find(storage), None
            case Instance(storage=storage) if isinstance(key, Attribute):
                return self.memory.find(storage), key.name
            case _:
                return None

    def nodes(self, atom: Atom) -> list[Node]:
        """The value itself, unless it is a reference, and every slot that can be reached from it."""
        if not isinstance(atom, Var) or not may_vary(atom.type):
            return []
        known = self.known_nodes.get(atom)
        if known is None:
            own: list[Node] = [] if has_slots(atom.type) else [atom]
            known = self.known_nodes[atom] = [*own, *self.memory.slots(atom.type)]
        return known

    def _results(self, leaf: Return, outputs: Sequence[int]) -> list[Node]:
        return [node for index in outputs for node in self.nodes(leaf.values[index])]

    def _handed_out(self, function: Function, outputs: Sequence[int]) -> list[Node]:
        """The memory of what a function returns, also of what lies in tuples that nobody looks into."""
        parts: dict[Atom, list[Atom]] = defaultdict(list)
        for statement in statements_in(function.body):
            if isinstance(statement, Call) and statement.callee is display.make_tuple:
                parts[statement.targets[0]] += statement.args
            for source, target in joins(statement):
                parts[target].append(source)
        ends = [leaf for leaf in leaves(function.body) if isinstance(leaf, Return)]
        returned = [end.values[index] for end in ends for index in outputs]
        for atom in returned:
            returned += [part for part in parts.get(atom, ()) if part not in returned]
        return [node for node in self._all(returned) if isinstance(node, tuple)]

    # Aliases

    def _link(self, statement: Statement) -> None:
        memory = self.memory
        match statement:
            case Load(target=target, base=base, key=key):
                self._link_load(type_of_atom(base), key, target.type)
            case Store(base=base, key=key, value=value):
                slot = self.slot(type_of_atom(base), key)
                if slot is not None and not isinstance(type_of_atom(base), Array):
                    memory.hold(*slot, type_of_atom(value))
            case Call():
                self._link_call(statement)
        for source, target in joins(statement):
            memory.link(type_of_atom(source), target.type)

    def _link_load(self, base: Type | None, key: Key, target: Type) -> None:
        match base:
            case Array():
                if has_slots(base) and has_slots(target):
                    self.memory.link(base, target)
            case Tuple(items=items):
                place = key.items[0] if isinstance(key, Subscript) and len(key.items) == 1 else None
                if isinstance(place, Const) and isinstance(place.value, int):
                    items = items[place.value :][:1] if place.value >= 0 else (items[place.value],)
                for item in items:
                    self.memory.link(item, target)
            case _:
                slot = self.slot(base, key)
                if slot is not None:
                    self.memory.hold(*slot, target)

    def _link_call(self, call: Call) -> None:
        memory = self.memory
        for target in call.targets:
            memory.enter(target.type)
        if isinstance(call.callee, (Definition, Function)):
            self._link_function(call)
            return
        if is_object_display(call.callee):
            for name, value in zip(object_display(call)[1], call.args[2:], strict=True):
                memory.hold(*self._field(call.targets[0], name), type_of_atom(value))
            return
        if call.callee is follow_view:
            memory.link(type_of_atom(call.args[0]), call.targets[0].type)
            return
        roles = roles_of(call, is_container)
        if roles is None:
            rule = rule_for(call.callee)
            if rule is not None and rule.view_of is not None and rule.view_of < len(call.args):
                for target in call.targets:
                    memory.link(type_of_atom(call.args[rule.view_of]), target.type)
            return
        containers = [type_of_atom(arg) for arg, role in zip(call.args, roles, strict=True) if role == "container"]
        items = [type_of_atom(arg) for arg, role in zip(call.args, roles, strict=True) if role == "item"]
        holders = containers or [target.type for target in call.targets]
        if not containers and isinstance(holders[0] if holders else None, Tuple):
            memory.link(holders[0], Tuple(tuple(item or Opaque() for item in items)))
            return
        self._link_structural(call, holders, items)

    def _field(self, target: Var, name: str) -> Slot:
        slot = self.slot(target.type, Attribute(name))
        assert slot is not None
        return slot

    def _link_structural(self, call: Call, holders: list[Type | None], items: list[Type | None]) -> None:
        memory = self.memory
        for other in holders[1:]:
            memory.link(holders[0], other)
        for holder in holders[:1]:
            slot = self.slot(holder, None)
            if slot is None:
                continue
            for item in items:
                memory.hold(*slot, item)
            for target in call.targets:
                if target.type is holder:
                    continue
                if type(target.type) is type(holder) and not _takes_out(call):
                    memory.link(holder, target.type)
                else:
                    memory.hold(slot[0], None, target.type)

    def _link_function(self, call: Call) -> None:
        function = call.callee.function if isinstance(call.callee, Definition) else call.callee
        assert function is not None
        for arg, param in zip(call.args, function.params, strict=True):
            self.memory.link(type_of_atom(arg), param.type)
        for leaf in leaves(function.body):
            if isinstance(leaf, Return):
                for value, target in zip(leaf.values, call.targets, strict=False):
                    self.memory.link(type_of_atom(value), target.type)

    # Edges

    def _connect(self, statement: Statement) -> None:
        match statement:
            case Load(target=target, base=base, key=key):
                self._connect_load(statement, target, base, key)
            case Store(base=base, key=key, value=value):
                slot = self.slot(type_of_atom(base), key)
                if slot is not None and may_vary(type_of_atom(base)) and not _names_field(base, key):
                    self._flow(self._carried(value, base), self._into(slot, value))
                    if isinstance(base, Const):
                        self.stores.append(statement)
                else:
                    self.stores.append(statement)
                    self._flow(self.nodes(value), self.nodes(base))
            case Call():
                self._connect_call(statement)
            case Loop(over=Items(iterable=iterable), index=Var() as index):
                self._flow(self.nodes(iterable), self.nodes(index))
                self.draws.append((statement, index))
        for source, target in joins(statement):
            same_kind = has_slots(type_of_atom(source)) == has_slots(target.type)
            read = self._values if same_kind else self.nodes
            self._flow(read(source), read(target))
        for source, target in caught(statement):
            self._flow(self.nodes(source), self.nodes(target))

    def _connect_load(self, load: Load, target: Var, base: Atom, key: Key) -> None:
        if isinstance(type_of_atom(base), Array) and key == Attribute("dtype"):
            return
        slot = self.slot(type_of_atom(base), key)
        if slot is not None:
            self._flow(self._out_of(slot, target), self._values(target))
        elif isinstance(base, Var) and isinstance(base.type, Array):
            self._flow(self.nodes(base), self.nodes(target))
        elif isinstance(base, Var) and isinstance(base.type, Tuple):
            self._flow(self.nodes(base), self._values(target))
        else:
            self._flow(self.nodes(base), self.nodes(target))
            if has_slots(target.type):
                self.foreign.append(load)
            elif target.type == Opaque():
                self._flow(self.nodes(target), self.nodes(base))  # it may be a method, and store what it is given

    def _out_of(self, slot: Slot, target: Var) -> list[Node]:
        """What flows to a value that is taken out of a slot, in which there may be references all the same."""
        return [slot] if has_slots(target.type) else [slot, *self.memory.slots(self.memory.content.get(slot))]

    def _into(self, slot: Slot, value: Atom) -> list[Node]:
        """What a value that is put into a slot flows to."""
        if has_slots(type_of_atom(value)):
            return [slot]
        return [slot, *self.memory.slots(self.memory.content.get(slot))]

    def _values(self, atom: Atom) -> list[Node]:
        """The value itself, unless it is a reference: what flows where references need no edges."""
        if not isinstance(atom, Var) or not may_vary(atom.type) or has_slots(atom.type):
            return []
        return [atom]

    def _carried(self, value: Atom, base: Atom) -> list[Node]:
        return self.nodes(value) if isinstance(type_of_atom(base), Array) else self._values(value)

    def _flow(self, sources: Iterable[Node], sinks: Sequence[Node]) -> None:
        if sinks:
            for source in sources:
                self.edges[source].update(sinks)

    def _all(self, atoms: Iterable[Atom]) -> list[Node]:
        return [node for atom in atoms for node in self.nodes(atom)]

    def _connect_call(self, call: Call) -> None:
        args = (*call.args, *(value for _, value in call.kwargs))
        sources, sinks = self._all(args), self._all(call.targets)
        if isinstance(call.callee, (Definition, Function, Derived)):
            written = [node for arg in args for node in self.nodes(arg) if isinstance(node, tuple)]
            memory = [node for node in sinks if isinstance(node, tuple)]
            packs = [node for node in sinks if isinstance(node, Var) and isinstance(node.type, Opaque)]
            if communicates(call.callee):
                self.received += [*sinks, *written]
                self.sent += sources
            self._flow(sources, [*sinks, *written])
            self._flow(memory, packs)  # what nobody looks into may hold what is beside it
            return
        if isinstance(call.callee, Declared):
            self._flow(self._all(differentiated_args(call)), sinks)
            return
        if isinstance(call.callee, Applied):
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
            if call.callee is display.call:
                lent += self.nodes(args[0])
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

    def _connect_applied(self, call: Call) -> None:
        for place, arg in enumerate(call.args):
            if place not in call.callee.places and may_vary(type_of_atom(arg)):
                self.settings.append((call, "", arg))
        self._flow(self._all(call.args), self._all(call.targets))

    def _read(self) -> set[Atom]:
        """All that some statement reads."""
        if self.read is None:
            self.read = {atom for statement in statements_in(self.body) for atom in operands(statement)}
        return self.read

    def _connect_rule(self, call: Call, rule: Rule, sinks: list[Node]) -> None:
        args, kwargs = rule.bind(call.args, dict(call.kwargs))
        if rule.exchanges:
            self.received += sinks
            self.sent += self._all(args)
        wrt = rule.wrt if isinstance(rule, Linear) and rule.wrt is not None else range(len(args))
        settings = [(name, args[place]) for place, name in rule.settings(len(args))] + list(kwargs.items())
        self.settings += [(call, name, value) for name, value in settings if may_vary(type_of_atom(value))]
        sources = self._all([args[place] for place in wrt if place < len(args)] + [value for _, value in settings])
        written = self._all(args[place] for place in rule.writes if place < len(args))
        self._flow(sources, sinks + written)
        if rule.unsupported(len(args), tuple(kwargs)):
            self.opaque.append((call, "AD0204"))
        if rule.writes and not isinstance(rule, Linear):
            self.writers.append(call)

    def _connect_structural(self, call: Call, roles: Sequence[str]) -> None:
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
                self._flow(self._values(value), [self._field(call.targets[0], name)])
            return
        sinks = [node for target in call.targets for node in self._values(target)]
        sinks += [slot for target in call.targets if (slot := self.slot(target.type, None)) is not None]
        if not slots:
            sinks += [
                node for target in call.targets if isinstance(target.type, Tuple) for node in self._values(target)
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
        opaque: list[Node] = [slot for slot in slots if isinstance(self.memory.content.get(slot), Opaque)]
        opaque += [node for target in call.targets if isinstance(target.type, Opaque) for node in self.nodes(target)]
        for arg, role in zip(call.args, roles, strict=True):
            if role == "item":  # what a reference leads to is part of what nobody looks into
                self._flow(self.nodes(arg), opaque)
        self._flow(slots, slots + [sink for sink in sinks if not isinstance(sink, tuple) or not _takes_out(call)])

    # What cannot be differentiated

    def without_forward(self, function: Function) -> list[Any]:
        """Calls of functions that declare a reverse derivative only."""
        found = []
        for statement in statements_in(function.body):
            if not isinstance(statement, Call):
                continue
            rule = rule_for(statement.callee)
            if isinstance(rule, General) and rule.jvp is None and any(map(self.active, statement.targets)):
                label = f"{_name(statement)} declares a reverse derivative only, and forward mode is asked for here"
                found.append(diagnostic("AD0204", statement.span, label, name=_name(statement)[1:-1]))
        return found

    def _setting_problems(self) -> list[Any]:
        label = "this function comes out of what varies"
        of_functions = [
            diagnostic("AD0204", call.span, label, helps=_INSTEAD)
            for call in self.conversions
            if self.varies(call.args[0])
        ]
        return of_functions + [
            _setting_problem(call, name, value)
            for call, name, value in self.settings
            if self.varies(value) and any(map(self.active, call.targets))
        ]

    def _opaque_problems(self) -> list[Any]:
        found = []
        calls = [
            (call, code, args)
            for call, code in self.opaque
            if any(map(self.varies, args := (*call.args, *(value for _, value in call.kwargs))))
        ]
        # What is done with the result of an opaque function is a consequence.
        first = [
            (call, code, args)
            for call, code, args in calls
            if any(self.varies(arg) and type_of_atom(arg) != Opaque() for arg in args[call.callee is display.call :])
        ]
        for call, code, args in first or calls:
            if any(map(self.active, call.targets)):
                name = _name(call)
                if call.callee is display.make_set:
                    found.append(diagnostic("AD0307", call.span, "what varies is put into a set here"))
                    continue
                if isinstance(call.callee, type) and issubclass(call.callee, BaseException):
                    label = "the exception carries what varies, and is looked into where it is handled"
                    found.append(diagnostic("AD0307", call.span, label, helps=_OUT_OF_EXCEPTIONS))
                    continue
                label = f"{name} has no derivative" if code == "AD0204" else f"the body of {name} is not visible here"
                if _is_of_function_values(call.callee):
                    label = "the pullback of a function that is known only at run time is not looked into"
                if is_defined(call.callee):
                    code, label = "AD0204", f"{name} has no derivative with these arguments"
                helps = _ways_out(call) if code == "AD0201" else None
                found.append(diagnostic(code, call.span, label, helps=helps))
            elif (
                code == "AD0201"
                and may_write_anything(call)
                and any(lends_memory(arg) and self.active(arg) for arg in args)
            ):
                label = f"{_name(call)} is handed memory that varies, and may write it"
                found.append(diagnostic("AD0303", call.span, label))
            elif call.callee is display.call and self.active(args[0]):
                label = f"{_name(call)} belongs to an object that is not looked into, and may store what it is handed"
                found.append(diagnostic("AD0307", call.span, label))
        return found

    def _text_problems(self, function: Function, wrt: Sequence[int]) -> list[Any]:
        """Numbers that are written as text and read again lose their derivative on the way."""
        readers = self._useful_calls(function, _reads_text)
        if not readers:
            return []
        varied = varying(function.body, [function.params[place] for place in wrt])
        return [_back_from_text(call) for call in readers if any(arg in varied for arg in call.args if is_text(arg))]

    def _problems_of_written_objects(self, function: Function, wrt: Sequence[int]) -> list[Any]:
        """The same, where the text was written to an object in between; of several places the first."""
        useful = self._useful_calls(function, lambda call: any(map(_may_be_text, call.args)))
        if not useful:
            return []
        told = read_back(function.body, varying(function.body, [function.params[place] for place in wrt]))
        return [_back_from_text(call) for call in useful if reads(call, told)][:1]

    def _useful_calls(self, function: Function, which: Callable[[Call], bool]) -> list[Call]:
        calls = (statement for statement in statements_in(function.body) if isinstance(statement, Call))
        return [call for call in calls if which(call) and self._is_useful(call)]

    def _is_useful(self, call: Call) -> bool:
        return any(node in self.useful for target in call.targets for node in self.nodes(target))

    def _lends(self, atom: Atom) -> bool:
        return has_slots(type_of_atom(atom)) and self.active(atom)

    def _memory_problems(self, opaque: bool) -> list[Any]:
        found = []
        for store in self.stores:
            if not self.varies(store.value):
                continue
            base = type_of_atom(store.base)
            if isinstance(store.base, Const):
                found.append(diagnostic("AD0302", store.span, "this memory is not an argument of the function"))
            elif _names_field(store.base, store.key):
                label = "what is stored here, into an array of records, varies"
                found.append(diagnostic("AD0307", store.span, label, helps=_OF_RECORDS))
            elif isinstance(base, Array):
                found.append(diagnostic("AD0408", store.span, f"the array has dtype {base.dtype}"))
            elif not (opaque and isinstance(base, Opaque) and self.active(store.base)):
                found.append(diagnostic("AD0307", store.span, "what is stored here varies"))
        found += [
            diagnostic("AD0302", load.span, "what is read here is written to later")
            for load in self.foreign
            if self.active(load.target) and not self.varies(load.base)
        ]
        found += [
            diagnostic("AD0303", call.span, f"{_name(call)} writes memory that varies")
            for call in self.writers
            if any(map(self._lends, call.args))
        ]
        found += [
            diagnostic("AD0305", loop.span, "what is drawn here varies")
            for loop, index in self.draws
            if self.active(index) and not opaque
        ]
        return found


def _setting_problem(call: Call, name: str, value: Atom) -> Any:
    """An argument varies that must not."""
    hint = f"'{value.hint}'" if isinstance(value, Var) else "this"
    if isinstance(call.callee, Applied):
        label = f"{hint} varies, and the parameter is marked NoDerivative"
        return diagnostic("AD0204", call.span, label, helps=_UNMARKED, name=_name(call)[1:-1])
    if _is_of_function_values(call.callee):
        is_given = call.callee.__name__ == "given"
        said = "and the parameter is marked NoDerivative" if is_given else "and is captured by the function value"
        helps = _UNMARKED if is_given else _INSTEAD
        return diagnostic("AD0204", call.span, f"{hint} varies, {said}", helps=helps)
    return diagnostic("AD0204", call.span, f"{name} varies", name=_name(call)[1:-1])


_UNMARKED = (
    "let the type of the function say that it varies: without NoDerivative there",
    "or hand it ad.stop_gradient(x), if it shall count as a constant",
)
_INSTEAD = ("make it of what does not vary, and hand over what varies as an argument",)


def _is_of_function_values(callee: Any) -> bool:
    return getattr(callee, "__module__", None) == "adjoint.runtime.functions"


def _takes_out(call: Call) -> bool:
    """Whether a structural call gives what lies in a container, rather than another container."""
    return getattr(call.callee, "__name__", "") in ("pop", "get", "setdefault", "getitem")


def _back_from_text(call: Call) -> Any:
    helps = ("use the number itself, from before it was made a text",)
    label = "a number that varies comes back from text here"
    return diagnostic("AD0204", call.span, label, helps=helps, name=_name(call)[1:-1])


def _may_be_text(atom: Atom) -> bool:
    return isinstance(atom, Var) and isinstance(atom.type, Opaque) and atom.type.cls in (None, str, bytes)


def _reads_text(call: Call) -> bool:
    """Whether a call may make numbers of text."""
    return any(map(is_text, call.args)) and roles_of(call, is_container) is None


def _reads_no_values(callee: Any) -> bool:
    """Whether a function looks at nothing but the shapes and types of its arguments."""
    return callee in (shadow, shadow_like, shadow_of_values, zeros_like) or effects(callee).reads == ()


def _is_of_objects(call: Call) -> bool:
    """Whether it is an operator of whole numbers and truth values, of objects that may give it any meaning."""
    return call.callee in _OF_WHOLE_NUMBERS and any(isinstance(target.type, Opaque) for target in call.targets)


def _names_field(base: Atom, key: Key | None) -> bool:
    """Whether a field of all records in an array is meant."""
    items = key.items if isinstance(key, Subscript) else ()
    return isinstance(type_of_atom(base), Array) and any(
        isinstance(item, Const) and isinstance(item.value, str) for item in items
    )


def _surely_varies(type_: Type) -> bool:
    match type_:
        case Scalar(kind=kind):
            return kind in ("float", "complex")
        case Array(dtype=dtype):
            return is_float_dtype(dtype)
        case Opaque(cls=cls):
            return cls is set
        case _:
            return (
                isinstance(type_, (List, Dict, Tuple, Instance)) and may_vary(type_) and not isinstance(type_, Number)
            )


_DRAWN = """
    poisson binomial negative_binomial multinomial geometric hypergeometric logseries zipf choice integers randint
"""
_PATHLESS = """
    dirichlet f noncentral_chisquare noncentral_f power triangular vonmises wald multivariate_normal standard_cauchy
"""
_UNKNOWN_PATH = "transform numbers that do not depend on it: rng.standard_normal(n), rng.uniform(size=n)"
_UNSHIFTED = "numbers drawn do not vary smoothly with it; if it shall count as a constant: ad.stop_gradient(x)"


def _ways_out(call: Call) -> tuple[str, ...] | None:
    """What to do about a call of what is not visible, by the name that the user gave it."""
    name = None if call.span is None else called_text(call.span)
    if name is None:
        return None
    callee = _called(call)
    constant = "or hand it ad.stop_gradient(x), if the result shall count as a constant"
    cls = callee.type.cls if isinstance(callee, Var) and isinstance(callee.type, Opaque) else type(callee)
    if getattr(cls, "__name__", None) == "_lru_cache_wrapper":
        return (f"call the function behind the cache: {name}.__wrapped__(...)",)
    last = name.rpartition(".")[2]
    if last != name and last in _DRAWN.split():
        return (_UNSHIFTED,)
    if last != name and last in _PATHLESS.split():
        return (_UNKNOWN_PATH, constant)
    if isinstance(callee, type):
        return ("write out what it computes, or declare the derivative of a function that calls it", constant)
    return (f"declare its derivative: @ad.derivative_of({name})", constant)


def _called(call: Call) -> Any:
    """What is called: the function, or the variable that holds it."""
    callee = call.callee
    if isinstance(callee, Applied) or (getattr(callee, "__name__", "") in ("call", "__call__") and call.args):
        return call.args[0].value if isinstance(call.args[0], Const) else call.args[0]
    return callee


def _name(call: Call) -> str:
    callee = _called(call)
    if isinstance(callee, Var):
        return f"'{callee.hint}'"
    return f"'{getattr(callee, '__name__', repr(callee))}'"


def _reached(starts: Iterable[Node], edges: dict[Node, set[Node]]) -> set[Node]:
    found = set(starts)
    work = list(found)
    while work:
        for node in edges.get(work.pop(), ()):
            if node not in found:
                found.add(node)
                work.append(node)
    return found


def _reversed(edges: dict[Node, set[Node]]) -> dict[Node, set[Node]]:
    back: dict[Node, set[Node]] = defaultdict(set)
    for source, sinks in edges.items():
        for sink in sinks:
            back[sink].add(source)
    return back
