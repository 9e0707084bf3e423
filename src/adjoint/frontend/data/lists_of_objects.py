"""Arguments of compiled derivatives that are lists of objects: arrays of their fields are differentiated instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.frontend.differentiation.inner_functions import Inner
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.records import replace
from adjoint.types.marks import no_derivative_fields

if TYPE_CHECKING:
    from adjoint.native.array_programs.structure_of_arrays import Field


class Stacked:
    """A function to differentiate, with arrays in place of lists of objects where that can be.

    Parameters
    ----------
    lo
        The lowerer, in the block in which the function is to be called.
    inner
        The function and its arguments.

    Attributes
    ----------
    inner
        What to differentiate.
    """

    def __init__(self, lo: Lowerer, inner: Inner) -> None:
        self.lo = lo
        self.given = inner
        self.fields: dict[ir.Var, tuple[Field, ...]] = {}
        self.inner = self._stacked(inner) if lo.settings.target.machine and not lo.regions else inner

    def _stacked(self, inner: Inner) -> Inner:
        from adjoint.native.array_programs.structure_of_arrays import (  # lazy
            fields_as_arrays,
            holds_numbers,
            with_arrays,
        )

        function = inner.function
        for param in inner.function.params:
            if not isinstance(param.type, ir.List) or not holds_numbers(param.type.element):
                continue
            fields = fields_as_arrays(function, param)
            if fields:
                self.fields[param] = fields
                function = with_arrays(function, param, fields)
            else:
                self._look_again(param.type)
        return self._with_params(function) if self.fields else inner

    def _look_again(self, type_: ir.List) -> None:
        """Has the objects of a list taken one by one, if they are few enough and nobody needs them at run time."""
        settings = self.lo.settings
        for storage, site in self.lo.run_data.sites_of_storage:
            known = site in settings.runtime_sites or site in settings.single_sites
            if storage.find() is type_.storage.find() and not known:
                settings.single_sites.add(site)
                raise Restart

    def _with_params(self, function: ir.Function) -> Inner:
        """The parameters in order, those that vary first, and what is passed for them."""
        atoms: dict[ir.Var, ir.Atom] = {}
        active: list[ir.Var] = []
        for place, (param, atom) in enumerate(zip(self.given.function.params, self.given.atoms, strict=True)):
            varies = place < self.given.count
            if param not in self.fields:
                atoms[param] = atom
                active += [param] if varies else []
                continue
            for field in self.fields[param]:
                atoms[field.var] = self._taken(atom, field)
                active += [field.var] if varies and field in self._varying(param) else []
        params = (*active, *(param for param in function.params if param not in active))
        ordered = ir.Function(function.name, params, function.body, function.doc)
        passed = tuple(atoms[param] for param in params)
        return Inner(ordered, passed, len(active), self.given.shape, self.given.results)

    def _taken(self, objects: ir.Atom, field: Field) -> ir.Var:
        from adjoint.runtime.stacks import field_of_all  # lazy

        taken = ir.Var(field.var.hint, field.var.type, True)
        args = (objects, ir.Const(field.name), ir.Const(field.dtype), ir.Const(field.written))
        self.lo.emit(ir.Call((taken,), field_of_all, args))
        return taken

    def _varying(self, param: ir.Var) -> list[Field]:
        assert isinstance(param.type, ir.List)
        assert isinstance(param.type.element, ir.Instance)
        excluded = no_derivative_fields(param.type.element.cls)
        return [field for field in self.fields[param] if field.varies and field.name not in excluded]

    def put_back(self) -> None:
        """Writes what the function wrote to the objects, after it was called."""
        if not self.fields:
            return
        from adjoint.runtime.stacks import put_field_of_all  # lazy

        taken = dict(zip(self.inner.function.params, self.inner.atoms, strict=True))
        for param, atom in zip(self.given.function.params, self.given.atoms, strict=True):
            for field in self.fields.get(param, ()):
                if field.written:
                    args = (atom, ir.Const(field.name), taken[field.var], ir.Const(field.kind))
                    self.lo.emit(ir.Call((), put_field_of_all, args))

    def cotangents(self, found: Sequence[ir.Var], layout: Mapping[ir.Atom, ir.Var]) -> list[ir.Var]:
        """The cotangents of the function's own parameters, from those of what was differentiated.

        Lists are laid out like what ``layout`` holds for them, or else like themselves.
        """
        of = dict(zip(self.inner.function.params, found, strict=False))
        return [
            self._shadow(param, layout.get(atom, atom), of) if param in self.fields else of[param]
            for param, atom in zip(self.given.function.params[: self.given.count], self.given.atoms, strict=False)
        ]

    def directions(self, places: Sequence[int], tangents: Sequence[ir.Atom]) -> tuple[list[int], list[ir.Atom]]:
        """What varies, and its tangents, from the parameters of the function that vary and theirs."""
        params = list(self.inner.function.params)
        chosen: list[int] = []
        found: list[ir.Atom] = []
        for place, tangent in zip(places, tangents, strict=True):
            param = self.given.function.params[place]
            if param not in self.fields:
                chosen.append(params.index(param))
                found.append(tangent)
                continue
            for field in self._varying(param):
                chosen.append(params.index(field.var))
                found.append(self._taken(tangent, replace(field, written=False)))
        return chosen, found

    def _shadow(self, param: ir.Var, objects: ir.Atom, cotangents: dict[ir.Var, ir.Var]) -> ir.Var:
        from adjoint.runtime.stacks import shadow_of_all  # lazy

        varying = self._varying(param)
        names = tuple(field.name for field in varying)
        made = ir.Var(f"{param.hint}_bar", ir.fresh(param.type), True)
        args = (objects, ir.Const(names), *(cotangents[field.var] for field in varying))
        self.lo.emit(ir.Call((made,), shadow_of_all, args))
        return made
