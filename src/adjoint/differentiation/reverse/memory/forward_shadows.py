"""Which shadows the forward region makes, and moves beside the memory itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from adjoint import ir
from adjoint.analysis.memory.reachable import all_memory, own_memory
from adjoint.differentiation.reverse.calls.calling_convention import Given
from adjoint.differentiation.reverse.context import Context
from adjoint.differentiation.reverse.memory.gathers import is_gathered
from adjoint.differentiation.reverse.memory.moved_references import Places, replaced
from adjoint.ir.walk import blocks_of, leaves, operands

POPS = (list.pop, dict.pop, dict.get, dict.setdefault)
"""What takes references out of containers."""


def _pops(statement: ir.Statement | None) -> bool:
    return isinstance(statement, ir.Call) and statement.callee in POPS


def _recurs(statement: ir.Statement | None) -> bool:
    return isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Definition)


class Beside:
    """The references whose shadows the forward region needs.

    Parameters
    ----------
    handles
        The references through which a derivative flows.
    moved
        The parameters in whose memory a recursive function moves references.
    """

    def __init__(
        self,
        context: Context,
        handles: Sequence[ir.Var],
        statements: Sequence[ir.Statement],
        given: Given,
        moved: Places,
    ) -> None:
        self.context = context
        self.statements = statements
        self.moved = moved
        self.structural = replaced(statements, moved)
        self.found: set[ir.Var] = set()
        if not handles:
            return
        self.sources: dict[ir.Var, list[ir.Atom]] = {var: [] for var in handles}
        for var in handles:
            self.add_source(var)
        self.add_phi_sources()
        self.add([var for var in handles if self.is_moved(var)])
        self.add([*given.first, *given.returned])
        self.add([var for statement in statements for var in self.handed_first(statement)])
        while self.add(self.changed_in_size()):
            pass

    def add(self, wanted: Collection[ir.Atom]) -> bool:
        """Takes up references, and those from which their shadows come; whether there were any."""
        before, work = len(self.found), list(wanted)
        while work:
            var = work.pop()
            if isinstance(var, ir.Var) and var in self.sources and var not in self.found:
                self.found.add(var)
                work += self.sources[var]
        return len(self.found) > before

    def is_moved(self, var: ir.Var) -> bool:
        """Whether it is not told by where a reference was found which shadow it has at the end."""
        binding = self.context.regions.bindings[var]
        statement = binding.statement
        if any(storage in self.structural for storage in all_memory(var.type)):
            return True
        if statement is None:
            return binding.region.kind != "top"
        if isinstance(statement, ir.Load):
            return isinstance(statement.base, ir.Var) and own_memory(statement.base.type) in self.structural
        return not isinstance(statement, ir.Call) or _pops(statement) or _recurs(statement)

    def handed_first(self, statement: ir.Statement) -> list[ir.Atom]:
        """The arguments of a recursive function whose shadows it must have when it runs."""
        if not isinstance(statement, ir.Call) or not isinstance(statement.callee, ir.Definition):
            return []
        return [statement.args[place] for place in self.moved(statement.callee)]

    def changed_in_size(self) -> list[ir.Atom]:
        """References to memory that has its shadow beside it, through which it becomes longer or shorter."""
        memory = {storage for var in self.found for storage in all_memory(var.type)}
        return [base for statement in self.statements for base in _resized(statement, memory)]

    # Where shadows come from

    def add_source(self, var: ir.Var) -> None:
        statement = self.context.regions.bindings[var].statement
        if isinstance(statement, ir.Load):
            if not is_gathered(statement):
                self.sources[var].append(statement.base)
        elif isinstance(statement, ir.Call):
            self.sources[var] += operands(statement)

    def add_phi_sources(self) -> None:
        def flow(values: tuple[ir.Atom, ...], sinks: tuple[ir.Var, ...]) -> None:
            for value, sink in zip(values, sinks, strict=False):
                if sink in self.sources:
                    self.sources[sink].append(value)

        for statement in self.statements:
            match statement:
                case ir.If(targets=targets) | ir.Guarded(targets=targets):
                    for block in blocks_of(statement):
                        for leaf in leaves(block):
                            flow(leaf.values if isinstance(leaf, ir.Yield) else (), targets)
                case ir.Loop(params=params, inits=inits, body=body, targets=targets):
                    flow(inits, params)
                    flow(params, targets)
                    for leaf in leaves(body):
                        if isinstance(leaf, ir.Continue):
                            flow(leaf.values, params)
                        elif isinstance(leaf, ir.Exit):
                            flow(leaf.values, targets)
                case ir.Store(base=base, value=value):
                    flow((value,), (base,) if isinstance(base, ir.Var) else ())
                case ir.Call(callee=list.append | list.insert, args=args):
                    flow(args[-1:], (args[0],) if isinstance(args[0], ir.Var) else ())


def _resized(statement: ir.Statement, memory: set[ir.Storage]) -> list[ir.Atom]:
    """Through which references a statement may make memory longer or shorter."""
    match statement:
        case (
            ir.Call(callee=list.append | list.insert | list.pop | dict.pop, args=(ir.Var() as base, *_))
            | ir.Store(base=ir.Var(type=ir.Dict()) as base)
        ):
            return [base] if own_memory(base.type) in memory else []
        case ir.Call(callee=ir.Definition(), args=args):
            return [arg for arg in args if isinstance(arg, ir.Var) and not memory.isdisjoint(all_memory(arg.type))]
        case _:
            return []
