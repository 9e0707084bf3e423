"""What all parts of the reverse transform share while they work on one function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.activity import Activity
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.reachable import GROWING, lends_memory, may_write_anything
from adjoint.analysis.messages import communicates
from adjoint.diagnostics.diagnostic import Diagnostic, diagnostic
from adjoint.diagnostics.spans import Span
from adjoint.differentiation.memory.integer_arrays import FloatChecks
from adjoint.differentiation.reverse.bindings import Binding, Region, Regions, find_regions
from adjoint.differentiation.reverse.cotangents import cotangent_var
from adjoint.differentiation.reverse.forward_edits import Edits
from adjoint.differentiation.reverse.memory.gathers import is_gathered
from adjoint.differentiation.reverse.region import Sweep
from adjoint.ir.builder import Builder
from adjoint.ir.walk import binders_of, blocks_of, leaves, operands, statements_in, targets_of, with_inner
from adjoint.records import dataclass, field
from adjoint.rules.typing import type_of_call
from adjoint.runtime.array_functions.arrays import zeros_like

CONTAINER_CHANGES = (list.append, list.insert, list.pop, dict.pop)
"""The calls that change a list or a dict and whose reverse is known."""


@dataclass(slots=True)
class Context:
    """The function in normal form and everything that is found out about it.

    Attributes
    ----------
    recipes
        Variables of the reverse region that are made where a region starts, and how: owned cotangents, shadows.
    copies
        Variables of the forward region that only exist if the reverse region reads them, and how they are made.
    anchors
        Beside which statement a variable is known that no statement of the original binds: before it, or after.
    forward_shadows
        Shadows that the forward region makes.
    asked
        Values that the reverse region asks for their shape.
    packs
        What recursive functions keep for their adjoints.
    """

    function: ir.Function
    activity: Activity
    regions: Regions
    model: Builder
    float_checks: FloatChecks
    edits: Edits = field(default_factory=Edits)
    sweeps: dict[Region, Sweep] = field(default_factory=dict)
    recipes: dict[ir.Var, tuple[Region, tuple[int, int], ir.Statement]] = field(default_factory=dict)
    copies: dict[ir.Var, ir.Statement] = field(default_factory=dict)
    anchors: dict[ir.Var, tuple[ir.Statement, bool]] = field(default_factory=dict)
    forward_shadows: set[ir.Var] = field(default_factory=set)
    problems: list[Diagnostic] = field(default_factory=list)
    undefined: dict[ir.Var, bool] = field(default_factory=dict)
    asked: set[ir.Var] = field(default_factory=set)
    packs: set[ir.Var] = field(default_factory=set)

    def active(self, atom: ir.Atom) -> bool:
        return self.activity.active(atom)

    def problem(
        self,
        code: str,
        span: Span | None,
        label: str,
        *,
        name: str = "the function",
        helps: Sequence[str] | None = None,
    ) -> None:
        self.problems.append(diagnostic(code, span, label, helps=helps, name=name))

    def open(self, region: Region) -> Sweep:
        """A new block of the reverse region, the mirror image of ``region``."""
        sweep = self.sweeps[region] = Sweep(self.model, region)
        return sweep

    def region(self, block: ir.Block) -> Region:
        return self.regions.of_block[id(block)]

    def zero(self, sweep: Builder, var: ir.Var) -> ir.Atom:
        """A zero cotangent for a value."""
        type_ = var.type
        if isinstance(type_, ir.Scalar) or self.may_be_undefined(var):
            return ir.Const(0.0)
        known = isinstance(type_, ir.Array) and ir.is_float_dtype(type_.dtype)
        return sweep.call(np.zeros_like if known else zeros_like, var, hint=f"{var.hint}_bar")

    def carried_cotangent(self, var: ir.Var) -> ir.Var:
        """A variable for a cotangent that iterations hand on: of an array without a value on some path it may be 0."""
        return cotangent_var(var, ir.Const(0.0)) if self.may_be_undefined(var) else cotangent_var(var)

    def may_be_undefined(self, var: ir.Var) -> bool:
        """Whether there is a path on which a variable has no value, and is not read."""
        if var not in self.undefined:
            self.undefined[var] = False
            binding = self.regions.bindings.get(var)
            self.undefined[var] = binding is not None and any(map(self._undefined, sources(var, binding)))
        return self.undefined[var]

    def _undefined(self, atom: ir.Atom) -> bool:
        return atom is ir.UNDEFINED or (isinstance(atom, ir.Var) and self.may_be_undefined(atom))


def sources(var: ir.Var, binding: Binding) -> Iterator[ir.Atom]:
    """What a variable may be one of."""
    owner = binding.region.owner
    if binding.statement is None and isinstance(owner, ir.Loop) and var in owner.params:
        place = owner.params.index(var)
        yield owner.inits[place]
        yield from (leaf.values[place] for leaf in leaves(owner.body) if isinstance(leaf, ir.Continue))
    match binding.statement:
        case ir.If(targets=targets) | ir.Guarded(targets=targets):
            place = targets.index(var)
            ends = [leaf for block in blocks_of(binding.statement) for leaf in leaves(block)]
            yield from (end.values[place] for end in ends if isinstance(end, ir.Yield) and end.values)
        case ir.Loop(targets=targets, inits=inits, body=body) if var in targets:
            place = targets.index(var)
            yield inits[place] if place < len(inits) else ir.UNDEFINED
            for leaf in leaves(body):
                if isinstance(leaf, ir.Exit) or (isinstance(leaf, ir.Continue) and place < len(inits)):
                    yield leaf.values[place]


def make_context(function: ir.Function, found: Activity) -> Context:
    """The context for a function in normal form."""

    def has_reverse(node: ir.Block | ir.Statement) -> bool:
        statements = statements_in(node) if isinstance(node, ir.Block) else with_inner(node)
        return any(reversed_(statement, found) for statement in statements)

    regions = find_regions(function, has_reverse, found.active)
    return Context(function, found, regions, Builder(type_of_call), FloatChecks(function))


def reversed_(statement: ir.Statement, found: Activity) -> bool:
    """Whether a statement by itself has a reverse."""
    return any(map(found.active, (*targets_of(statement), *binders_of(statement)))) or acts_on_memory(statement, found)


def acts_on_memory(statement: ir.Statement, found: Activity) -> bool:
    """Whether a statement changes memory, here or in another process, through which a derivative flows."""
    if id(statement) in found.idle and not (isinstance(statement, ir.Call) and statement.callee in CONTAINER_CHANGES):
        return False
    match statement:
        case ir.Store(base=base):
            return found.active(base)
        case ir.Call(callee=callee, args=args):
            if communicates(callee):
                return True
            if callee in CONTAINER_CHANGES or callee in GROWING:
                return found.active(args[0])
            found_effects = effects_of(statement)
            if isinstance(callee, (ir.Definition, ir.Derived)):
                return any(has_memory(arg) and found.active(arg) for arg in operands(statement))
            if may_write_anything(statement):
                return any(lends_memory(arg) and found.active(arg) for arg in operands(statement))
            return any(map(found.active, found_effects.written(args)))
    return False


def effects_inside(block: ir.Block, found: Activity) -> bool:
    """Whether anything in a block changes or makes memory through which a derivative flows."""
    return any(
        acts_on_memory(statement, found) or _makes_memory(statement, found) for statement in statements_in(block)
    )


def _makes_memory(statement: ir.Statement, found: Activity) -> bool:
    """Whether what a statement gives has its cotangent in a shadow, wherever it is used."""
    targets = statement.targets if isinstance(statement, ir.Call) else ()
    if isinstance(statement, ir.Load) and is_gathered(statement):
        targets = (statement.target,)
    return any(ir.is_handle(target.type) and found.active(target) for target in targets)


def has_memory(atom: ir.Atom) -> bool:
    """Whether an atom is a reference to memory that may be written."""
    return isinstance(atom, ir.Var) and ir.is_handle(atom.type) and not isinstance(atom.type, ir.Tuple)
