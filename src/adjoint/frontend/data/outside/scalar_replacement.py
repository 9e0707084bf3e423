"""Scalar replacement of lists and dicts from outside whose items come to have several structures: None, then an array.

A container at run time holds items of one structure, and one that others see has no place for a number beside an item
that says which it has. So each item is a variable of its own, as attributes are, and what is put there is put into the
user's container, too. An index that is known at run time only chooses among the items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.diagnostics import Diagnostic
from adjoint.frontend.entry.captured import Guard, Path, counts_items, length_guard, part_at
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import Record, Ref, Site, Union, Value, is_atom

MAX_DISPATCH = 16
"""Among how many items an index chooses that is known at run time only."""


def keep_apart(lo: Lowerer, container: ir.List | ir.Dict, sites: Sequence[Site], refused: Diagnostic) -> None:
    """Starts again with containers whose items are known one by one, if that can be what ``refused`` asks for."""
    if not sites or not all(site.place[:1] == ("input",) and site not in lo.settings.apart for site in sites):
        return
    home = container.storage.find()
    values = [value for var, value in lo.run_data.loose if _storage_of(var) is home]
    if len(values) != len(sites) or not all(map(_can_be_apart, values, sites)):
        return
    for site in sites:
        lo.settings.apart[site] = refused
        lo.settings.runtime_sites.discard(site)
        lo.settings.site_types.pop(site, None)
    raise Restart


def _storage_of(var: ir.Var) -> ir.Storage:
    assert isinstance(var.type, (ir.List, ir.Dict))
    return var.type.storage.find()


def _can_be_apart(value: Any, site: Site) -> bool:
    """Whether a container is short, and how many items it has is asked at each call."""
    is_reached = not any(str(part).startswith("__") for part in site.place)
    return 0 < len(value) <= MAX_DISPATCH and (isinstance(value, dict) or is_reached or counts_items(value))


def lengths_apart(lo: Lowerer, value: Any, path: Path, identity: Path) -> list[Guard]:
    """What has to be asked at each call of such lists that lie in what was captured, or are that."""
    places = [site.place[1:] for site in lo.settings.apart]
    inner = [place[len(identity) :] for place in places if place[: len(identity)] == identity]
    found = [keys for keys in inner if not any(str(key).startswith("__") for key in keys)]
    return [length_guard(path, keys, len(part_at(value, keys))) for keys in found if type(part_at(value, keys)) is list]


def is_apart(lo: Lowerer, ref: Ref) -> bool:
    """Whether the items of a container from outside stay known one by one, and it never exists at run time."""
    if ref.site in lo.settings.apart:
        return True
    record = lo.store[ref]
    assert isinstance(record, Record)
    return ref.origin is not None and 0 < len(record.items) <= MAX_DISPATCH and _are_of_several_kinds(lo, record.items)


def _are_of_several_kinds(lo: Lowerer, items: Sequence[Value]) -> bool:
    """Whether items have no type in common, and some carry a derivative, which a list of anything would lose."""
    if not all(is_atom(item) or (isinstance(item, Union) and all(map(is_atom, item.options))) for item in items):
        return False
    found = [option for item in items for option in (item.options if isinstance(item, Union) else (item,))]
    types: list[ir.Type] = [type_of(option) for option in found]
    joined: ir.Type | None = types[0]
    for type_ in types[1:]:
        joined = None if joined is None else lo.types.join(joined, type_)
    return joined is None and any(map(ir.carries_derivative, types))


def refused_apart(lo: Lowerer, sites: set[Site]) -> Diagnostic | None:
    """What is refused if some of the containers that would have to exist at run time must be known item by item."""
    return next((lo.settings.apart[site] for site in sites if site in lo.settings.apart), None)
