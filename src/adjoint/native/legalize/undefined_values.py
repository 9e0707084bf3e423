"""Lists and arrays on paths on which they are never read: to a compiler they are empty, not None."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.differentiation.reverse.forward_edits import filler
from adjoint.ir.rebuild import map_blocks, with_values
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.records import replace
from adjoint.runtime.lists import any_layout, no_items

_End = type[ir.Yield] | type[ir.Exit]


def with_empty_stand_ins(function: ir.Function) -> ir.Function:
    """The function with empty lists and arrays, made once, for those that are never read."""
    return _Filling(of_python=False).function(function)


def with_all_bound(function: ir.Function) -> ir.Function:
    """The function with something for all that is never read: Python hands out nothing that is not bound."""
    return _Filling(of_python=True).function(function)


class _Filling(Rewriting):
    def __init__(self, of_python: bool) -> None:
        super().__init__()
        self.of_python = of_python
        self.made: list[ir.Statement] = []
        self.known: dict[str, ir.Atom] = {}

    def function(self, function: ir.Function) -> ir.Function:
        outer = self.made, self.known
        self.made, self.known = [], {}
        result = super().function(function)
        body = ir.Block((*self.made, *result.body.statements), result.body.terminator)
        self.made, self.known = outer
        return ir.Function(result.name, result.params, body, result.doc)

    def compound(self, statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.If(targets=targets) | ir.Guarded(targets=targets):
                return map_blocks(statement, lambda block: self._filled(block, targets, ir.Yield))
            case ir.Loop(body=body, params=params, inits=inits, targets=targets):
                begun = self._begun(params, inits)
                return replace(statement, inits=begun, body=self._filled(body, targets, ir.Exit))
            case _:
                return statement

    def _filled(self, block: ir.Block, targets: Sequence[ir.Var], kind: _End) -> ir.Block:
        end = block.terminator
        if isinstance(end, ir.Branch):
            then, orelse = self._filled(end.then, targets, kind), self._filled(end.orelse, targets, kind)
            return ir.Block(block.statements, ir.Branch(end.cond, then, orelse, end.span))
        if not isinstance(end, kind):
            return block
        return ir.Block(block.statements, with_values(end, self._values(targets, end.values)))

    def _values(self, targets: Sequence[ir.Var], values: Sequence[ir.Atom]) -> tuple[ir.Atom, ...]:
        pairs = zip(targets, values, strict=False)
        filled = [self._something(target.type, value) if _is_unread(value) else value for target, value in pairs]
        return (*filled, *values[len(filled) :])

    def _begun(self, params: Sequence[ir.Var], inits: Sequence[ir.Atom]) -> tuple[ir.Atom, ...]:
        """What a loop begins with: what is undefined is not even kept, None may be."""
        if self.of_python:
            return self._values(params, inits)
        pairs = zip(params, inits, strict=True)
        return tuple([self._stand_in(param.type) or init if init == ir.Const(None) else init for param, init in pairs])

    def _something(self, type_: ir.Type, value: ir.Atom) -> ir.Atom:
        return self._stand_in(type_) or (filler(type_) if self.of_python and value is ir.UNDEFINED else value)

    def _stand_in(self, type_: ir.Type) -> ir.Atom | None:
        """An empty list or array of a type; None for other types."""
        if not _is_memory(type_):
            return None
        key = repr(type_)
        if key not in self.known:
            found = sample_of(type_)
            if found is None:
                return None
            self.known[key], statements = found
            self.made += statements
        return self.known[key]


def _is_memory(type_: ir.Type) -> bool:
    return isinstance(type_, (ir.List, ir.Array))


def _is_unread(value: ir.Atom) -> bool:
    return isinstance(value, ir.Undefined) or value == ir.Const(None)


# Values that show a compiler the type of what a list will hold


_ZEROS = {"float": 0.0, "int": 0, "bool": False, "complex": 0j}


def sample_of(type_: ir.Type) -> tuple[ir.Atom, list[ir.Statement]] | None:
    """A value of a type, and what makes it; None where the type is not known well enough."""
    match type_:
        case ir.Scalar(kind=kind, dtype=None):
            return ir.Const(_ZEROS[kind]), []
        case ir.Scalar(dtype=dtype) if dtype is not None:
            return ir.Const(dtype.type(0)), []
        case ir.Array(dtype=dtype, dims=dims) if dtype is not None and dims:
            array, sample = ir.Var("sample", type_), ir.Var("sample", type_)
            made = ir.Call((array,), np.zeros, (ir.Const((0,) * len(dims)), ir.Const(dtype.type)))
            return sample, [made, ir.Call((sample,), any_layout, (array,))]
        case ir.List(element=element) if element is not None:
            inner = sample_of(element)
            if inner is None:
                return None
            item, statements = inner
            found = ir.Var("sample", type_)
            return found, [*statements, ir.Call((found,), no_items, (item,))]
        case _:
            return None
