"""The steps of a key path: to a field of an object, or to an item of a container."""

from __future__ import annotations

from typing import Any, get_origin

from adjoint.records import dataclass
from adjoint.types.classes.annotations import field_types
from adjoint.types.structure import is_namedtuple, is_object, new_object, set_field, stored_fields


@dataclass(frozen=True, slots=True)
class Field:
    """The step to an attribute, written ``.name``."""

    name: str

    def get(self, value: Any) -> Any:
        if not hasattr(value, self.name):
            raise LookupError
        return getattr(value, self.name)

    def set(self, value: Any, part: Any) -> None:
        setattr(value, self.name, part)

    def replaced(self, value: Any, part: Any) -> Any:
        """A value like ``value`` but for this field, made without the constructor of its class."""
        if is_namedtuple(value):
            return value._replace(**{self.name: part})
        names = [name for name in stored_fields(value) if name != self.name]
        result = new_object(type(value))
        for name in names:
            set_field(result, name, getattr(value, name))
        set_field(result, self.name, part)
        return result

    @property
    def order(self) -> tuple[str, str, Any]:
        return "", "", self.name

    def __str__(self) -> str:
        return f".{self.name}"


@dataclass(frozen=True, slots=True)
class Item:
    """The step to an element of a list or tuple, or to a value of a dict, written ``[0]`` or ``['key']``."""

    key: Any

    def get(self, value: Any) -> Any:
        if isinstance(value, (str, bytes)):
            raise LookupError
        return value[self.key]

    def set(self, value: Any, part: Any) -> None:
        value[self.key] = part

    def replaced(self, value: Any, part: Any) -> Any:
        """A value like ``value`` but for this item."""
        if isinstance(value, tuple):
            items = list(value)
            items[self.key] = part
            return type(value)(*items) if is_namedtuple(value) else tuple(items)
        result = value.copy()
        result[self.key] = part
        return result

    @property
    def order(self) -> tuple[str, str, Any]:
        if isinstance(self.key, (int, float, str)):
            kind = "number" if isinstance(self.key, (int, float)) else "str"
            return "[", kind, self.key
        return "[", type(self.key).__name__, repr(self.key)

    def __str__(self) -> str:
        return f"[{self.key!r}]"


Step = Field | Item


def structure_of(value: Any) -> str:
    """What a value is made of, in a few words: ``Model(layers: list of 2, scale: float)``."""
    if isinstance(value, type) or get_origin(value) is not None:
        fields = [f"{name}: {_name(annotation)}" for name, annotation in field_types(value).items()]
        return f"{(get_origin(value) or value).__qualname__}({', '.join(fields)})"
    if is_namedtuple(value) or is_object(value):
        names = value._fields if is_namedtuple(value) else stored_fields(value)
        return f"{type(value).__qualname__}({', '.join(f'{name}: {_brief(getattr(value, name))}' for name in names)})"
    return _brief(value)


def _name(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _brief(value: Any) -> str:
    kind = type(value).__qualname__
    if isinstance(value, dict):
        return f"{kind} with the keys {', '.join(map(repr, value))}" if value else f"empty {kind}"
    if isinstance(value, (list, tuple)) and not is_namedtuple(value):
        return f"{kind} of {len(value)}"
    shape = getattr(value, "shape", ())
    return f"{kind} of shape {shape}" if shape else kind
