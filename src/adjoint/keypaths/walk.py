"""All key paths of a value, or of a class whose declarations tell its structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

import numpy as np

from adjoint.keypaths.path import KeyPath, WritableKeyPath
from adjoint.keypaths.static import is_read_only, is_read_only_field, part_type
from adjoint.keypaths.steps import Field, Item, Step
from adjoint.types.classes.annotations import field_types, has_alternatives, plain
from adjoint.types.structure import is_namedtuple, is_object, stored_fields

Part = tuple[tuple[Step, ...], Any, bool]
"""The steps to a part, the part (of a class: its declared type), and whether it can be assigned to."""


def all_key_paths(value: Any, *, to: Any = None) -> list[KeyPath[Any, Any]]:
    """The key paths to the parts of a value: fields, elements of lists and tuples, values of dicts.

    Parameters
    ----------
    value
        A value; or a class, for the fields that it declares. A class whose values say themselves what their parts
        are has a method ``key_paths``, which gives key paths or names of fields.
    to
        Which of them: those to values of exactly this class; to arrays and NumPy scalars of a dtype; those for which
        a function of the part is true; or of any of these, in a tuple. For a class the declared types are asked.

    Returns
    -------
    list of KeyPath
        In the order of declaration, those without derivative included. What can be assigned to is a
        :class:`WritableKeyPath`: no tuple, no frozen object and no field declared ``Final`` lies on the way.

    Examples
    --------
    >>> import adjoint as ad
    >>> for path in ad.all_key_paths({"weight": 1.0, "name": "a"}):
    ...     print(path)
    ['weight']
    ['name']
    """
    return _collected(value, to, recursive=False, writable=False)


def all_writable_key_paths(value: Any, *, to: Any = None) -> list[WritableKeyPath[Any, Any]]:
    """Those of :func:`all_key_paths` that can be assigned to."""
    return _collected(value, to, recursive=False, writable=True)


def recursively_all_key_paths(value: Any, *, to: Any = None) -> list[KeyPath[Any, Any]]:
    """The key paths to the parts of a value, to their parts, and so on: each before those below it.

    Parameters
    ----------
    value, to
        As for :func:`all_key_paths`. The filter does not keep anything below a part from being looked at. Of a
        class, all structure must be declared: no lists, dicts or alternatives that hold further parts.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.recursively_all_key_paths({"layers": [1.0, 2.0]}, to=float)
    [WritableKeyPath(['layers'][0]), WritableKeyPath(['layers'][1])]
    """
    return _collected(value, to, recursive=True, writable=False)


def recursively_all_writable_key_paths(value: Any, *, to: Any = None) -> list[WritableKeyPath[Any, Any]]:
    """Those of :func:`recursively_all_key_paths` that can be assigned to: what optimizers run over."""
    return _collected(value, to, recursive=True, writable=True)


def _collected(value: Any, to: Any, *, recursive: bool, writable: bool) -> list[Any]:
    is_class = isinstance(value, type) or get_origin(value) is not None
    wanted = _declared_filter(to) if is_class else _filter(to)
    parts = _declared_parts if is_class else _parts
    origin = value if is_class else type(value)
    return [
        (WritableKeyPath if assignable else KeyPath)(steps, origin)
        for steps, part, assignable in walk(value, parts, recursive, ())
        if (assignable or not writable) and wanted(part)
    ]


def walk(
    value: Any, parts: Callable[[Any, bool], Iterator[Part]], recursive: bool, above: tuple[Any, ...]
) -> Iterator[Part]:
    above = (*above, value)
    for steps, part, writable in parts(value, recursive):
        yield steps, part, writable
        if recursive and not any(part is holder for holder in above):
            for below, inner, assignable in walk(part, parts, recursive, above):
                yield (*steps, *below), inner, writable and assignable


# -- of values


def _parts(value: Any, recursive: bool) -> Iterator[Part]:
    own = getattr(type(value), "key_paths", None)
    if own is not None:
        for path in own(value):
            path = path if isinstance(path, KeyPath) else WritableKeyPath((Field(path),), type(value))
            yield path.steps, path.get(value), isinstance(path, WritableKeyPath) and _is_writable(value, path.steps)
    elif is_namedtuple(value):
        for name in value._fields:
            yield (Field(name),), getattr(value, name), False
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield (Item(index),), item, isinstance(value, list)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (Item(key),), item, True
    elif is_object(value):
        for name in stored_fields(value):
            yield (Field(name),), getattr(value, name), not is_read_only_field(type(value), name)


def _is_writable(value: Any, steps: tuple[Step, ...]) -> bool:
    for step in steps:
        if is_read_only(type(value), step):
            return False
        value = step.get(value)
    return True


def _filter(to: Any) -> Callable[[Any], bool]:
    if to is None:
        return lambda part: True
    if isinstance(to, tuple):
        options = [_filter(option) for option in to]
        return lambda part: any(option(part) for option in options)
    if isinstance(to, np.dtype) or (isinstance(to, type) and issubclass(to, np.generic)):
        dtype = np.dtype(to)
        return lambda part: isinstance(part, (np.ndarray, np.generic)) and part.dtype == dtype
    if isinstance(to, type):
        return lambda part: type(part) is to
    if callable(to):
        return lambda part: bool(to(part))
    raise TypeError(f"to= takes a class, a dtype, a function of the part, or a tuple of these, not {to!r}")


# -- of classes


def _declared_parts(annotation: Any, recursive: bool) -> Iterator[Part]:
    declared = annotation
    annotation = plain(annotation)
    origin, args = get_origin(annotation) or annotation, get_args(annotation)
    if origin is tuple and args and args[-1] is not Ellipsis:
        for index, item in enumerate(args):
            yield (Item(index),), item, False
        return
    fields = field_types(annotation)
    if (fields and has_alternatives(declared)) or origin in (list, dict, tuple):
        raise TypeError(f"only a value tells the parts of {declared!r}: ask for the key paths of one")
    for name in fields:
        step = Field(name)
        yield (step,), part_type(annotation, step), not is_read_only(annotation, step)


def _declared_filter(to: Any) -> Callable[[Any], bool]:
    if to is None:
        return lambda declared: True
    if isinstance(to, tuple):
        options = [_declared_filter(option) for option in to]
        return lambda declared: any(option(declared) for option in options)
    if isinstance(to, np.dtype) or (isinstance(to, type) and issubclass(to, np.generic)):
        scalar = np.dtype(to).type
        return lambda declared: _declared_scalar(declared) is scalar
    if isinstance(to, type):
        return lambda declared: (get_origin(plain(declared)) or plain(declared)) is to
    return lambda declared: bool(to(declared))


def _declared_scalar(declared: Any) -> Any:
    """The NumPy scalar class of a declared array or scalar."""
    declared = plain(declared)
    if get_origin(declared) is np.ndarray:
        dtypes = get_args(get_args(declared)[1])
        return dtypes[0] if dtypes else None
    return declared
