"""Calls of functions whose derivative a user declared.

What is declared runs in place of the function: it gives the value, and a linear map. The value becomes one whose
derivative is that map (:class:`adjoint.ir.nodes.Declared`), which is lowered beside it; what the map reads is kept like
any other residual. Where the declared function calls the original, that is called as it stands; if a derivative is to
flow through that call, for second derivatives, the declaration is followed there once more.

Where both a pullback and a differential are declared, one gives the value: which, the mode says that was asked for.
The other is lowered with all that it computes, and written out only where its mode is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.frontend.calls.levels import levels_now
from adjoint.frontend.declared.arguments import bound, refs_in
from adjoint.frontend.declared.forms import Forms, Map
from adjoint.frontend.declared.originals import call_original
from adjoint.frontend.declared.writes.arguments import settle_outside
from adjoint.frontend.differentiation.fitting import Fitting, described, every_leaf, is_sequence, or_zero, vector_of
from adjoint.frontend.differentiation.inner_functions import as_result, lower_inner
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, Record, TupleValue, Value
from adjoint.frontend.iterators.effect_watches import taken_down
from adjoint.ir.walk import operands
from adjoint.records import dataclass
from adjoint.rules.declarations import Declaration
from adjoint.runtime.cotangents import as_number


def call_declared(
    lo: Lowerer,
    declaration: Declaration,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
    receiver: Value | None = None,
) -> Value:
    """The value of a call whose derivative is declared."""
    levels = levels_now()
    if lo.run_data.declared.count(declaration) >= levels.allowed:
        levels.were_reached = True
        return call_original(lo, declaration, args, kwargs, node)
    given = bound(lo, declaration, args, kwargs, receiver, node)

    def again() -> Value:
        if given.receiver is None:
            return lo.call(ir.Const(declaration.fn), given.positional, given.named, node)
        return call_declared(lo, declaration, given.positional, given.named, node, given.receiver)

    lo.run_data.declared.append(declaration)
    try:
        return Following(lo, Forms(lo, declaration, given, node, again)).value()
    finally:
        lo.run_data.declared.pop()


class Following:
    """One call of a declared derivative."""

    def __init__(self, lo: Lowerer, forms: Forms) -> None:
        self.lo = lo
        self.forms = forms
        self.declaration = forms.declaration
        self.given = forms.given
        self.node = forms.node
        self.called_at = lo.span(forms.node)
        self.lent: set[ir.Storage] = set()  # what memory the arguments have

    def value(self) -> Value:
        """Runs what is declared, and gives its value the derivative that it says."""
        lo, args = self.lo, self.given.all
        excluded = self.given.excluded(lo, self.declaration)
        varies = any(isinstance(leaf, ir.Var) for arg in args for leaf in every_leaf(lo, arg))
        self.lent.update(storage for arg in args for leaf in every_leaf(lo, arg) for storage in _memory(leaf))
        excluded += settle_outside(lo, self.declaration, self.given, self.node)
        objects = {ref: lo.store[ref] for arg in args for ref in refs_in(lo, arg)}
        statements: list[ir.Statement] = []
        levels = levels_now()
        first = "differential" if levels.forward and self.declaration.differential is not None else "reverse"
        if self.declaration.reverse is None:
            first = "differential"
        with taken_down(lo, statements):
            value, map_ = self.forms.run(first)
        if lo.block is None:
            return ir.UNDEFINED
        if any(lo.store.get(ref) is not record for ref, record in objects.items()) or _write(statements, self.lent):
            label = f"the declared derivative of {self.declaration.name!r} writes what it is given"
            raise lo.problem("AD0303", self.node, label, helps=("let it write a copy",))
        if not excluded and not varies:
            return value
        return self.attached(value, map_, excluded)

    def attached(self, value: Value, map_: Map, excluded: list[tuple[str, ir.Atom]]) -> Value:
        """The value with its derivative."""
        lo = self.lo
        value = self.with_kinds(value)
        self.refuse_own_arguments(value, map_)
        shape = as_result(joins.shape_of(value, lo.store))
        if joins.has_options(shape):
            raise map_.refusal("it returns values of several kinds")
        values = tuple(joins.flatten(value, shape, lo.store, lo.open, lo.types))
        targets = self.targets(values, shape)
        seeds = [place for place, target in enumerate(targets) if ir.carries_derivative(target.type)]
        result = joins.build(shape, iter(targets), lo.store)
        leaves = [leaf for arg in self.varying() for leaf in every_leaf(lo, arg)]
        if not seeds or not (leaves or excluded):
            return value
        pattern = joins.build(shape, iter(values), lo.store)
        maps = {map_.kind: map_, **self.forms.others(map_.kind)} if leaves else {}
        found = {kind: self.lowered(each, pattern, [targets[place] for place in seeds]) for kind, each in maps.items()}
        pullback, differential = found.get("pullback"), found.get("differential")
        kept = leaves
        if pullback is not None and differential is None:
            kept = [leaf for leaf, cotangent in zip(leaves, pullback.gives, strict=True) if cotangent != NONE]
        callee = ir.Declared(
            self.declaration.name,
            len(kept) + len(excluded),
            tuple(seeds),
            None if pullback is None else pullback.function,
            None if differential is None else differential.function,
            tuple(name for name, _ in excluded),
            self.declaration.transpose is not None,
        )
        residuals = [atom for each in (pullback, differential) if each is not None for atom in each.residuals]
        atoms = (*kept, *[atom for _, atom in excluded], *values, *residuals)
        lo.at(self.node)
        lo.emit(ir.Call(targets, callee, atoms, (), self.called_at))
        return result

    def targets(self, values: tuple[ir.Atom, ...], shape: joins.Shape) -> tuple[ir.Var, ...]:
        """The results: of memory that nobody else has, they have copies if it is written."""
        lo = self.lo
        inputs = {storage for item in lo.run_data.inputs for storage in _memory(item.var)}
        lent = self.lent | inputs
        return tuple(
            ir.Var(hint, ir.fresh(type_) if lent.isdisjoint(_memory(atom)) else type_)
            for atom, (type_, hint) in zip(values, joins.leaf_types(shape, "y"), strict=True)
        )

    def varying(self) -> list[Value]:
        """The arguments of this call for which a derivative is declared."""
        found = [self.given.at(place) for place in self.given.places(self.declaration)]
        return [value for value in found if value is not None]

    def lowered(self, map_: Map, value: Value, results: list[ir.Var]) -> _Lowered:
        """A pullback or a differential as a function of the IR."""
        lo, gives = self.lo, list[ir.Atom]()
        args = self.varying()
        if map_.kind == "pullback":
            taken = [_vector(lo, value, "ct", iter(results))]
        else:
            taken = [_vector(lo, arg, "dot", every_leaf(lo, arg)) for arg in args]

        def flat(returned: Value) -> Value:
            if map_.kind == "pullback":
                gives.extend(self.cotangents(map_, returned))
                like = [leaf for arg in args for leaf in every_leaf(lo, arg)]
            else:
                gives.extend(Fitting(lo, self.node, map_.misfit, map_.where, "the value").leaves(value, returned))
                like = list(every_leaf(lo, value))
            if not self.forms.has_both and map_.kind == "pullback":
                return TupleValue(tuple([atom for atom in gives if atom != NONE]))
            return TupleValue(tuple([or_zero(lo, leaf, atom) for leaf, atom in zip(like, gives, strict=True)]))

        places = range(len(taken))
        inner = lower_inner(
            lo, map_.function, taken, {}, places, self.node, returned=flat, what=map_.what, call=map_.apply
        )
        return _Lowered(inner.function, inner.atoms[inner.count :], gives)

    def with_kinds(self, value: Value) -> Value:
        """The value, a number or an array where it is not known what it is."""
        lo = self.lo
        match value:
            case ir.Var(type=type_) if type_ == ir.OPAQUE or value in lo.run_data.originals:
                if isinstance(type_, (ir.Scalar, ir.Array)):
                    return value
                target = ir.Var("y", ir.Number())
                lo.emit(ir.Call((target,), as_number, (value, ir.Const(self.declaration.name)), (), self.called_at))
                return target
            case TupleValue(items=items, cls=cls):
                return TupleValue(tuple(map(self.with_kinds, items)), cls)
            case _:
                return value

    def refuse_own_arguments(self, value: Value, map_: Map) -> None:
        """Refuses objects among the values that the caller has."""
        lo = self.lo
        mine = {ref for arg in self.given.all for ref in refs_in(lo, arg)}
        if any(ref in mine for ref in refs_in(lo, value)):
            raise map_.refusal("it returns an object that it is given", helps=("return a new one",))

    def cotangents(self, map_: Map, returned: Value) -> Iterator[ir.Atom]:
        """One cotangent for each number and array in the arguments, of what the pullback returned."""
        lo, places = self.lo, self.given.places(self.declaration)
        for place, cotangent in zip(places, self.each(map_, returned), strict=True):
            arg = self.given.at(place)
            if arg is not None:
                whose = f"argument {place}" if isinstance(place, int) else f"the argument {place!r}"
                yield from Fitting(lo, self.node, map_.misfit, map_.where, whose).leaves(arg, cotangent)

    def each(self, map_: Map, returned: Value) -> list[Value]:
        """One cotangent for each argument."""
        lo, args = self.lo, [self.given.at(place) for place in self.given.places(self.declaration)]
        total = len(args)
        count = self.given.given if self.declaration.wrt is None else total
        record = lo.store.get(returned)
        items = list(returned.items) if isinstance(returned, TupleValue) else None
        if isinstance(record, Record) and record.cls is list:
            items = list(record.items)
        if 1 in (total, count) and (items is None or len(items) not in (total, count) or _is_alone(lo, args[0])):
            items = [returned]
        if items is None or len(items) not in (total, count):
            found = described(lo, returned) if items is None else f"{len(items)} cotangents"
            wanted = "one cotangent" if total == 1 else f"a tuple of {total} cotangents, one for each argument"
            raise map_.misfit(f"this returns {found}, not {wanted}")
        return items + [NONE] * (total - len(items))


@dataclass(frozen=True, slots=True)
class _Lowered:
    """A linear map: what it reads besides what it maps, and what it gives, with None for what is left out."""

    function: ir.Function
    residuals: tuple[ir.Atom, ...]
    gives: list[ir.Atom]


def _vector(lo: Lowerer, value: Value, hint: str, leaves: Iterator[ir.Atom]) -> Value:
    """Variables for a tangent or a cotangent of a value whose leaves are of the kinds of these."""
    return vector_of(lo, value, iter([ir.Var(hint, ir.fresh(joins.type_of(leaf)), True) for leaf in leaves]))


def _is_alone(lo: Lowerer, value: Value | None) -> bool:
    """Whether a cotangent of the only argument is a sequence itself."""
    return value is not None and is_sequence(lo, value)


def _write(statements: Iterable[ir.Statement], mine: set[ir.Storage]) -> bool:
    """Whether statements write memory of arguments."""
    for statement in statements:
        if isinstance(statement, ir.Store):
            bases: tuple[ir.Atom, ...] = (statement.base,)
        elif isinstance(statement, ir.Call) and (found := effects_of(statement)).known:
            values = operands(statement)
            bases = tuple(found.written(values))
        else:
            continue
        if any(not mine.isdisjoint(_memory(base)) for base in bases):
            return True
    return False


def _memory(atom: ir.Atom) -> set[ir.Storage]:
    return ir.storages(atom.type) if isinstance(atom, ir.Var) else set()
