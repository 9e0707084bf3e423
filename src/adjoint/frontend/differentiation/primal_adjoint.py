"""The two functions of which a reverse derivative is made, as functions of their own: the primal and the adjoint.

The primal returns checkpoints and the value; the adjoint takes both and a seed. The checkpoints are an object with a
field for each residual. A number that is the value is not kept a second time.
"""

from __future__ import annotations

import dataclasses
import keyword
import linecache
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics import Span
from adjoint.differentiation.finish import finish
from adjoint.differentiation.reverse import Split
from adjoint.frontend.data.lists_of_objects import Stacked
from adjoint.frontend.differentiation import picked_arguments, result_seeds
from adjoint.frontend.differentiation.components import component
from adjoint.frontend.differentiation.inner_functions import lower_inner, name_of
from adjoint.frontend.differentiation.inside.defensive_copies import on_defensive_copies
from adjoint.frontend.differentiation.picked_arguments import Picked
from adjoint.frontend.differentiation.tangent_values import layouts
from adjoint.frontend.differentiation.wrt import parameter_names, with_receiver
from adjoint.frontend.entry.entry import as_var, entered, finish_entry, leaf_paths, primal_half
from adjoint.frontend.entry.inputs import entered_root
from adjoint.frontend.entry.restarts import Entry, attempt
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.attempts import Settings
from adjoint.frontend.interpreter.values import Value
from adjoint.ir.rebuild import inline, substitute
from adjoint.ir.walk import free_vars, statements_in, targets_of
from adjoint.records import dataclass, replace
from adjoint.runtime import display
from adjoint.runtime.objects import Checkpoints, make_object
from adjoint.target import PYTHON, Target


def lower_artifacts(
    function: Any,
    options: Mapping[str, Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    target: Target = PYTHON,
) -> Entry:
    """The entry of the primal of a derivative with these options, and its adjoint."""
    wrt = options.get("wrt", 0)
    chosen = 0 if options.get("has_aux") else options.get("result")

    def build(lo: Lowerer) -> Entry:
        fn = entered_root(lo, function)
        params, values, named = entered(lo, parameter_names(lo, fn, None), args, kwargs)
        fn, chosen_of, values = with_receiver(lo, fn, wrt, values, named, None)
        picked = picked_arguments.pick(lo, fn, chosen_of, values, named, None)
        layout = layouts(lo, picked.values, lasting=True)
        inner = lower_inner(lo, fn, values, named, picked.places, None, picked.ways)
        if not options.get("keep_writes", True):
            inner = on_defensive_copies(lo, inner, None)
        stacked = Stacked(lo, inner)
        inner = stacked.inner
        part = component(lo, fn, inner.shape, chosen, None)
        result_seeds.refuse_several_kinds(lo, fn, part.shape, None)
        end = part.start + sum(1 for _ in joins.leaf_types(part.shape, ""))
        outputs = tuple(i for i in range(part.start, end) if ir.carries_derivative(inner.results[i]))
        halves, value, atoms = primal_half(lo, stacked, outputs)
        residuals = Residuals.of(halves, atoms[len(inner.results) :], value)
        names = [name for _, name in joins.leaf_types(inner.shape, "value")]
        paths = list(leaf_paths(inner.shape, ()))
        hints = ["seed" if paths[i] == part.keys else f"{names[i]}_bar" for i in outputs]
        block, seeds = _backward(lo, halves, stacked, picked, layout, residuals, hints)
        kept, adjoint = _parted(lo, name_of(fn), block, residuals, seeds)
        both = lo.open.call(display.make_tuple, kept, value)
        entry = finish_entry(lo, f"{name_of(fn)}_primal", params, both)
        seeds_at = tuple(paths[i][len(part.keys) :] for i in outputs)
        return replace(entry, adjoint=adjoint, seeds=seeds_at, component=part.keys, checkpoints=_class_of(kept))

    return attempt(build, Settings(target=target))


Kept = tuple[str, Any, str]
"""The name of a field, its type, and the text of what it holds in the program."""


def checkpoints_class(name: str, fields: Iterable[Kept]) -> type[Checkpoints]:
    """A new dataclass with these fields.

    >>> cls = checkpoints_class("FCheckpoints", [("t", float, "math.exp(x)")])
    >>> cls(2.0)
    FCheckpoints(t=2.0)
    >>> dataclasses.fields(cls)[0].metadata["text"]
    'math.exp(x)'
    """
    given = [(field, type_, dataclasses.field(metadata={"text": text})) for field, type_, text in fields]
    made = dataclasses.make_dataclass(name, given, bases=(Checkpoints,))
    made.__module__ = Checkpoints.__module__
    made.__doc__ = f"What the primal keeps for the adjoint: {', '.join(field for field, _, _ in given) or 'nothing'}."
    return made


def _class_of(kept: ir.Var) -> type[Checkpoints]:
    assert isinstance(kept.type, ir.Instance)
    assert issubclass(kept.type.cls, Checkpoints)
    return kept.type.cls


@dataclass(eq=False, slots=True)
class Residuals:
    """What the primal keeps.

    Attributes
    ----------
    atoms
        In the primal.
    vars
        The same in the adjoint; constants stay what they are.
    texts
        What each is in the program, where only the compiler has named it.
    value
        The value in the adjoint.
    """

    atoms: list[ir.Atom]
    vars: list[ir.Atom]
    texts: dict[ir.Atom, str]
    value: ir.Var

    @staticmethod
    def of(halves: Split, atoms: Sequence[ir.Atom], value: ir.Atom) -> Residuals:
        value_type = value.type if isinstance(value, ir.Var) else ir.Opaque(None)
        taken_value = ir.Var("value", value_type, True)
        taken: list[ir.Atom] = []
        for atom, param in zip(atoms, halves.adjoint.params, strict=False):
            if isinstance(atom, ir.Const):
                taken.append(atom)
            elif atom is value and isinstance(value_type, ir.Scalar):
                taken.append(taken_value)
            else:
                taken.append(ir.Var(param.hint, param.type, param.named))
        end = halves.primal.body.terminator
        assert isinstance(end, ir.Return)
        spans = {target: s.span for s in statements_in(halves.primal.body) for target in targets_of(s)}
        handed = end.values[len(end.values) - len(atoms) :]
        texts = {
            var: _text(spans.get(atom))
            for var, atom in zip(taken, handed, strict=True)
            if isinstance(atom, ir.Var) and not atom.named
        }
        return Residuals(list(atoms), taken, texts, taken_value)

    def add(self, var: ir.Var) -> ir.Var:
        """One more: a variable of the primal that the adjoint reads besides."""
        own = ir.Var(var.hint, var.type, var.named)
        self.atoms.append(var)
        self.vars.append(own)
        return own


def _text(span: Span | None) -> str:
    """The text of an expression in the program, if it stands on one line."""
    if span is None or span.line != span.end_line:
        return ""
    return linecache.getline(span.file, span.line)[span.column : span.end_column]


def _backward(
    lo: Lowerer,
    halves: Split,
    stacked: Stacked,
    picked: Picked,
    layout: Mapping[ir.Atom, ir.Var],
    residuals: Residuals,
    hints: Sequence[str],
) -> tuple[ir.Block, tuple[ir.Var, ...]]:
    """The block that computes the gradient from the residuals, and the seeds that it takes."""
    outer_block, outer_store = lo.open, lo.store
    root = lo.fork(outer_store)
    params = halves.adjoint.params[len(residuals.vars) :]
    seeds = tuple(ir.Var(hint, param.type, True) for hint, param in zip(hints, params, strict=True))
    cotangents = inline(lo.open, halves.adjoint, (*residuals.vars, *seeds))
    found = iter(stacked.cotangents([as_var(lo, atom) for atom in cotangents], layout))
    gradient: Value = picked.gradient(lo, found, layout, None)
    atom = materialize(lo, gradient, None, observer=True)
    lo.open.terminator = ir.Return((atom,))
    block = root.seal()
    lo.block, lo.store = outer_block, outer_store
    return block, seeds


def _parted(
    lo: Lowerer, name: str, block: ir.Block, residuals: Residuals, seeds: tuple[ir.Var, ...]
) -> tuple[ir.Var, ir.Function]:
    """The checkpoints in the primal, and the adjoint that takes them."""
    own = {*residuals.vars, residuals.value, *seeds}
    block = substitute(block, {var: residuals.add(var) for var in free_vars(block) if var not in own})
    if not lo.settings.target.machine:
        params = (*(var for var in residuals.vars if isinstance(var, ir.Var)), *seeds)
        block = finish(ir.Function(name, tuple(dict.fromkeys((*params, residuals.value))), block)).body
    read = free_vars(block)
    pairs = [
        (atom, var)
        for atom, var in zip(residuals.atoms, residuals.vars, strict=True)
        if isinstance(var, ir.Var) and var in read and var is not residuals.value
    ]
    names = _field_names([var for _, var in pairs])
    named = zip(names, pairs, strict=True)
    fields = [(field, _class(var.type), residuals.texts.get(var, "")) for field, (_, var) in named]
    cls = checkpoints_class(f"{_capitalized(name)}Checkpoints", fields)
    types: dict[str, ir.Type] = {field: var.type for field, (_, var) in zip(names, pairs, strict=True)}
    kept = ir.Var("checkpoints", ir.Instance(cls, types), True)
    lo.emit(ir.Call((kept,), make_object, (ir.Const(cls), ir.Const(tuple(names)), *(atom for atom, _ in pairs))))
    taken = ir.Var("checkpoints", ir.Instance(cls, types), True)
    loads = [ir.Load(var, taken, ir.Attribute(field)) for field, (_, var) in zip(names, pairs, strict=True)]
    body = ir.Block((*loads, *block.statements), block.terminator)
    return kept, ir.Function(f"{name}_adjoint", (taken, residuals.value, *seeds), body)


def _field_names(kept: Sequence[ir.Var]) -> list[str]:
    """A name for each of them: that of the variable, as ``tape_report`` names it."""
    names: dict[ir.Var, str] = {}
    for var in sorted(kept, key=lambda var: not var.named):  # the names of the program come first
        wanted = var.hint
        while wanted.endswith("_kept"):
            wanted = wanted.removesuffix("_kept")
        name, count = wanted, 1
        while name in names.values() or keyword.iskeyword(name) or not name.isidentifier():
            count += 1
            name = f"{wanted}_{count}"
        names[var] = name
    return [names[var] for var in kept]


def _capitalized(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _class(type_: ir.Type | None) -> Any:
    """The class of values of a type, as an annotation."""
    match type_:
        case ir.Scalar(kind=kind, dtype=dtype):
            return {"bool": bool, "int": int, "float": float, "complex": complex}[kind] if dtype is None else dtype.type
        case ir.Array():
            return np.ndarray
        case ir.List(element=element):
            return list if element is None else list[_class(element)]  # type: ignore[misc]
        case ir.Dict():
            return dict
        case ir.Tuple():
            return tuple
        case ir.Instance(cls=cls):
            return cls
        case ir.Opaque(cls=cls) if cls is not None:
            return cls
        case _:
            return Any
