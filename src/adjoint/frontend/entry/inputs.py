"""What a derivative is given when it is called: arguments, and the data its functions capture.

Functions, classes, modules, strings and flags are constants of a specialisation; numbers, arrays and what holds them
are inputs, read at each call. Either way a :class:`Captured` remembers where a value came from, so that a later call
can tell whether the specialisation still fits.
"""

from __future__ import annotations

import ast
import builtins
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics import error
from adjoint.diagnostics.similar import did_you_mean, missing_import
from adjoint.frontend.data.outside.captured_by_rules import note_captured
from adjoint.frontend.data.outside.lookups import note
from adjoint.frontend.data.outside.scalar_replacement import lengths_apart
from adjoint.frontend.data.outside.written import note_entered
from adjoint.frontend.entry.captured import MAX_PARTS, Captured, Guard, Path, differentiated, has_fields, reader
from adjoint.frontend.entry.constants import (
    is_constant,
    is_fixed,
    is_frozen,
    is_library_constant,
    is_of_fixed,
    is_plain,
)
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.tracking import set_unseen
from adjoint.frontend.interpreter.values import LOCAL, Cell, Held, Method, Partial, Record, Ref, Site, TupleValue, Value
from adjoint.frontend.objects.classes import refuse_made_again, refuse_other_items
from adjoint.records import replace
from adjoint.rules.declarations import counts_by_identity
from adjoint.rules.types_of_values import abstract
from adjoint.sources.library_folders import is_of_a_library
from adjoint.types.array_libraries import is_foreign
from adjoint.types.classes.annotations import annotations_of
from adjoint.types.classes.safe_lookups import asked, is_marked
from adjoint.types.structure import DICTS, fields_of, is_written_in_python, own_attribute, plain_attributes

MAX_DEPTH = 8


def guard_lookup(lo: Lowerer, cls: type, name: str, found: Any) -> None:
    """Makes the specialisation depend on what a method's name means for a class of the user's."""
    if lo.run_data.all_constant or cls.__module__.split(".")[0] in ("numpy", "adjoint"):
        return
    if cls.__module__ == "builtins" and not is_written_in_python(cls):
        return
    is_users_descriptor = isinstance(getattr(type(found), "__get__", None), types.FunctionType)
    is_itself = not is_users_descriptor and getattr(cls, name, None) is found
    path: Path = ("attribute", cls, name) if is_itself else ("static", cls, name)
    if (
        asked(cls, LOCAL) is not None
        or not isinstance(found, _LOOKED_UP)
        or any(guard.path == path for guard in lo.run_data.guards)
    ):
        return
    lo.run_data.guards.append(Guard(path, reader(path), found))


def guard_presence(lo: Lowerer, owner: Any, name: str) -> bool:
    """Whether an object has an attribute now: the specialisation depends on it."""
    found, path = hasattr(owner, name), ("has", owner, name)
    is_fixed = is_library_constant(("attribute", owner, name)) or not hasattr(owner, "__dict__")
    if not (lo.run_data.all_constant or is_fixed or any(guard.path == path for guard in lo.run_data.guards)):
        lo.run_data.guards.append(Guard(path, reader(path), found))
    return found


_LOOKED_UP = (types.FunctionType, property, staticmethod, classmethod)


def entered_root(lo: Lowerer, function: Any) -> Value:
    """The function of a call: what it captures is read from the function object that is given at each call."""
    lo.run_data.root = differentiated(function)
    if lo.settings.assigned_outside:
        from adjoint.frontend.data.outside.outer_variables import open_assigned  # lazy

        open_assigned(lo)
    _open_lifted(lo)
    return ir.Const(function) if lo.run_data.root is not function else captured(lo, function, ("root",), "f", None)


def _open_lifted(lo: Lowerer) -> None:
    """Enters what is captured and was found written by an earlier attempt, before anything runs."""
    if not lo.settings.lifted:
        return
    for path, name in list(lo.settings.lifted.values()):
        captured(lo, reader(path)(lo.run_data.root), path, name, None)
    for ref in [key for key in lo.run_data.outside if isinstance(key, Ref)]:
        del lo.run_data.outside[ref]  # it is not the same on every path


def with_lifted_marked(lo: Lowerer) -> tuple[Captured, ...]:
    """What is captured, as far as it is read at each call; what is written is marked."""
    inputs = lo.run_data.inputs
    return tuple([replace(item, is_written=identity_of(item.path) in lo.settings.lifted) for item in inputs])


def captured(lo: Lowerer, value: Any, path: Path, name: str, node: ast.AST | None) -> Value:
    """The value of captured data or of a constant, entered as what it is."""
    if isinstance(value, Held):
        note(lo, value)
        return lo.store[value]
    if lo.run_data.all_constant:
        if lo.run_data.of_users:
            note_captured(value, path)
        return ir.Const(value)
    for key, held in lo.run_data.outside.items():  # another path may have entered it, or what it shares
        lo.store.setdefault(key, held)
    known = lo.run_data.captured.get(identity_of(path))
    if known is not None:
        note(lo, known)
        return known
    read = reader(path)
    is_taken_for_known = type(value) is int and (
        identity_of(path) in lo.settings.constant_inputs or _is_default_of_a_library(path)
    )
    is_known = is_constant(value) or is_frozen(value)
    if is_taken_for_known or is_known or is_library_constant(path) or is_fixed(value, path):
        if not is_library_constant(path) and path[0] != "root":
            lo.run_data.guards.append(Guard(path, read, value))
        result: Value = ir.Const(value)
    else:
        hint = name if name.isidentifier() else "captured"
        before, count = set(lo.store), len(lo.run_data.inputs)

        def declare(var: ir.Var) -> None:
            lo.run_data.inputs.append(Captured(path, read, var))

        result = enter(lo, value, identity_of(path), hint, declare)
        if len(lo.run_data.inputs) == count:  # another way led to the object: it fits only what is reached in both
            declare(ir.Var(hint, ir.Opaque(type(value)), True))
        lo.run_data.guards += lengths_apart(lo, value, path, identity_of(path))
        lo.run_data.outside.update((key, held) for key, held in lo.store.items() if key not in before)
        if type(value) is int and isinstance(result, ir.Var):
            lo.run_data.whole_inputs[result] = identity_of(path)
    lo.run_data.captured[identity_of(path)] = result
    lo.run_data.ways[identity_of(path)] = path, name
    note(lo, result)
    return result


def _is_default_of_a_library(path: Path) -> bool:
    """Whether this is what a parameter of a library's function is where nobody gives it: ranks and axes, mostly."""
    match path:
        case ("default", types.FunctionType() as function, _):
            return is_of_a_library(function.__code__.co_filename)
    return False


def identity_of(path: Path) -> Path:
    """What is equal for two ways to the same data."""
    return tuple(part if isinstance(part, (str, int)) else id(part) for part in path)


def enter(lo: Lowerer, value: Any, path: Path, hint: str, declare: Callable[[ir.Var], None]) -> Value:
    """A value from outside: its leaves are loaded from a variable of the entry, which ``declare`` is told of."""
    match value:
        case bool() | str() | bytes() | None:
            return ir.Const(value)
        case int() if type(value) is int:
            if path in lo.settings.constant_inputs and path[0] == "argument":
                lo.run_data.argument_guards.append((path, value))
                return ir.Const(value)
            var = ir.Var(hint, ir.INT, True)
            if path[0] == "argument" and not any(str(part).startswith("__") for part in path):
                lo.run_data.whole_inputs[var] = path
            return _declared(var, declare)
        case float() if type(value) is float:
            return _declared(ir.Var(hint, ir.FLOAT, True), declare)
        case complex() if type(value) is complex:
            return _declared(ir.Var(hint, ir.Scalar("complex"), True), declare)
        case types.MethodType() if not is_constant(value):
            receiver = enter(
                lo,
                value.__self__,
                (*path, "__self__"),
                "self",
                lambda var: _through(lo, var, "__self__", hint, declare),
            )
            return Method(ir.Const(value.__func__), receiver)
        case functools.partial() if not counts_by_identity(value):
            return _enter_partial(lo, value, path, hint, declare)
    if isinstance(value, types.FunctionType):
        _enter_cells(lo, value, path, hint, declare)
    if is_constant(value):
        return ir.Const(value)
    if is_foreign(value) or (lo.settings.target.library is not None and isinstance(value, (np.ndarray, np.generic))):
        from adjoint.frontend.entry.libraries import note_library  # lazy

        note_library(lo, value, hint)
    if isinstance(value, (np.ndarray, np.generic)) or is_foreign(value):
        var = ir.Var(hint, abstract(value), True)
        if isinstance(var.type, ir.Array):
            lo.run_data.sites_of_storage.append((var.type.storage, Site(("input", *path))))
            note_entered(lo, value, var)
        return _declared(var, declare)
    if isinstance(value, tuple):
        if type(value) is not tuple:
            refuse_other_items(lo, type(value), None)
            refuse_made_again(lo, type(value), None)
        base = ir.Var(hint, ir.Opaque(tuple), True)
        declare(base)
        return TupleValue(
            tuple(
                enter(lo, item, (*path, i), _item_hint(value, hint, i), _loader(lo, base, ir.Subscript((ir.Const(i),))))
                for i, item in enumerate(value)
            ),
            type(value),
        )
    if type(value) is list and _is_deep(value, MAX_DEPTH):
        return _declared(ir.Var(hint, ir.Opaque(list), True), declare)
    if type(value) is list or type(value) in DICTS:
        found = (_enter_list if type(value) is list else _enter_dict)(lo, value, path, hint, declare)
        note_entered(lo, value, found)
        return found
    stands_for = own_attribute(value, "__adjoint_type__")  # an argument of which only the type is known
    if stands_for is not None:
        return _declared(ir.Var(hint, stands_for, True), declare)
    if has_fields(value):
        return _enter_object(lo, value, path, hint, declare)
    return _declared(ir.Var(hint, ir.Opaque(type(value)), True), declare)


def _item_hint(value: tuple[Any, ...], hint: str, index: int) -> str:
    names = getattr(value, "_fields", None)
    return names[index] if names else f"{hint}_{index}"


def _declared(var: ir.Var, declare: Callable[[ir.Var], None]) -> ir.Var:
    declare(var)
    return var


def _through(lo: Lowerer, var: ir.Var, name: str, hint: str, declare: Callable[[ir.Var], None]) -> None:
    base = ir.Var(hint, ir.Opaque(), True)
    declare(base)
    lo.run_data.prologue.emit(ir.Load(var, base, ir.Attribute(name)))


def _loader(lo: Lowerer, base: ir.Var, key: Any) -> Callable[[ir.Var], None]:
    """Declares a part by loading it, before anything else happens."""

    def declare(var: ir.Var) -> None:
        lo.run_data.prologue.emit(ir.Load(var, base, key))

    return declare


def _enter_cells(
    lo: Lowerer, value: types.FunctionType, path: Path, hint: str, declare: Callable[[ir.Var], None]
) -> None:
    """What a function captures is read from the function object, so that it may be another one at each call."""
    if id(value) in lo.run_data.objects or not value.__closure__ or value.__defaults__ or value.__kwdefaults__:
        return
    lo.run_data.objects[id(value)] = ir.Const(value)
    base = ir.Var(hint, ir.Opaque(types.FunctionType), True)
    declare(base)

    def loader(index: int) -> Callable[[ir.Var], None]:
        def load(var: ir.Var) -> None:
            cells, cell = ir.Var("cells", ir.Opaque()), ir.Var("cell", ir.Opaque())
            lo.run_data.prologue.emit(ir.Load(cells, base, ir.Attribute("__closure__")))
            lo.run_data.prologue.emit(ir.Load(cell, cells, ir.Subscript((ir.Const(index),))))
            lo.run_data.prologue.emit(ir.Load(var, cell, ir.Attribute("cell_contents")))

        return load

    for index, (name, source) in enumerate(zip(value.__code__.co_freevars, value.__closure__, strict=True)):
        cell = cell_of(lo, source, name)
        if cell in lo.store or name == "__class__":
            continue
        try:
            contents = source.cell_contents
        except ValueError:
            continue
        lo.run_data.given[cell] = base, index
        set_unseen(lo.store, cell, enter(lo, contents, (*path, "__closure__", index), name, loader(index)))


def _enter_partial(
    lo: Lowerer, value: functools.partial[Any], path: Path, hint: str, declare: Callable[[ir.Var], None]
) -> Value:
    base = ir.Var(hint, ir.Opaque(), True)
    declare(base)

    def part(name: str, key: Any, item: Any) -> Value:
        def load(var: ir.Var) -> None:
            holder = ir.Var(name, ir.Opaque())
            lo.run_data.prologue.emit(ir.Load(holder, base, ir.Attribute(name)))
            lo.run_data.prologue.emit(ir.Load(var, holder, ir.Subscript((ir.Const(key),))))

        return enter(lo, item, (*path, name, key), f"{hint}_{key}", load)

    inner = enter(lo, value.func, (*path, "func"), hint, _loader(lo, base, ir.Attribute("func")))
    args = tuple(part("args", i, item) for i, item in enumerate(value.args))
    kwargs = tuple((name, part("keywords", name, item)) for name, item in value.keywords.items())
    return Partial(inner, args, kwargs)


def _enter_list(lo: Lowerer, value: list[Any], path: Path, hint: str, declare: Callable[[ir.Var], None]) -> Value:
    site = Site(("input", *path))
    element = _element_at(lo, site, value)
    is_apart = site in lo.settings.apart
    fixed = site in lo.settings.fixed_sites or (is_apart and path[0] == "argument")
    if fixed:
        lo.run_data.argument_guards.append((path, len(value)))
    structured = fixed or any(has_fields(item) or callable(item) or isinstance(item, (dict, str)) for item in value)
    apart = structured and any(map(counts_by_identity, value))
    known = structured and len(value) <= MAX_PARTS and (apart or not _is_stacked(lo, element, site))
    at_run_time = not is_apart and (site in lo.settings.runtime_sites or not known)
    if at_run_time and not isinstance(element, _Mixed):
        var = ir.Var(hint, ir.List(element), True)
        declare(var)
        lo.run_data.sites_of_storage.append((var.type.storage, site))  # type: ignore[attr-defined]
        lo.run_data.loose.append((var, value))
        return var
    if (site in lo.settings.runtime_sites and not is_apart) or len(value) > MAX_PARTS:
        return _declared(ir.Var(hint, ir.Opaque(list), True), declare)
    base = ir.Var(hint, ir.Opaque(list), True)
    declare(base)
    ref = Ref(site, base)
    parts = [
        (i, enter(lo, item, (*path, i), f"{hint}_{i}", _loader(lo, base, ir.Subscript((ir.Const(i),)))))
        for i, item in enumerate(value)
    ]
    set_unseen(lo.store, ref, Record(list, tuple(parts)))
    return ref


def _is_stacked(lo: Lowerer, element: ir.Type | None, site: Site) -> bool:
    """Whether the objects of a list are to be arrays of their fields."""
    if not lo.settings.target.machine or site in lo.settings.single_sites:
        return False
    from adjoint.native.array_programs.structure_of_arrays import holds_numbers  # lazy

    return holds_numbers(element)


def _is_deep(value: Any, depth: int) -> bool:
    """Whether lists lie in lists deeper than is looked at; those that hold themselves do."""
    if not isinstance(value, (list, tuple)):
        return False
    return depth == 0 or any(_is_deep(item, depth - 1) for item in value if isinstance(item, (list, tuple)))


class _Mixed(ir.Type):
    """The elements have no common type."""


def _common_type(lo: Lowerer, items: list[Any]) -> ir.Type | None:
    if not items:
        return None
    joined: ir.Type | None = abstract(items[0])
    for item in items[1:]:
        if joined is not None:
            joined = lo.types.join(joined, abstract(item))
    return _Mixed() if joined is None else joined


def _element_at(lo: Lowerer, site: Site, items: list[Any]) -> ir.Type | None:
    """What a container from outside holds: what is in it, and what the function was seen to put there."""
    element, known = _common_type(lo, items), lo.settings.site_types.get(site)
    if not isinstance(known, (ir.List, ir.Dict)):
        return element
    stored = known.element if isinstance(known, ir.List) else known.value
    if element is None or stored is None or isinstance(element, _Mixed):
        return stored if element is None else element
    return lo.types.join(element, stored) or _Mixed()


def _enter_dict(lo: Lowerer, value: dict[Any, Any], path: Path, hint: str, declare: Callable[[ir.Var], None]) -> Value:
    site = Site(("input", *path))
    if (site in lo.settings.runtime_sites and site not in lo.settings.apart) or len(value) > MAX_PARTS:
        element = _element_at(lo, site, list(value.values()))
        if isinstance(element, _Mixed) or type(value) is not dict:
            return _declared(ir.Var(hint, ir.Opaque(type(value)), True), declare)
        var = ir.Var(hint, ir.Dict(element), True)
        declare(var)
        lo.run_data.sites_of_storage.append((var.type.storage, site))  # type: ignore[attr-defined]
        lo.run_data.loose.append((var, value))
        return var
    base = ir.Var(hint, ir.Opaque(dict), True)
    declare(base)
    ref = Ref(site, base)
    parts = []
    for key, item in value.items():
        name = key if isinstance(key, str) and key.isidentifier() else hint
        parts.append((key, enter(lo, item, (*path, key), name, _loader(lo, base, ir.Subscript((ir.Const(key),))))))
    set_unseen(lo.store, ref, Record(type(value), tuple(parts)))
    return ref


def _enter_object(lo: Lowerer, value: Any, path: Path, hint: str, declare: Callable[[ir.Var], None]) -> Value:
    seen = lo.run_data.objects.get(id(value))
    if seen is not None:
        return seen
    cls = type(value)
    site = Site(("input", *path))
    if counts_by_identity(value):
        lo.run_data.told_apart[site] = value
    if site in lo.settings.runtime_sites:
        type_ = abstract(value)
        if isinstance(type_, ir.Opaque) and type_.signature is not None:
            var = lo.run_data.objects[id(value)] = _declared(ir.Var(hint, type_, True), declare)
            return var
        if is_marked(cls, "__adjoint_signature__"):
            raise error("AD0222", None, f"{hint!r} has to exist at run time, and has no type that tells what it gives")
        if not isinstance(type_, ir.Instance):
            raise error("AD0307", None, f"{hint!r} is an object of class {cls.__name__!r}, which is not looked into")
        known = lo.settings.site_types.get(site)
        if isinstance(known, ir.Instance):  # what the function was seen to assign
            type_ = ir.Instance(cls, {**known.fields, **type_.fields})
        var = ir.Var(hint, type_, True)
        declare(var)
        lo.run_data.sites_of_storage.append((type_.storage, site))
        lo.run_data.objects[id(value)] = var
        lo.run_data.given_objects[var] = value
        note_entered(lo, value, var)
        return var
    fields = fields_of(value)
    base = ir.Var(hint, ir.Opaque(cls, data=plain_attributes(cls, fields)), True)
    declare(base)
    ref = Ref(site, base)
    lo.run_data.objects[id(value)] = ref
    set_unseen(lo.store, ref, Record(cls, ()))
    annotations = annotations_of(cls)
    parts = []
    for name, item in fields.items():
        if not name.isidentifier():  # it would be written into the text of the derivative
            raise error("AD0413", None, f"the attribute is called {name!r}", name=hint)
        if type(item) is int and annotations.get(name) in (float, "float"):
            part: Value = _declared(ir.Var(name, ir.FLOAT), _loader(lo, base, ir.Attribute(name)))
        else:
            part = enter(lo, item, (*path, name), name, _loader(lo, base, ir.Attribute(name)))
        parts.append((name, part))
    set_unseen(lo.store, ref, Record(cls, tuple(parts)))
    note_entered(lo, value, ref)
    return ref


# -- names from outside -----------------------------------------------------------------------------------------------


def global_value(lo: Lowerer, name: str, node: ast.AST | None) -> Value:
    """A global or built-in name."""
    assert lo.frame is not None
    table = lo.frame.closure.globals
    if name in table:
        return captured(lo, table[name], ("global", table, name), name, node)
    if hasattr(builtins, name):  # until the module defines the name
        return captured(lo, getattr(builtins, name), ("global", table, name), name, node)
    helps = missing_import(name) or did_you_mean(name, [*lo.frame.visible_to_closures, *table, *vars(builtins)])
    raise lo.mistake(NameError, node, f"nothing is called {name!r} here", code="AD0310", helps=helps, name=name)


def cell_of(lo: Lowerer, cell: types.CellType, name: str) -> Cell:
    """The variable that a cell of a function object is."""
    known = lo.run_data.cells.get(id(cell))
    if known is None:
        known = Cell(name)
        lo.run_data.cells[id(cell)] = known
        lo.run_data.contents[known] = cell
    return known


def fill_cell(lo: Lowerer, cell: Cell, name: str, node: ast.AST | None, home: dict[str, Any] | None = None) -> None:
    """Reads a captured variable of a function object, once; ``home`` are the globals of the function."""
    source = lo.run_data.contents.get(cell)
    if source is None or cell in lo.store:
        return
    try:
        contents = source.cell_contents
    except ValueError:
        set_unseen(lo.store, cell, ir.UNDEFINED)
        return
    own = getattr(lo.run_data.root, "__closure__", None) or ()
    path = (
        ("own_cell", [mine is source for mine in own].index(True))
        if any(source is mine for mine in own)
        else ("cell", source)
    )
    if home is not None and is_of_fixed(home.get("__name__")) and is_plain(contents):
        lo.run_data.guards.append(Guard(path, reader(path), contents))
        contents_now: Value = ir.Const(contents)
    else:
        contents_now = captured(lo, contents, path, name, node)
    lo.run_data.outside[cell] = contents_now
    set_unseen(lo.store, cell, contents_now)
