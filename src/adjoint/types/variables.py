"""The variables of a value: all of it that varies, as one value that can be read, replaced and written."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from adjoint.types.registry import registration
from adjoint.types.structure import (
    children,
    excluded_fields,
    field_names,
    is_container,
    is_leaf_value,
    is_namedtuple,
    is_object,
    memberwise,
    new_object,
    set_field,
)
from adjoint.types.vectors import SYNTHESISED, Fields, TangentVector, shadow_class, tangent_class, variables_class

T = TypeVar("T")


def differentiable_variables(value: Any) -> Any:
    """A copy of all of a value that varies.

    Returns
    -------
    object
        For an object one of its ``DifferentiableVariables``, which is the class of its tangents wherever what
        varies is a vector; for containers the same container; None for what does not vary.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.differentiable_variables({"weight": 1.0, "name": "a"})
    {'weight': 1.0, 'name': None}
    """
    if isinstance(value, np.ndarray) and is_leaf_value(value):
        return value.copy()
    if is_leaf_value(value):
        return value
    if not is_container(value):
        return None
    if is_object(value):
        return _of_object(value)
    if isinstance(value, dict):
        return {key: differentiable_variables(item) for key, item in value.items()}
    items = [differentiable_variables(item) for item in value]
    if isinstance(value, list):
        return items
    return type(value)(*items) if is_namedtuple(value) else tuple(items)


def _of_object(value: Any) -> Any:
    if is_manifold(type(value)):
        return value
    counted = {name: differentiable_variables(getattr(value, name)) for name in field_names(value)}
    fields = {name: part for name, part in counted.items() if part is not None}
    if not fields:
        return None
    made = new_object(_class_for(type(value), fields))
    for name, part in fields.items():
        set_field(made, name, part)
    return made


def _class_for(cls: type, fields: dict[str, Any]) -> type:
    if issubclass(cls, Fields):
        return cls
    vectors = all(_is_vector(part) for part in fields.values())
    return tangent_class(cls) if vectors else variables_class(cls)


def _is_vector(part: Any) -> bool:
    if is_object(part):
        return isinstance(part, TangentVector) or tangent_class(type(part)) is type(part)
    return all(_is_vector(item) for _, item in children(part)) if is_container(part) else True


def is_manifold(cls: type) -> bool:
    """Whether the values of a class say themselves how they move: they are points, and no vectors."""
    registered = registration(cls)
    if registered is not None:
        return registered.moved is not None
    own = getattr(cls, "moved", None)
    return own is not None and own.__module__ not in SYNTHESISED and not issubclass(cls, Fields)


def with_variables(value: T, variables: Any) -> T:
    """A value like ``value`` that has these variables; what does not vary is taken over.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.with_variables((1.0, "text"), (5.0, None))
    (5.0, 'text')
    """
    result: T = _with_variables(value, variables, "the variables")
    return result


def _with_variables(value: Any, variables: Any, path: str) -> Any:
    if variables is None:
        return value
    if is_leaf_value(value) or isinstance(value, (int, np.integer)):
        return _leaf(value, variables, path)
    if not is_container(value):
        raise ValueError(f"{path}: {type(value).__qualname__} does not vary, but got {variables!r}")
    if is_object(value):
        return _object_with(value, variables, path)
    if type(variables) is not type(value) or len(variables) != len(value):
        raise ValueError(f"{path}: structures differ: {type(value).__qualname__} and {type(variables).__qualname__}")
    if isinstance(value, dict):
        return {key: _with_variables(item, variables[key], f"{path}[{key!r}]") for key, item in value.items()}
    pairs = enumerate(zip(value, variables, strict=True))
    items = [_with_variables(item, part, f"{path}[{index}]") for index, (item, part) in pairs]
    if isinstance(value, list):
        return items
    return type(value)(*items) if is_namedtuple(value) else tuple(items)


def _leaf(value: Any, variables: Any, path: str) -> Any:
    if isinstance(value, np.ndarray):
        if np.shape(variables) != value.shape:
            raise ValueError(f"{path}: expected an array of shape {value.shape}, got {np.shape(variables)}")
        return np.array(variables, dtype=value.dtype)
    if not isinstance(variables, (int, float, complex, np.number)):
        raise ValueError(f"{path}: expected a number, got {type(variables).__qualname__}")
    if isinstance(value, np.generic):
        return value.dtype.type(variables)
    return complex(variables) if isinstance(value, complex) else float(variables)  # type: ignore[arg-type]


def _object_with(value: Any, variables: Any, path: str) -> Any:
    cls = type(value)
    if is_manifold(cls):
        if type(variables) is not cls:
            raise ValueError(f"{path}: expected a {cls.__qualname__}, got {type(variables).__qualname__}")
        return variables
    accepted = (cls, tangent_class(cls), shadow_class(cls), variables_class(cls))
    if type(variables) not in accepted:
        raise ValueError(f"{path}: expected the variables of {cls.__qualname__}, got {type(variables).__qualname__}")
    fields = {name: getattr(value, name) for name in (*field_names(value), *excluded_fields(value))}
    for name in field_names(value):
        fields[name] = _with_variables(fields[name], getattr(variables, name, None), f"{path}.{name}")
    return memberwise(cls, **fields)


def assign_variables(value: Any, variables: Any) -> None:
    """Writes variables into an object, all of which must be mutable."""
    problem = immutable_part(value, type(value).__qualname__)
    if problem is not None:
        raise AttributeError(f"{problem} is immutable: use with_variables, which makes a new value")
    _assign(value, _with_variables(value, variables, "the variables"))


def _assign(value: Any, new: Any) -> None:
    """Takes over the fields of ``new``, keeping the identity of the objects, lists and dicts in ``value``."""
    for name in field_names(value):
        old, part = getattr(value, name), getattr(new, name)
        if is_object(old) and not is_manifold(type(old)):
            _assign(old, part)
        elif isinstance(old, list):
            old[:] = part
        elif isinstance(old, dict):
            old.update(part)
        else:
            setattr(value, name, part)


def immutable_part(value: Any, path: str) -> str | None:
    """Where an object is frozen, or has a part that varies and is; None where all is mutable."""
    if not is_object(value) or is_manifold(type(value)):
        return None
    params = getattr(type(value), "__dataclass_params__", None)
    if params is not None and params.frozen and field_names(value):
        return path
    parts = ((f"{path}.{name}", getattr(value, name)) for name in field_names(value))
    return next((found for way, part in parts if (found := immutable_part(part, way)) is not None), None)
