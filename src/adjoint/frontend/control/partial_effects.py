"""What a ``try`` body has changed when an exception leaves it.

While the body is lowered its store takes down what is written to it, and how much had been emitted by then that may
raise. What nothing that may raise comes after is as it was where a handler starts. Of the rest nobody knows when it
was written: an object must exist at run time, where what is written to it happens or does not; a variable is kept
in a list of one item, written where the variable is; and what cannot be kept so must not be read.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adjoint import ir
from adjoint.frontend.data.containers import subscript
from adjoint.frontend.data.item_writes import set_item
from adjoint.frontend.data.making import runtime_list
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.state.attempts import Kept
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.tracking import Tracked
from adjoint.frontend.interpreter.values import TORN, Cell, Ref, Site, Value, is_atom, is_torn
from adjoint.frontend.library import python_functions
from adjoint.records import dataclass, field
from adjoint.sources.scope import assigned_names


@dataclass(eq=False, slots=True)
class Body:
    """One ``try`` statement while it is lowered.

    Attributes
    ----------
    place
        Which statement it is, in which call.
    log
        By key of the store: how much had been emitted that may raise when it was first written.
    boxes
        The lists in which variables are kept.
    """

    node: ast.stmt
    place: Site
    boxes: dict[Cell, ir.Var]
    log: dict[Any, int] = field(default_factory=dict)
    start: int = 0

    def torn(self, lo: Lowerer) -> list[Any]:
        """What an exception may find written or not."""
        raised = lo.run_data.raising
        if raised == self.start:
            return []
        return [key for key, count in self.log.items() if count < raised]


def body_of(lo: Lowerer, node: ast.stmt) -> Body:
    """A body that is about to be lowered, in the open block."""
    place = lo.site(node)
    return Body(node, place, dict(_boxes(lo, node, lo.settings.boxed.get(place, {}))))


def _kept_cell(lo: Lowerer, frame: Frame, owner: int | None, name: str) -> Cell | None:
    if owner is None:
        return lo.cell_named(name)
    return lo.run_data.globals[owner, name] if owner >= 0 else frames_around(frame)[-owner - 1].cells.get(name)


@contextmanager
def watched(lo: Lowerer, body: Body) -> Iterator[None]:
    """Takes down what is written while a body is lowered."""
    run = lo.run_data
    body.start = run.raising
    loops = sum(region.kind == "loop" for region in lo.regions)

    def clock() -> int:
        in_loop = sum(region.kind == "loop" for region in lo.regions) > loops
        return -1 if in_loop else run.raising

    outer = run.boxes
    run.boxes = {**outer, **{cell: (*outer.get(cell, ()), box) for cell, box in body.boxes.items()}}
    lo.store = Tracked(lo.store, (body.log, clock))
    run.handled += 1
    try:
        yield
    finally:
        run.handled -= 1
        run.boxes = outer


def _boxes(lo: Lowerer, node: ast.stmt, kept: Collection[Kept]) -> Iterator[tuple[Cell, ir.Var]]:
    """The lists of one item in which variables are kept, made before the body: of what is not bound there is none."""
    assert lo.frame is not None
    for owner, name in sorted(kept, key=lambda each: each[1]):
        cell = _kept_cell(lo, lo.frame, owner, name)
        value = lo.store.get(cell, ir.UNDEFINED)
        if is_torn(value):
            keep_or_refuse(lo, value, node, f"what {name!r} holds here depends on where the exception was raised")
        if cell is not None and (value is ir.UNDEFINED or _can_be_kept(value)):
            yield cell, _box(lo, cell, name, value, node)


def _box(lo: Lowerer, cell: Cell, name: str, value: Value, node: ast.stmt) -> ir.Var:
    """The list in which a variable is kept: it is empty as long as the variable is not bound."""
    place = lo.site(node)
    flag = lo.run_data.is_bound.get(cell)
    known = ir.Const(value is not ir.UNDEFINED) if flag is None else lo.store[flag]
    held: list[ir.Atom] = [value] if known == ir.Const(True) and is_atom(value) else []  # type: ignore[list-item]
    box = runtime_list(lo, Site(("kept", name, *place.place)), held, node)
    box.hint, box.named = f"{name}_kept", True
    if held:
        return box
    lo.run_data.empty_boxes[box] = place
    if isinstance(known, ir.Var):
        raising = lo.run_data.raising
        lo.branch(known, functools.partial(_put_first, lo, box, value, node), lambda: ir.UNDEFINED, node)
        lo.run_data.raising = raising
    return box


def _put_first(lo: Lowerer, box: ir.Var, value: Value, node: ast.AST | None) -> Value:
    return python_functions.call(lo, python_functions.put_first, [box, value], node)


def _can_be_kept(value: Value) -> bool:
    if isinstance(value, ir.Const):
        return isinstance(value.value, (bool, int, float, complex))
    return isinstance(value, ir.Var) and isinstance(value.type, (ir.Scalar, ir.Array, ir.Number))


def keep(lo: Lowerer, cell: Cell, value: Value, node: ast.AST | None) -> None:
    """A variable is assigned that ``try`` statements around keep."""
    for box in lo.run_data.boxes.get(cell, ()):
        if not is_atom(value) or not _can_be_kept(value):
            label = f"what {cell.name!r} holds when an exception is raised later is not known"
            refused = lo.problem("AD0308", node, label)
            _keep_no_more(lo, cell, box)
            raise refused
        raising = lo.run_data.raising
        if box in lo.run_data.empty_boxes:
            _put_first(lo, box, value, node)
        else:
            set_item(lo, box, ir.Const(0), value, node)
        lo.run_data.raising = raising


def _keep_no_more(lo: Lowerer, cell: Cell, box: ir.Var) -> None:
    """Starts again without the box of a variable that is not bound before: nobody may read it where it is not known."""
    place = lo.run_data.empty_boxes.get(box)
    if place is None:
        return
    boxed = lo.settings.boxed[place]
    kept = next(each for each in boxed if each[1] == cell.name)
    del boxed[kept]
    lo.settings.unkept.add((place, cell.name))
    raise Restart(sites=(place,))


def store_of_handlers(lo: Lowerer, body: Body, base: dict[Any, Value], *, goes_on: bool) -> dict[Any, Value]:
    """The store in which handlers start."""
    assert lo.frame is not None
    found = base.copy()
    torn = body.torn(lo)
    objects = [key for key in torn if isinstance(key, Ref) and key in base]
    if objects and goes_on:
        sites = {site for ref in objects for site in original_sites((ref.site,))}
        if sites <= lo.settings.bare_sites:
            label = "an object is changed here, and then an exception may be raised that is handled"
            raise lo.problem("AD0308", body.node, label)
        raise NeedsRuntime(tuple(sites))
    own = {lo.frame.cells[name]: 0 for name in _assigned(body.node) if name in lo.frame.cells}
    for out, frame in enumerate(frames_around(lo.frame), 1):
        own.update(dict.fromkeys(frame.cells.values(), out))
    flags = set(lo.run_data.is_bound.values())
    for key in torn:
        if key in flags:
            found[key] = ir.Const(True)  # it is not known, and what is not bound raises where it is read
        elif isinstance(key, Cell) and (key in base or key in own):
            found[key] = mark = ir.Var(TORN, ir.OPAQUE)
            lo.run_data.torn[mark] = body.place, key, own.get(key, 0)
    return found


def _assigned(node: ast.stmt) -> Sequence[str]:
    return [name for statement in getattr(node, "body", []) for name in assigned_names(statement)]


def frames_around(frame: Frame) -> list[Frame]:
    """Who called, from the inside out: the body of a ``with`` statement runs inside the function of its context."""
    found: list[Frame] = []
    while frame.caller is not None:
        frame = frame.caller
        found.append(frame)
    return found


def restore(lo: Lowerer, body: Body) -> None:
    """Reads variables that are kept, where a handler starts."""
    for cell, box in body.boxes.items():
        if box not in lo.run_data.empty_boxes:
            _read_box(lo, body, cell, box)
            continue
        is_bound = lo.open.call(operator.truth, box)
        read, unbind = functools.partial(_read_box, lo, body, cell, box), functools.partial(_unbind, lo, cell)
        lo.branch(is_bound, read, unbind, body.node)
        flag = lo.run_data.is_bound.get(cell)
        if flag is not None:
            lo.store[flag] = is_bound


def _read_box(lo: Lowerer, body: Body, cell: Cell, box: ir.Var) -> Value:
    value = subscript(lo, box, ir.Const(0), body.node)
    lo.rename(value, cell.name)
    lo.store[cell] = value
    return ir.UNDEFINED


def _unbind(lo: Lowerer, cell: Cell) -> Value:
    lo.store[cell] = ir.UNDEFINED
    return ir.UNDEFINED


def keep_or_refuse(
    lo: Lowerer, value: Value, node: ast.AST | None, label: str, helps: tuple[str, ...] | None = None
) -> None:
    """A variable is needed that may have been written or not: starts again with the variable kept, if it can be."""
    sites = _keep(lo, value)
    if sites is None:
        raise lo.problem("AD0308", node, label, helps=helps)
    raise Restart(sites=sites)


def keep_all(lo: Lowerer, values: Sequence[Value]) -> None:
    """Starts again with all of these variables kept that can be, if there is one."""
    kept = [sites for value in values if (sites := _keep(lo, value)) is not None]
    if kept:
        raise Restart(sites=tuple(dict.fromkeys(site for sites in kept for site in sites)) if all(kept) else ())


def _keep(lo: Lowerer, value: Value) -> tuple[Site, ...] | None:
    """Notes that a variable is to be kept; gives the statements to lower again, none for all, or None if it cannot."""
    known = lo.run_data.torn.get(value) if isinstance(value, ir.Var) else None
    if known is None:
        return None
    place, cell, out = known
    owner = next((owner for (owner, _), other in lo.run_data.globals.items() if other is cell), -out or None)
    boxed = lo.settings.boxed.setdefault(place, {})
    if (owner, cell.name) in boxed or (place, cell.name) in lo.settings.unkept:
        return None
    boxed[owner, cell.name] = None
    is_global = owner is not None and owner >= 0
    return (place,) if is_global or cell in lo.run_data.is_bound else ()


def may_be_kept(lo: Lowerer, value: Value) -> bool:
    """Whether a variable that may have been written or not can be kept from the next attempt on, as far as is known."""
    known = lo.run_data.torn.get(value) if isinstance(value, ir.Var) else None
    return known is not None and (known[0], known[1].name) not in lo.settings.unkept
