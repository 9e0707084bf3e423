"""Numbers of a model that may be meant as hyperparameters: whoever trains them is told, once for each class."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from adjoint.diagnostics import diagnostic
from adjoint.diagnostics.errors import warn
from adjoint.keypaths.steps import Field
from adjoint.parameters.layout import Layout
from adjoint.types.classes.annotations import field_types
from adjoint.types.structure import fields_of

_told: WeakKeyDictionary[type, set[str]] = WeakKeyDictionary()


def warn_of_unmarked(layout: Layout, places: Iterable[int]) -> None:
    """Warns of numbers at these places that are fields with a default value in plain dataclasses.

    So it does of whole numbers beside numbers at these places, in fields that are not declared.
    """
    trained = {layout.parameters[place].steps for place in places if not layout.parameters[place].is_array}
    for steps, node in layout.nodes if trained else ():
        for name in _defaulted(node):
            told = _told.setdefault(type(node), set())
            if (*steps, Field(name)) not in trained or name in told:
                continue
            told.add(name)
            default = f"default={getattr(node, name)!r}"
            helps = (
                f"if it shall stay as it is: {name}: float = ad.no_derivative({default})",
                f"if it shall be trained: {name}: float = ad.parameter({default})",
            )
            warn(diagnostic("AD0506", None, helps=helps, name=f"{type(node).__qualname__}.{name}"))
        for name, value in _whole(node):
            told = _told.setdefault(type(node), set())
            if name not in told and any(one[:-1] == steps for one in trained):
                told.add(name)
                helps = f"if it shall be trained: {float(value)!r}", f"if not, declare it in the class: {name}: int"
                warn(diagnostic("AD0509", None, helps=helps, name=f"{type(node).__qualname__}.{name}"))


def _defaulted(x: Any) -> Iterator[str]:
    """The fields of an object with a default value, where nothing says whether they are parameters."""
    if not dataclasses.is_dataclass(x) or hasattr(type(x), "differentiable_variables"):
        return
    for field in dataclasses.fields(x):
        if field.default is not dataclasses.MISSING and "parameter" not in field.metadata:
            yield field.name


def _whole(x: Any) -> Iterator[tuple[str, int]]:
    """The whole numbers in fields of an object, where its class does not say that they are."""
    if isinstance(x, (list, dict, tuple)) or hasattr(type(x), "differentiable_variables"):
        return
    declared = field_types(type(x))
    yield from ((name, value) for name, value in fields_of(x).items() if type(value) is int and name not in declared)
