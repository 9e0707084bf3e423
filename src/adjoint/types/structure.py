"""What a value is made of: numbers and arrays at the leaves, containers and objects above them.

One classification serves everything that walks over user values and tangents. Containers are tuples, lists, dicts
and objects with fields; whatever is none of these and no number or array is a leaf that carries no derivative.
"""

from __future__ import annotations

import collections
import enum
import types
import typing
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from adjoint.types.array_libraries import is_foreign, name_of_dtype
from adjoint.types.classes.annotations import own_annotations
from adjoint.types.classes.dataclass_fields import dataclass_fields, is_dataclass
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.marks import no_derivative_fields
from adjoint.types.registry import registration

Leaf = Callable[..., Any]
T = TypeVar("T")

_PLAIN = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, enum.Enum)
_TABLE = "__dataclass_fields__"
MOST_LAYOUTS = 64
"""Of objects of one class, how many sets of attributes are remembered."""
_PYTHONS_SLOTS = ("__dict__", "__weakref__")
_OPAQUE_BASES = (str, bytes, bytearray, int, float, complex, set, frozenset, BaseException, np.generic, np.ndarray)
_float_fields: weakref.WeakKeyDictionary[type, frozenset[str]] = weakref.WeakKeyDictionary()

DICTS: tuple[type, ...] = (dict, collections.OrderedDict, collections.defaultdict)
"""The classes of dicts whose items are looked into where they come from outside."""
CONTAINERS: tuple[type, ...] = (list, *DICTS)


def is_number(x: object) -> bool:
    """Whether ``x`` is a float or complex number, Python's or NumPy's."""
    return isinstance(x, (float, complex, np.inexact))


def is_float_array(x: object) -> bool:
    """Whether ``x`` is an array of floats or complex numbers."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fc"
    return is_foreign(x) and name_of_dtype(x.dtype).startswith(("float", "bfloat", "complex"))  # type: ignore[attr-defined]


def like_leaf(result: Any, leaf: Any) -> Any:
    """A result with the dtype of an array, or of the class of a number."""
    if isinstance(leaf, np.ndarray):
        return np.asarray(result, dtype=leaf.dtype)
    return leaf.dtype.type(result) if isinstance(leaf, np.generic) else type(leaf)(result)


def is_leaf_value(x: object) -> bool:
    """Whether ``x`` itself varies smoothly: a number or an array of numbers."""
    return is_number(x) or is_float_array(x)


def is_namedtuple(x: object) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def is_namedtuple_class(cls: object) -> bool:
    return isinstance(cls, type) and issubclass(cls, tuple) and is_marked(cls, "_fields")


def is_object(x: object) -> bool:
    """Whether ``x`` is an instance of a Python class with fields, rather than a leaf or a container.

    Classes of NumPy and of the standard library's C modules are leaves: they hold their state elsewhere.
    """
    if is_dataclass(x) or registration(type(x)) is not None:
        return not isinstance(x, type)
    cls = type(x)
    if isinstance(x, (*_PLAIN, *_OPAQUE_BASES, tuple, list, dict)) or x is None or is_foreign(x):
        return False
    if cls is types.SimpleNamespace:
        return True
    if not is_written_in_python(cls) or cls.__module__.partition(".")[0] in ("numpy", "threading"):
        return False
    return hasattr(x, "__dict__") or any("__slots__" in vars(base) for base in cls.__mro__)


def is_written_in_python(cls: type) -> bool:
    """Whether a statement made a class: what text without a module makes says that it were of ``builtins``."""
    return bool(cls.__flags__ & (1 << 9))


def home_of(cls: type) -> str:
    """The module of a class; empty for that of Cython's functions, which has a descriptor there."""
    home: Any = cls.__module__
    return home if isinstance(home, str) else ""


def is_container(x: object) -> bool:
    return isinstance(x, (tuple, list, dict)) or is_object(x)


def field_names(x: object) -> list[str]:
    """The names of the fields of an object that can vary: those it has now, without what is marked otherwise."""
    excluded = no_derivative_fields(type(x))
    names = stored_fields(x)
    return [name for name in names if name not in excluded] if excluded else names


def stored_fields(x: object) -> list[str]:
    """The names of all fields that an object has now: declared ones first, in their order."""
    registered = registration(type(x))
    if registered is not None:
        return [*registered.fields, *registered.no_derivative]
    layout = _layout(type(x))
    own = getattr(x, "__dict__", {})
    known = layout.known.get(tuple(own))
    if known is not None:
        return list(known)
    names = {**layout.declared, **own}
    found = [name for name in names if not is_pythons_own(name) and _has(x, name)]
    if own.keys() == names.keys() and layout.by_code.isdisjoint(names) and len(layout.known) < MOST_LAYOUTS:
        layout.known[tuple(own)] = found
    return list(found)


class _Layout:
    """What a class tells of the attributes of its objects.

    ``declared`` are the names of fields and slots in their order, ``by_code`` those that code of the class gives, or a
    slot; ``known`` has the names of all fields by those in ``__dict__``.
    """

    def __init__(self, cls: type) -> None:
        self.own_table = vars(cls).get(_TABLE)
        self.slots = tuple(_slots_of(cls))
        table = next((vars(base)[_TABLE] for base in cls.__mro__ if _TABLE in vars(base)), None)
        fields = [field.name for field in dataclass_fields(cls)] if isinstance(table, dict) else []
        self.declared = dict.fromkeys((*fields, *self.slots))
        self.known: dict[tuple[str, ...], list[str]] = {}
        self.by_code = frozenset(
            name for base in cls.__mro__ for name, value in vars(base).items() if hasattr(type(value), "__set__")
        )


_layouts: weakref.WeakKeyDictionary[type, _Layout] = weakref.WeakKeyDictionary()


def _layout(cls: type) -> _Layout:
    known = _layouts.get(cls)
    if known is None or known.own_table is not vars(cls).get(_TABLE):  # a class may become a dataclass
        known = _layouts[cls] = _Layout(cls)
    return known


def is_pythons_own(name: str) -> bool:
    """Whether an attribute is none of the user's: ``__dict__``, or ``__orig_class__`` of an instance of a generic."""
    return name[:2] == "__" and name.endswith("__") and name != "__name__"


def slots_of(cls: type) -> tuple[str, ...]:
    """The names that a class reserves memory for in its instances."""
    return _layout(cls).slots


def _slots_of(cls: type) -> Iterator[str]:
    for base in reversed(cls.__mro__):
        slots = base.__dict__.get("__slots__", ())
        yield from (name for name in ([slots] if isinstance(slots, str) else slots) if name not in _PYTHONS_SLOTS)


def fields_of(value: Any) -> dict[str, Any]:
    """The attributes that an object has itself, in slots or in its ``__dict__``; declared fields in their order."""
    layout = _layout(type(value))
    own = getattr(value, "__dict__", {})
    names = {**layout.declared, **own} if layout.declared else own
    missing = object()
    found = {name: getattr(value, name, missing) for name in names if name in layout.slots or not is_pythons_own(name)}
    return {name: item for name, item in found.items() if item is not missing and (name in own or name in layout.slots)}


def plain_attributes(cls: type, names: Iterable[str]) -> tuple[str, ...]:
    """Those attributes of objects of a class that none of its code gives: no property, no ``__getattribute__``."""
    if any("__getattribute__" in vars(base) for base in cls.__mro__ if base is not object):
        return ()
    return tuple(name for name in names if not _is_given_by_code(cls, name))


def _is_given_by_code(cls: type, name: str) -> bool:
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    return hasattr(type(found), "__set__") and not isinstance(found, types.MemberDescriptorType)


def excluded_fields(x: object) -> list[str]:
    """The names of the fields that an object has and that do not vary by declaration."""
    excluded = no_derivative_fields(type(x))
    return [name for name in stored_fields(x) if name in excluded] if excluded else []


_MISSING = object()


def _has(x: object, name: str) -> bool:
    return own_attribute(x, name, _MISSING) is not _MISSING


def own_attribute(x: object, name: str, default: Any = None) -> Any:
    """An attribute that an object or its class has; ``__getattr__``, which may raise anything, is not asked."""
    try:
        return object.__getattribute__(x, name)
    except AttributeError:
        return default


def float_fields(cls: type) -> frozenset[str]:
    """The fields that are annotated ``float``: an integer in one of them counts as a float."""
    known = _float_fields.get(cls)
    if known is None:
        known = _float_fields[cls] = frozenset(_annotated_float(cls))
    return known


def _annotated_float(cls: type) -> Iterator[str]:
    for base in reversed(cls.__mro__):
        for name, annotation in own_annotations(base).items():
            if annotation in (float, "float"):
                yield name
                continue
            options = annotation.split("|") if isinstance(annotation, str) else typing.get_args(annotation)
            stripped = [option.strip() if isinstance(option, str) else option for option in options]
            if stripped and all(option in (float, "float", None, "None", type(None)) for option in stripped):
                yield name


def children(x: Any) -> list[tuple[str, Any]]:
    """The parts of a container, each with how one writes the way to it (``[0]``, ``.name``)."""
    if is_namedtuple(x):
        return [(f".{name}", getattr(x, name)) for name in x._fields]
    if isinstance(x, (tuple, list)):
        return [(f"[{index}]", item) for index, item in enumerate(x)]
    if isinstance(x, dict):
        return [(f"[{key!r}]", item) for key, item in x.items()]
    return [(f".{name}", getattr(x, name)) for name in field_names(x)]


def numbers_in(x: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """The numbers and arrays in a structure that are leaves, those of fields that do not vary included, each once."""
    if is_leaf_value(x):
        yield x
    elif is_container(x):
        seen = set() if seen is None else seen
        if id(x) in seen:
            return
        seen.add(id(x))
        if isinstance(x, dict):
            parts: Iterable[Any] = x.values()
        else:
            parts = x if isinstance(x, (list, tuple)) else [getattr(x, name) for name in stored_fields(x)]
        for part in parts:
            yield from numbers_in(part, seen)


def new_object(cls: type) -> Any:
    """An instance without fields, made without the user's ``__init__`` and ``__new__``."""
    return cls() if cls is types.SimpleNamespace else object.__new__(cls)


def set_field(x: object, name: str, value: object) -> None:
    """Sets a field past ``frozen`` and user-defined ``__setattr__``."""
    object.__setattr__(x, name, value)


def memberwise(cls: type[T], **fields: Any) -> T:
    """An instance of a class with these fields, made without its ``__init__`` and ``__new__``.

    Examples
    --------
    >>> import adjoint as ad
    >>> class Model:
    ...     def __init__(self):
    ...         raise RuntimeError("only from a file")
    >>> ad.memberwise(Model, weight=1.0).weight
    1.0
    """
    registered = registration(cls)
    if registered is not None and registered.make is not None:
        made: T = registered.make(**fields)
        return made
    result: T = new_object(cls)
    for name, value in fields.items():
        set_field(result, name, value)
    return result


def map_structure(fn: Leaf, *trees: Any) -> Any:
    """Applies ``fn`` to the leaves of structures that agree, and gives a structure like the first.

    Parameters
    ----------
    fn
        Called with one leaf of each structure. Everything that is no container is a leaf, ``None`` included.
    *trees
        Structures of tuples, lists, dicts and objects. What the first shares, the result shares.
    """
    return _map(fn, trees, {})


def _map(fn: Leaf, trees: tuple[Any, ...], memo: dict[tuple[int, ...], Any]) -> Any:
    first = trees[0]
    if not is_container(first):
        if isinstance(first, np.ndarray):
            key = tuple(map(id, trees))
            if key not in memo:
                memo[key] = fn(*trees)
            return memo[key]
        return fn(*trees)
    key = tuple(map(id, trees))
    if key in memo:
        return memo[key]
    for other in trees[1:]:
        _same_structure(first, other)
    result: Any
    if isinstance(first, tuple):
        items = [_map(fn, parts, memo) for parts in zip(*trees, strict=True)]
        result = memo[key] = type(first)(*items) if is_namedtuple(first) else tuple(items)
    elif isinstance(first, list):
        result = memo[key] = []
        result.extend(_map(fn, parts, memo) for parts in zip(*trees, strict=True))
    elif isinstance(first, dict):
        result = memo[key] = {}
        for name in first:
            result[name] = _map(fn, tuple(tree[name] for tree in trees), memo)
    else:
        result = _map_object(fn, trees, memo, key)
    return result


def _map_object(fn: Leaf, trees: tuple[Any, ...], memo: dict[tuple[int, ...], Any], key: tuple[int, ...]) -> Any:
    first = trees[0]
    kept = {name: getattr(first, name) for name in excluded_fields(first)}
    registered = registration(type(first))
    if registered is not None and registered.make is not None:
        fields = {name: _map(fn, tuple(getattr(tree, name) for tree in trees), memo) for name in field_names(first)}
        memo[key] = registered.make(**fields, **kept)
        return memo[key]
    result = memo[key] = new_object(type(first))
    for name in field_names(first):
        set_field(result, name, _map(fn, tuple(getattr(tree, name) for tree in trees), memo))
    for name, value in kept.items():
        set_field(result, name, value)
    return result


def _same_structure(first: Any, other: Any) -> None:
    if isinstance(first, (tuple, list)):
        agrees = isinstance(other, (tuple, list)) and len(first) == len(other)
    elif isinstance(first, dict):
        agrees = isinstance(other, dict) and first.keys() == other.keys()
    else:
        agrees = is_object(other) and set(field_names(first)) <= set(field_names(other))
    if not agrees:
        raise ValueError(f"structures differ: {type(first).__name__} and {type(other).__name__}")


def leaves_of(x: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The numbers and float arrays in a structure, and a function that puts others in their places.

    Returns
    -------
    leaves : list
        In order of the structure; an array that is reached on two ways appears once.
    rebuild : callable
        Takes a list of as many leaves and gives a structure like ``x``, made without any constructor of the user's.
        What carries no derivative is taken over as it is.
    """
    leaves: list[Any] = []
    positions: dict[int, int] = {}

    def collect(leaf: Any) -> Any:
        if is_leaf_value(leaf):
            if isinstance(leaf, np.ndarray):
                positions[id(leaf)] = len(leaves)
            leaves.append(leaf)
        return leaf

    map_structure(collect, x)

    def rebuild(new: list[Any]) -> Any:
        rest = iter(new)
        return map_structure(lambda leaf: next(rest) if is_leaf_value(leaf) else leaf, x)

    return leaves, rebuild
