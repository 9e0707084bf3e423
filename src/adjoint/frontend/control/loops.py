"""Loops: what they carry is found by running the body until nothing new turns up."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.control.growing_tuples import make_growing, settling
from adjoint.frontend.control.joins_of_exits import behind, settle
from adjoint.frontend.control.liveness import live_at_head
from adjoint.frontend.data.uniqueness import starts_alone
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.forms import loose
from adjoint.frontend.interpreter.state.blocks import Exiting, Open
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.tracking import set_unseen
from adjoint.frontend.interpreter.values import ENDLESS, Cell, Record, Value, is_torn
from adjoint.records import dataclass
from adjoint.sources.scope import assigned_names

MAX_PASSES = 40
MAX_NESTING = 6
"""How much deeper than before the loop what is carried may lie in each other: deeper, it grows without end."""


@dataclass(eq=False, slots=True)
class _Pass:
    """One run of the body on an assumption of what is carried."""

    params: tuple[ir.Var, ...]
    root: Open
    exits: list[Exiting]
    shapes: dict[Any, joins.Shape]
    alone: dict[Cell, ir.Var]
    """Parameters that are taken to be the only ones that have what may be an array, by variable."""


def run_loop(
    lo: Lowerer,
    node: ast.AST,
    over: ir.Range | ir.Items | None,
    index: ir.Var | None,
    body: Callable[[], None],
    orelse: Sequence[ast.stmt] = (),
    assigned: Sequence[ast.AST] = (),
) -> None:
    """Emits a loop whose iteration is ``body()``, then runs ``orelse`` where the loop was exhausted.

    The exits that ``body`` leaves by are ``continue`` (also where it falls through), ``break``, ``return``, and
    ``exhausted`` for a condition at the head of a ``while`` loop.
    """
    if _has_no_steps(over):
        lo.run(orelse)
        return
    make_growing(lo, node, assigned)
    base = lo.store.copy()
    origin = lo.open
    carried = _first_assumption(lo, node, base, assigned)
    memo = (lo.site(node).place, len(lo.regions))
    if memo in lo.settings.loop_shapes:
        for key, shape in lo.settings.loop_shapes[memo].items():
            if key in carried:
                carried[key] = lo.join_shapes([carried[key], shape], key)
    with settling(lo, node, assigned):
        found = _settle(lo, node, origin, base, carried, body)
    if over is None and all(leaf.action != "continue" for leaf in found.exits):
        _run_once(lo, origin, base, body, orelse)
        return
    lo.settings.loop_shapes[memo] = {key: shape for key, shape in found.shapes.items() if isinstance(key, Cell)}
    _emit(lo, node, origin, base, over, index, found.shapes, found, orelse)


def _has_no_steps(over: ir.Range | ir.Items | None) -> bool:
    """Whether a loop is over a range that is known to be empty."""
    match over:
        case ir.Range(ir.Const(value=int() as start), ir.Const(value=int() as stop), ir.Const(value=int() as step)):
            return step != 0 and not range(start, stop, step)
    return False


def _run_once(
    lo: Lowerer, origin: Open, base: dict[Any, Value], body: Callable[[], None], orelse: Sequence[ast.stmt]
) -> None:
    """A loop of which no iteration comes to its end."""
    lo.block, lo.store = origin, base.copy()
    with lo.region("loop") as region:
        lo.attempt(lambda: _run(body))
    assert lo.block is None
    settle(lo, behind(lo, region.exits, orelse), origin, base, "done")


def go_on_if(lo: Lowerer, goes_on: ir.Atom, turn: Callable[[], None], node: ast.AST | None = None) -> None:
    """Runs an iteration where a loop goes on; else the loop is exhausted."""

    def turned() -> Value:
        turn()
        return ir.UNDEFINED

    def ended() -> Value:
        lo.leave("exhausted")
        return ir.UNDEFINED

    lo.branch(goes_on, turned, ended, node)


def _settle(
    lo: Lowerer,
    node: ast.AST,
    origin: Open,
    base: dict[Any, Value],
    carried: dict[Any, joins.Shape],
    body: Callable[[], None],
) -> _Pass:
    """Runs the body until nothing new turns up.

    Where it reads what only an iteration before may have bound, as in ``if i > 0: total += last``, it first is looked
    at without what follows there.
    """
    deepest = MAX_NESTING + max(map(_depth_of, carried.values()), default=0)
    inlined = lo.run_data.inlined
    unbound = {key for key, shape in carried.items() if isinstance(key, Cell) and shape == joins.Nothing()}
    for _ in range(MAX_PASSES):
        lo.run_data.inlined = inlined.copy()
        with lo.awaiting(unbound) as read:
            found = _run_body(lo, node, origin, base, carried, body)
        try:
            assumption = _widen(lo, base, carried, found)
        except joins.TooManyOptions:
            break
        if assumption == carried:
            if not read:
                return found
            unbound = set()  # what an iteration reads and none before it has bound is refused
            continue
        if max(map(_depth_of, assumption.values())) > deepest:
            break
        carried = assumption
    lo.unroll_innermost()
    raise lo.problem("AD0402", node, "what a variable holds gets another structure in each iteration")


def _first_assumption(
    lo: Lowerer, node: ast.AST, base: dict[Any, Value], assigned: Sequence[ast.AST]
) -> dict[Any, joins.Shape]:
    assert lo.frame is not None
    carried: dict[Any, joins.Shape] = {}
    for part in assigned:
        for name in assigned_names(part):
            cell = lo.frame.cells.get(name)
            if cell is not None and not is_torn(base.get(cell)) and live_at_head(lo, node, name):
                carried[cell] = loose(joins.shape_of(base.get(cell, ir.UNDEFINED), base))
    return carried


def _run_body(
    lo: Lowerer,
    node: ast.AST,
    origin: Open,
    base: dict[Any, Value],
    carried: dict[Any, joins.Shape],
    body: Callable[[], None],
) -> _Pass:
    root = lo.fork(base)
    params: list[ir.Var] = []
    assumed: dict[Cell, ir.Var] = {}
    for key, shape in carried.items():
        hint, named = (key.name, True) if isinstance(key, Cell) else ("part", False)
        atoms = [ir.Var(name, type_, named) for type_, name in joins.leaf_types(shape, hint)]
        params.extend(atoms)
        may_be_array = isinstance(key, Cell) and len(atoms) == 1 and isinstance(atoms[0].type, ir.Number)
        if may_be_array and _may_be_alone(lo, node, key, base, origin):
            assumed[key] = atoms[0]
            lo.run_data.alone[atoms[0]] = root
        set_unseen(lo.store, key, joins.build(shape, iter(atoms), lo.store))
    with lo.region("loop") as region:
        lo.attempt(lambda: _run(body))
        lo.leave("continue")
    return _Pass(tuple(params), root, region.exits, carried, assumed)


def _may_be_alone(lo: Lowerer, node: ast.AST, cell: Cell, base: dict[Any, Value], origin: Open) -> bool:
    return (lo.site(node), cell.name) not in lo.settings.not_alone and starts_alone(lo, base, origin, cell)


def _check_alone(lo: Lowerer, node: ast.AST, found: _Pass, targets: dict[Cell, ir.Var]) -> None:
    """Starts again where an iteration was lowered as if it alone had an array, and one before it may hand it on.

    The variables of which that is not so have it alone behind the loop, too.
    """
    run = lo.run_data
    before, own = run.relied_on, set(found.alone.values())
    shared, needs = {}, {}
    for cell, param in found.alone.items():
        run.relied_on = set(before)
        shared[param] = [leaf.action for leaf in found.exits if not starts_alone(lo, leaf.store, leaf.block, cell)]
        needs[param] = run.relied_on - before
    run.relied_on = before
    known = set(_hold_together({param for param in own if "continue" not in shared[param]}, own, needs))
    for cell, param in found.alone.items():
        if param in before and param not in known:
            site = lo.site(node)
            lo.settings.not_alone.add((site, cell.name))
            raise Restart(sites=(site,))
    for cell, param in found.alone.items():
        if param in before or (param in known and needs[param] <= own):  # nobody may ever ask for the others
            run.relied_on |= needs[param]
            if param in known and not shared[param]:
                run.alone[targets[cell]] = None


def _hold_together(known: set[ir.Var], own: set[ir.Var], needs: Mapping[ir.Var, set[ir.Var]]) -> set[ir.Var]:
    """Those that are known by what is known."""
    while lost := {param for param in known if not needs[param] & own <= known}:
        known = known - lost
    return known


def _run(body: Callable[[], None]) -> Value:
    body()
    return ir.UNDEFINED


def _widen(
    lo: Lowerer, base: dict[Any, Value], carried: dict[Any, joins.Shape], found: _Pass
) -> dict[Any, joins.Shape]:
    """What must be carried, seen from one run of the body."""
    assumption = dict(carried)
    for leaf in found.exits:
        if leaf.action != "continue":
            continue
        for key, value in leaf.store.items():
            if key in assumption:
                shape = _detached(joins.shape_of(value, leaf.store), base)
                assumption[key] = lo.join_shapes([assumption[key], shape], key)
            elif key in base and base[key] is not value and not is_torn(base[key]):
                before = _shape_before(base[key], value, base)
                after = _detached(joins.shape_of(value, leaf.store), base)
                assumption[key] = lo.join_shapes([before, after], key)
    return assumption


def _emit(
    lo: Lowerer,
    node: ast.AST,
    origin: Open,
    base: dict[Any, Value],
    over: ir.Range | ir.Items | None,
    index: ir.Var | None,
    carried: dict[Any, joins.Shape],
    found: _Pass,
    orelse: Sequence[ast.stmt],
) -> None:
    inits = _flatten_carried(lo, carried, base, origin)
    exhausted = Exiting(origin, base.copy(), "exhausted")
    leaving = [leaf for leaf in found.exits if leaf.action != "continue"]
    for leaf in found.exits:
        if leaf.action == "continue":
            leaf.block.terminator = ir.Continue(_flatten_carried(lo, carried, leaf.store, leaf.block))
    # After the loop the carried variables are the first targets; then come those that only exits hand out.
    targets = [ir.Var(param.hint, param.type, param.named) for param in found.params]
    places = iter(targets)
    own: dict[Cell, ir.Var] = {}
    for key, shape in carried.items():
        atoms = [next(places) for _ in joins.leaf_types(shape, "")]
        exhausted.store[key] = joins.build(shape, iter(atoms), exhausted.store)
        if key in found.alone:
            own[key] = atoms[0]
    _check_alone(lo, node, found, own)
    lo.block, lo.store = origin, exhausted.store
    kinds = [] if over is None or _has_no_end(over) else ["exhausted"]
    kinds += [kind for kind in dict.fromkeys(leaf.action for leaf in leaving) if kind not in kinds]
    columns, stores, extras = _exit_values(lo, carried, leaving, base, exhausted, targets, kinds)
    for leaf, column in zip(leaving, columns, strict=True):
        leaf.block.terminator = ir.Exit(0 if leaf.action == "exhausted" else kinds.index(leaf.action) + 1, column)
    same_way = len(kinds) < 2 or (set(kinds) <= {"exhausted", "break"} and not orelse and stores["same"])
    exit_kind = None if same_way else ir.Var("exit_kind", ir.INT)
    if node in lo.run_data.checkpointed:
        from adjoint.frontend.surgery.checkpointed_loops import mark  # lazy

        mark(lo, node)
    lo.emit(
        ir.Loop(
            over,
            index,
            found.params,
            inits,
            found.root.seal(),
            tuple(targets) + tuple(extras),
            exit_kind,
            lo.span(node),
        )
    )
    if not kinds:
        lo.stop(ir.Raise(ir.Const(RecursionError)))  # which is never reached: only an exception leaves the loop
        return
    _go_on(lo, node, kinds, stores, exit_kind, orelse)


def _has_no_end(over: ir.Range | ir.Items) -> bool:
    """Whether a loop counts on and on."""
    return isinstance(over, ir.Range) and over.stop == ENDLESS


def _shape_before(before: Value, after: Value, store: dict[Any, Value]) -> joins.Shape:
    """The shape of what an iteration changes, as it is before the loop: known numbers are what all iterations leave."""
    shape = joins.shape_of(before, store)
    if not isinstance(shape, joins.RecordShape) or not isinstance(before, Record) or not isinstance(after, Record):
        return loose(shape)
    olds = zip(shape.items, before.parts, strict=True)
    parts = tuple([part if _is_left(old, after.get(key)) else loose(part) for part, (key, old) in olds])
    return joins.RecordShape(shape.cls, shape.keys, parts)


def _is_left(old: Value, new: Value | None) -> bool:
    """Whether an iteration leaves a part of an object what it was."""
    if isinstance(old, ir.Const) and isinstance(new, ir.Const) and isinstance(old.value, (bool, int, str)):
        return type(old.value) is type(new.value) and old.value == new.value
    return old is new


def _flatten_carried(
    lo: Lowerer, carried: dict[Any, joins.Shape], store: dict[Any, Value], block: Open
) -> tuple[ir.Atom, ...]:
    atoms: list[ir.Atom] = []
    for key, shape in carried.items():
        atoms.extend(joins.flatten(store.get(key, ir.UNDEFINED), shape, store, block, lo.types))
    return tuple(atoms)


def _exit_values(
    lo: Lowerer,
    carried: dict[Any, joins.Shape],
    leaving: list[Exiting],
    base: dict[Any, Value],
    exhausted: Exiting,
    targets: list[ir.Var],
    kinds: list[str],
) -> tuple[list[tuple[ir.Atom, ...]], dict[str, Any], list[ir.Var]]:
    """Values for every exit, and the store that each kind of exit goes on with.

    A carried variable whose shape at the exits is that of the loop takes the loop's target; everything else
    that an exit changed is handed out on its own.
    """
    columns: list[list[ir.Atom]] = [[] for _ in leaving]
    extras: list[ir.Var] = []
    odd: dict[str, list[Any]] = {}
    for key, shape in carried.items():
        width = sum(1 for _ in joins.leaf_types(shape, ""))
        for leaf, column in zip(leaving, columns, strict=True):
            value = leaf.store.get(key, ir.UNDEFINED)
            try:
                fits = joins.join(shape, joins.shape_of(value, leaf.store), lo.types) == shape
            except (joins.TooManyOptions, joins.NeedsRuntime):
                fits = False
            if fits:
                column.extend(joins.flatten(value, shape, leaf.store, leaf.block, lo.types))
            else:
                column.extend([ir.UNDEFINED] * width)
                odd.setdefault(leaf.action, []).append(key)
    stores: dict[str, Any] = {"exhausted": (exhausted.store, ir.UNDEFINED), "same": not odd}
    for action in kinds:
        leaves = [leaf for leaf in leaving if leaf.action == action]
        if not leaves:
            continue
        store = exhausted.store.copy()
        keys = list(dict.fromkeys(odd.get(action, [])))
        for leaf in leaves:
            keys += [
                k
                for k, v in leaf.store.items()
                if k not in carried and k not in keys and base.get(k) is not v and (k in base or isinstance(k, Cell))
            ]
        new_targets: list[ir.Var] = []
        local: list[list[ir.Atom]] = [[] for _ in leaves]
        value = lo._join_values([leaf.value for leaf in leaves], leaves, "result", False, local, new_targets, store)
        value = _handed_out(lo, value, leaves, local, new_targets, store, exhausted.store)
        for key in keys:
            hint, named = (key.name, True) if isinstance(key, Cell) else ("part", False)
            values = [leaf.store.get(key, ir.UNDEFINED) for leaf in leaves]
            joined = lo._join_values(values, leaves, hint, named, local, new_targets, store, key)
            store[key] = _handed_out(lo, joined, leaves, local, new_targets, store, exhausted.store, hint, named)
            stores["same"] = stores["same"] and action == "exhausted"
        before = len(extras)
        extras.extend(new_targets)
        for leaf, column in zip(leaving, columns, strict=True):
            if leaf.action == action:
                column.extend([ir.UNDEFINED] * (before - (len(column) - len(targets))))
                column.extend(local[leaves.index(leaf)])
        stores[action] = (store, value)
    total = len(targets) + len(extras)
    return [tuple(column) + (ir.UNDEFINED,) * (total - len(column)) for column in columns], stores, extras


def _handed_out(
    lo: Lowerer,
    value: Value,
    leaves: list[Exiting],
    local: list[list[ir.Atom]],
    new_targets: list[ir.Var],
    store: dict[Any, Value],
    outside: dict[Any, Value],
    hint: str = "result",
    named: bool = False,
) -> Value:
    """``value`` in terms of targets of the loop: what is computed inside must be handed out by name.

    Only the objects of ``outside`` are known behind the loop.
    """
    inside = {**leaves[0].store, **store}
    shape = _detached(joins.shape_of(value, inside), outside)
    atoms: list[ir.Atom] = []
    known = set(new_targets)
    for atom, (type_, name) in zip(
        joins.flatten(value, shape, inside, leaves[0].block, lo.types), joins.leaf_types(shape, hint), strict=True
    ):
        if isinstance(atom, ir.Var) and atom not in known:
            target = ir.Var(name, type_, named)
            new_targets.append(target)
            for column in local:
                column.append(atom)
            atoms.append(target)
        else:
            atoms.append(atom)
    return joins.build(shape, iter(atoms), store)


def _detached(shape: joins.Shape, store: dict[Any, Value]) -> joins.Shape:
    """The shape with objects that were made in the loop, of which ``store`` knows nothing, as new objects."""

    def all_of(parts: tuple[joins.Shape, ...]) -> tuple[joins.Shape, ...]:
        return tuple(_detached(part, store) for part in parts)

    match shape:
        case joins.RefShape(ref=ref, record=record, sites=sites):
            if ref is not None and ref in store:
                return shape
            inner = _detached(record, store)
            assert isinstance(inner, joins.RecordShape)
            return joins.RefShape(None, inner, sites)
        case joins.RecordShape(cls=cls, keys=keys, items=items):
            return joins.RecordShape(cls, keys, all_of(items))
        case joins.TupleShape(cls=cls, items=items):
            return joins.TupleShape(cls, all_of(items))
        case joins.ComposedShape(template=template, items=items):
            return joins.ComposedShape(template, all_of(items))
        case joins.UnionShape(options=options):
            return joins.UnionShape(all_of(options))
        case _:
            return shape


def _go_on(
    lo: Lowerer,
    node: ast.AST,
    kinds: list[str],
    stores: dict[str, Any],
    exit_kind: ir.Var | None,
    orelse: Sequence[ast.stmt],
) -> None:
    """What happens behind the loop, by the way it was left."""

    def resume(kind: str) -> Value:
        store, value = stores[kind]
        lo.store = store.copy()
        if kind not in ("exhausted", "break"):
            lo.leave(kind, value)
        elif kind == "exhausted" and orelse:
            lo.run(orelse)
        return ir.UNDEFINED

    def choose(remaining: list[str]) -> Value:
        kind, *rest = remaining
        if not rest or exit_kind is None:
            return resume(kind)
        code = 0 if kind == "exhausted" else kinds.index(kind) + 1
        cond = lo.open.call(operator.eq, exit_kind, ir.Const(code))
        return lo.branch(cond, lambda: resume(kind), lambda: choose(rest), node)

    # The exits that leave for good first, so that the rest of the function is not nested deeper than needed.
    choose(sorted(kinds, key=lambda kind: {"exhausted": 1, "break": 2}.get(kind, 0)))


def _depth_of(shape: joins.Shape) -> int:
    """How deep structures lie in each other."""
    match shape:
        case joins.TupleShape(items=items) | joins.RecordShape(items=items) | joins.ComposedShape(items=items):
            return 1 + max(map(_depth_of, items), default=0)
        case joins.UnionShape(options=items):
            return 1 + max(map(_depth_of, items), default=0)
        case joins.RefShape(record=record):
            return _depth_of(record)
        case _:
            return 0
