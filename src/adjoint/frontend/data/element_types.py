"""What lists, dicts and fields hold: the types of their elements, told by stores, and guessed where none does yet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.opaque.library_classes import look_where_it_comes_from
from adjoint.frontend.data.contained_functions import held_function, held_made, is_known_function
from adjoint.frontend.data.outside.lifted import lift, way_to
from adjoint.frontend.data.outside.scalar_replacement import keep_apart
from adjoint.frontend.data.read_only_views import stop_at_read_only
from adjoint.frontend.data.tagged_items import merged, tagged
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites, type_of
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.signals import OtherItems, Problem
from adjoint.frontend.interpreter.values import NONE, Closure, Method, Partial, Record, Ref, Site, TupleValue, Value
from adjoint.frontend.objects.classes import refuse_made_again
from adjoint.ir.join import are_of_constants
from adjoint.records import replace
from adjoint.runtime import display
from adjoint.runtime.arithmetic.checks import EXACT, check_exact
from adjoint.types.structure import is_namedtuple_class

MAX_DEPTH = 8


def element_of(container: ir.Var) -> ir.Type | None:
    held = container.type
    return held.element if isinstance(held, ir.List) else held.value if isinstance(held, ir.Dict) else None


def as_element(lo: Lowerer, atom: ir.Atom, element: ir.Type | None) -> ir.Atom:
    """What a container holds for an item: a whole number among floats as a float, so that its slot has a derivative."""
    if isinstance(element, ir.Reference):
        return ir.Const(ir.NOWHERE) if atom == NONE else atom
    if not isinstance(element, ir.Scalar) or element.kind != "float":
        return as_tagged(lo, atom, element)
    type_ = type_of(atom)
    if not isinstance(type_, ir.Scalar) or type_.kind not in ("bool", "int"):
        return atom
    lo.run_data.promotes_items = True
    if isinstance(atom, ir.Const):
        lo.run_data.asks_for_kinds |= abs(atom.value) > EXACT
        return ir.Const(float(atom.value))
    if type_.kind == "int":
        lo.open.effect(check_exact, atom)
    return lo.open.call(float, atom)


def as_tagged(lo: Lowerer, atom: ir.Atom, type_: ir.Type | None) -> ir.Atom:
    """What memory holds for an item, where a number beside it says which of several structures it has."""
    if type_ is None or ir.are_tagged_alike(type_of(atom), type_):
        return atom
    if ir.options_of(type_) is not None:
        return tagged(lo, atom, type_, as_element)
    if isinstance(type_, ir.Tuple):
        return _tuple_as_element(lo, atom, type_)
    _tag_within(lo, type_of(atom), type_)
    return atom


def _tuple_as_element(lo: Lowerer, atom: ir.Atom, type_: ir.Tuple) -> ir.Atom:
    """A tuple as a container holds it: made anew, of its parts as they are held there."""
    given = type_of(atom)
    assert isinstance(given, ir.Tuple)
    parts = []
    for place, (mine, part) in enumerate(zip(given.items, type_.items, strict=True)):
        item: ir.Atom = NONE if mine == ir.OF_NONE else ir.Var("t", mine)
        if isinstance(atom, ir.Const):
            item = ir.Const(atom.value[place])
        elif isinstance(item, ir.Var):
            lo.emit(ir.Load(item, atom, ir.Subscript((ir.Const(place),)), lo.open.span))
        parts.append(as_element(lo, item, part))
    target = ir.Var("t", type_)
    named = () if type_.cls is tuple or ir.stands_for_another(type_) else (("cls", ir.Const(type_.cls)),)
    lo.emit(ir.Call((target,), display.make_tuple, tuple(parts), named, lo.open.span))
    return target


def joined_types(types: list[ir.Type], lo: Lowerer, node: ast.AST | None, *, are_items: bool = False) -> ir.Type | None:
    joined: ir.Type | None = None
    for type_ in types:
        joined = join_optional(lo, joined, type_, node, are_items=are_items)
    return joined


def join_optional(
    lo: Lowerer, one: ir.Type | None, other: ir.Type | None, node: ast.AST | None, *, are_items: bool = True
) -> ir.Type | None:
    """What a container holds, by two of its items."""
    if max(ir.depth_of(one), ir.depth_of(other)) > MAX_DEPTH:
        raise lo.problem("AD0402", node, "containers are put into each other here without end")
    if one is None or other is None:
        return one if other is None else other
    joined = lo.types.join(one, other)
    if joined is None:
        structures = (ir.Reference, ir.List, ir.Dict, ir.Instance) if lo.settings.tagged else (ir.Reference,)
        may_grow = isinstance(one, structures) or isinstance(other, structures)
        if not may_grow and not ir.carries_derivative(one) and not ir.carries_derivative(other):
            return ir.OPAQUE
        if isinstance(one, ir.Instance) and isinstance(other, ir.Instance) and one.cls is other.cls:
            joined = _with_all_fields(lo, one, other, node)
        if joined is None and are_items:
            joined = join_items(lo, one, other, node)
        if joined is None:
            raise lo.problem("AD0402", node, "the elements of this container have different structures")
    return joined


def join_items(lo: Lowerer, one: ir.Type, other: ir.Type, node: ast.AST | None) -> ir.Type | None:
    """What lies in a container that holds items of both types, which have no join: None as long as none are tagged."""
    lo.settings.mixed.add(node)
    lo.settings.beyond_links |= not _may_be_references(one, other)
    return _tagged(lo, one, other, node) if lo.settings.tagged else None


def _may_be_references(one: ir.Type, other: ir.Type) -> bool:
    """Whether what differs may be objects of one class, or an object and None: references to linked objects.

    So may be what nothing is known of, as after another refusal.
    """
    mine, theirs = _classes_within(one), _classes_within(other)
    both = mine | theirs
    return None in both or bool(mine & theirs) or (type(None) in both and len(both) > 1)


def _classes_within(type_: ir.Type | None) -> set[type | None]:
    """The classes of the objects that lie in a structure, as far as objects are looked at from outside."""
    match type_:
        case ir.Instance(cls=cls) | ir.Opaque(cls=cls):
            return {cls}
        case ir.List(element=inner) | ir.Dict(value=inner):
            return _classes_within(inner)
        case ir.Tuple(items=items):
            return set().union(*map(_classes_within, items))
        case _:
            return set()


def _tagged(lo: Lowerer, one: ir.Type, other: ir.Type, node: ast.AST | None) -> ir.Type | None:
    """What is one of two structures; of two containers it is said what either may hold."""
    match one, other:
        case ir.List(), ir.List() if one.is_tuple == other.is_tuple:
            element = join_optional(lo, one.element, other.element, node)
            one.storage.unite(other.storage)
            return ir.List(element, one.storage.find(), one.is_tuple)
        case ir.Dict(), ir.Dict():
            value = join_optional(lo, one.value, other.value, node)
            one.storage.unite(other.storage)
            return ir.Dict(value, one.storage.find())
        case _:
            return merged(lo, one, other)


def _tag_within(lo: Lowerer, type_: ir.Type, element: ir.Type) -> None:
    """Has containers lie in a container only with such items as it says; starts again where they are made."""
    match type_, element:
        case (ir.List(), ir.List()) | (ir.Dict(), ir.Dict()) | (ir.Instance(), ir.Instance()):
            remember(lo, type_, element, None)  # type: ignore[arg-type]
    raise lo.problem("AD0402", None, "the elements of this container have different structures")


def _with_all_fields(lo: Lowerer, one: ir.Instance, other: ir.Instance, node: ast.AST | None) -> ir.Type | None:
    """The type of objects of one class, of which some have attributes that others lack so far: all may have them."""
    both = _widened(lo, one, other)
    if not isinstance(both, ir.Instance):
        return None
    for type_ in (one, other):
        if type_.fields.keys() != both.fields.keys() and sites_of(lo, type_):
            remember(lo, type_, both, node)
    one.storage.unite(other.storage)
    return ir.Instance(both.cls, both.fields, one.storage.find())


def sites_within(lo: Lowerer, *values: Value) -> tuple[Site, ...]:
    """Where the objects among these values, and those in them, are made: they exist at run time together."""
    found: dict[Site, None] = {}
    seen: set[Ref] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, Ref) and value not in seen:
            seen.add(value)
            found.update(dict.fromkeys(original_sites((value.site,))))
            record = lo.store.get(value)
            if isinstance(record, Record):
                pending.extend(record.items)
        elif isinstance(value, TupleValue):
            pending.extend(value.items)
    return tuple(found)


def slots(lo: Lowerer, values: Sequence[Value], node: ast.AST | None) -> list[ir.Atom]:
    """What a container at run time holds for each of these values; all that must exist for it are found at once."""
    if any(isinstance(value, Ref) for value in values):
        raise NeedsRuntime(sites_within(lo, *values))
    atoms = [slot(lo, value, node) for value in values]
    if any(ir.carries_derivative(type_of(atom)) for atom in atoms):
        _look_into_unknown(lo, atoms)
    return atoms


def _look_into_unknown(lo: Lowerer, atoms: Sequence[ir.Atom]) -> None:
    """Has functions of packages looked into that made what lies beside numbers, and may be a number itself."""
    for atom in atoms:
        if isinstance(atom, ir.Var) and atom.type == ir.OPAQUE:
            look_where_it_comes_from(lo, atom)


def slot(lo: Lowerer, value: Value, node: ast.AST | None) -> ir.Atom:
    """What a container at run time holds for ``value``."""
    match value:
        case ir.Var():
            return value
        case Ref():
            raise NeedsRuntime(sites_within(lo, value))
        case Closure(function=None):
            lo.unroll_innermost(given=True)
            return _held_made(lo, value, node)
        case Closure() | Method(function=ir.Const(), receiver=ir.Const()):
            lo.unroll_innermost()
            atom = materialize(lo, value, node)
            return held_function(lo, atom, node) if is_known_function(atom) else atom
        case Method() | Partial():
            lo.unroll_innermost()
            return _held_made(lo, value, node)
        case ir.Const() if is_known_function(value):
            return held_function(lo, value, node)
        case TupleValue(items=items, cls=cls) if cls is tuple or is_namedtuple_class(cls):
            refuse_made_again(lo, cls, node)
            atoms = slots(lo, items, node)
            target = ir.Var("t", ir.Tuple(tuple(type_of(atom) for atom in atoms), cls))
            named = () if cls is tuple else (("cls", ir.Const(cls)),)
            lo.emit(ir.Call((target,), display.make_tuple, tuple(atoms), named, lo.span(node)))
            return target
        case ir.Const(value=tuple() as items) if type(items) is tuple and items:
            return slot(lo, TupleValue(tuple(map(ir.Const, items))), node)  # a reference, as other tuples are
        case _:
            return materialize(lo, value, node)


def _held_made(lo: Lowerer, value: Closure | Method | Partial, node: ast.AST | None) -> ir.Var:
    """What a container at run time holds for a function that is made here."""
    cls, atoms = held_made(lo, value, slots, node)
    target = ir.Var("f", ir.Tuple(tuple(map(type_of, atoms)), cls))
    lo.emit(ir.Call((target,), display.make_tuple, tuple(atoms), (), lo.span(node)))
    return target


def note_element(lo: Lowerer, container: ir.Var, atom: ir.Atom, node: ast.AST | None) -> None:
    """Something is put into a container: its type must allow for it."""
    type_ = container.type
    assert isinstance(type_, (ir.List, ir.Dict))
    try:
        _note_item(lo, container, type_, atom, node)
    except Problem as refused:
        sites = sites_of(lo, type_)
        if not any(site.place[:1] == ("input",) for site in sites):
            raise
        told = replace(refused.diagnostic, helps=_MADE_INSIDE)
        if not (_classes_within(element_of(container)) | _classes_within(type_of(atom))) - {None, type(None)}:
            keep_apart(lo, type_, sites, told)
        raise Problem(told) from None


_MADE_INSIDE = (
    "give it the same kind on both paths",
    "or make the container in the function that is differentiated: there its items may be of several kinds",
)


def _note_item(lo: Lowerer, container: ir.Var, type_: ir.List | ir.Dict, atom: ir.Atom, node: ast.AST | None) -> None:
    note_outside(lo, container)
    type_.storage.mark_written()
    before = type_.element if isinstance(type_, ir.List) else type_.value
    guessed = _guessed_site(lo, type_) if isinstance(type_, ir.List) else None
    if guessed is not None:
        lo.settings.site_types[guessed] = ir.List(type_of(atom))
        if type_of(atom) != before:
            _guess(lo, guessed, type_of(atom))
            raise OtherItems((guessed,))
        return
    if before is not None and ir.carries_derivative(before):
        _look_into_unknown(lo, [atom])
    after = join_optional(lo, before, type_of(atom), node)
    if isinstance(atom, ir.Var) and _holds_less(atom.type, after):
        remember(lo, atom.type, after, node)  # type: ignore[arg-type]
    if after == before:
        return
    remember(lo, type_, ir.List(after) if isinstance(type_, ir.List) else ir.Dict(after), node)


def _holds_less(type_: ir.Type, than: ir.Type | None) -> bool:
    """Whether a container holds whole numbers, as far as it is known, where others like it hold floats, too."""
    match type_, than:
        case (ir.List(element=one), ir.List(element=other)) | (ir.Dict(value=one), ir.Dict(value=other)):
            return one is not None and one != other
        case _:
            return False


def _guessed_site(lo: Lowerer, type_: ir.List) -> Site | None:
    """Where a list is made of which it is only guessed what it holds."""
    sites = sites_of(lo, type_) if lo.settings.guesses else []
    if len(sites) != 1 or sites[0] in lo.settings.site_types:
        return None
    guess = lo.settings.guesses.get(sites[0].place[0])
    return sites[0] if guess is not None and type_.element is guess else None


def note_outside(lo: Lowerer, base: ir.Var) -> None:
    """Remembers writes into what a global or captured variable holds, or may."""
    is_called = any(each.lowering for each in lo.run_data.definitions.values())
    if is_called or any(way_to(lo, site) is not None for site in sites_of(lo, base.type)):  # type: ignore[arg-type]
        lo.run_data.outside_writes.append(base)


def lift_written(lo: Lowerer) -> None:
    """What is captured, exists at run time and is written is an argument, whose memory nothing else may have."""
    for base in lo.run_data.outside_writes:
        for site in sites_of(lo, base.type):  # type: ignore[arg-type]
            lift(lo, site)


def sites_of(lo: Lowerer, type_: ir.List | ir.Dict | ir.Instance) -> list[Site]:
    """Where the containers or objects are made that a value of a type may be."""
    home = type_.storage.find()
    return [site for storage, site in lo.run_data.sites_of_storage if storage.find() is home]


def remember(
    lo: Lowerer,
    type_: ir.List | ir.Dict | ir.Instance,
    better: ir.Type,
    node: ast.AST | None,
    label: str = "what is stored here does not have the type of what the container holds",
    helps: Sequence[str] | None = None,
) -> None:
    sites = sites_of(lo, type_)
    if not sites or (any(site.place[:1] == ("input",) for site in sites) and ir.is_tagged_within(better)):
        raise lo.problem("AD0402", node, label, helps=helps)
    changed: list[Site] = []
    for site in sites:
        known = lo.settings.site_types.get(site)
        joined = better if known is None else _widened(lo, known, better)
        if joined is None:
            raise lo.problem("AD0402", node, label, helps=helps)
        if joined != known:
            lo.settings.site_types[site] = joined
            if isinstance(joined, ir.List):
                _guess(lo, site, joined.element)
            changed.append(site)
    if not changed:
        return
    if isinstance(type_, ir.List) and type_.element is None and lo.settings.attempts == 1:
        lo.run_data.has_grown = True  # nothing can have been read from it so far: there may be more to be found out
    else:
        raise OtherItems(tuple(changed))


def learn_from_others(lo: Lowerer, container: ir.Var, node: ast.AST | None) -> None:
    """Has a container of which nothing is known hold what others do that it may be; starts again where these do."""
    assert isinstance(container.type, (ir.List, ir.Dict))
    for site in sites_of(lo, container.type):
        known = lo.settings.site_types.get(site)
        if isinstance(known, (ir.List, ir.Dict)) and known != type(known)(None):
            remember(lo, container.type, known, node)


def are_laid_out_alike(lo: Lowerer) -> bool:
    """Whether containers of which a variable may be either hold their items in one way; the next time they do."""
    known: dict[ir.Storage, ir.Type] = {}
    for made in lo.run_data.made:
        type_: Any = made.type
        other = known.setdefault(type_.storage.find(), type_)
        if other is type_ or not (lo.run_data.pools or _is_one_of_whole_numbers(lo, other, type_)):
            continue
        joined = None if _are_alike(other, type_) else _widened(lo, other, type_)
        if joined is not None:
            try:
                remember(lo, type_, joined, None)
            except OtherItems:
                return False
    return True


def _are_alike(one: ir.Type, other: ir.Type) -> bool:
    return ir.are_tagged_alike(one, other) and ir.carries_derivative(one) == ir.carries_derivative(other)


def _is_one_of_whole_numbers(lo: Lowerer, one: Any, other: Any) -> bool:
    """Whether one of two containers that the program makes holds floats, and the other whole numbers."""
    if ir.carries_derivative(one) == ir.carries_derivative(other):
        return False
    return not any(site.place[:1] == ("input",) for site in sites_of(lo, one))


def _widened(lo: Lowerer, known: ir.Type, better: ir.Type) -> ir.Type | None:
    """What a container holds, by what was known of it and what is put into it; an object has what either says."""
    match known, better:
        case ir.Instance(), ir.Instance() if known.cls is better.cls:
            fields = {**better.fields, **known.fields}
            for name in known.fields.keys() & better.fields.keys():
                joined = lo.types.join(known.fields[name], better.fields[name])
                if joined is None:
                    joined = join_items(lo, known.fields[name], better.fields[name], None)
                if joined is None:
                    return None
                fields[name] = joined
            return ir.Instance(known.cls, fields)
        case ir.List(element=ir.Instance() as mine), ir.List(element=ir.Instance() as theirs) if mine.cls is theirs.cls:
            element = _widened(lo, mine, theirs)
            return None if element is None else ir.List(element, is_tuple=known.is_tuple and better.is_tuple)
    joined = lo.types.join(known, better)
    if joined is None and are_of_constants(known, better):
        return ir.List(ir.OPAQUE, is_tuple=known.is_tuple) if isinstance(known, ir.List) else ir.Dict(ir.OPAQUE)
    return _tagged(lo, known, better, None) if joined is None and lo.settings.tagged else joined


def _guess(lo: Lowerer, site: Site, element: ir.Type | None) -> None:
    """What was found last is what the next list that is made at this place is taken to hold."""
    lo.settings.guesses[site.place[0]] = element if isinstance(element, ir.Scalar) else None


def guess_numbers(lo: Lowerer, site: Site, parts: Iterable[ast.expr]) -> None:
    """Takes a list that nobody reads before it is full to hold floats: if it does, lowering need not start again.

    They are those of a list that the expressions of its items read, or NumPy's where these read something of NumPy's.
    """
    if site in lo.settings.site_types:
        return
    names = {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
    cells = [cell for name in sorted(names) if (cell := lo.cell_named(name)) is not None]
    types = [value.type for cell in cells if isinstance(value := lo.store.get(cell), ir.Var)]
    items = [type_.element for type_ in types if isinstance(type_, ir.List)]
    if len(items) == 1 and isinstance(items[0], ir.Scalar) and items[0].kind == "float":
        lo.settings.guesses[site.place[0]] = items[0]
    elif site.place[0] not in lo.settings.guesses:
        dtypes = [
            type_.dtype for type_ in types if isinstance(type_, (ir.Array, ir.Scalar)) and type_.dtype is not None
        ]
        found = next((dtype for dtype in dtypes if dtype.kind == "f"), None)
        lo.settings.guesses[site.place[0]] = ir.FLOAT if found is None else ir.Scalar("float", found)


MOST_GUESSES = 3
"""How often a list is lowered again by itself until what it holds is known."""


def check_guess(lo: Lowerer, items: Value) -> None:
    """Starts again where a list that is full holds nothing that would say whether it was taken for the right one."""
    if isinstance(items, ir.Var) and isinstance(items.type, ir.List):
        guessed = _guessed_site(lo, items.type)
        if guessed is not None:
            lo.settings.guesses[guessed.place[0]] = None
            lo.settings.site_types[guessed] = ir.List(None)  # so that it is not guessed again
            raise OtherItems((guessed,))


def sites_of_objects_at(lo: Lowerer, sites: Collection[Site]) -> tuple[Site, ...]:
    """Where what lies in the objects that are made at these places is made: it must exist with them."""
    refs = [key for key in lo.store if isinstance(key, Ref) and not set(sites).isdisjoint(original_sites((key.site,)))]
    return sites_within(lo, *refs)


def guessed_anew(lo: Lowerer, site: Site, build: Callable[[], Value]) -> Value:
    """What ``build`` gives; where it finds out what a list holds that it makes, and nothing else, it runs again."""
    for _ in range(MOST_GUESSES):
        kept = lo.checkpoint()
        try:
            return build()
        except OtherItems as other:
            if other.sites != (site,) or knows_half(lo):
                raise
            lo.roll_back(kept)
    return build()


def knows_half(lo: Lowerer) -> bool:
    """Whether some paths are left out, as where a recursive function is lowered of which no result is known yet."""
    return any(each.lowering and each.result is None for each in lo.run_data.definitions.values())


def mark_array_written(lo: Lowerer, array: ir.Var, node: ast.AST | None) -> None:
    """An array is written in place."""
    if isinstance(array.type, ir.Number):
        label = "this may be a number or an array, and is written"
        raise lo.problem("AD0401", node, label, helps=("write a copy: y = np.array(y)",))
    assert isinstance(array.type, ir.Array)
    library = lo.settings.target.library
    if library is not None and not library.writes:
        raise lo.problem("AD0604", node, f"this writes into an array of {library.name}", name=library.name)
    stop_at_read_only(lo, array, node)
    note_outside(lo, array)
    array.type.storage.mark_written()
