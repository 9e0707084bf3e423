"""The members of protocols that a class names among its bases and does not define, written field by field.

They are written as Python text, so that they can be read, stepped through and differentiated like anything else.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from typing import Any, NoReturn, get_args, get_origin

import numpy as np

from adjoint.types import protocols
from adjoint.types.classes.annotations import field_types, has_alternatives, plain
from adjoint.types.structure import memberwise

_BINARY = {"__add__": "+", "__sub__": "-"}
_WITH_NUMBERS = {"__mul__": "*", "__truediv__": "/"}
_CONSTANTS = {"zero": "0.0", "one": "1.0"}
_ELEMENTARY = {
    **{name: (f"math.{name}", f"np.{name}") for name in ("sqrt", "cos", "sin", "tan", "cosh", "sinh", "tanh")},
    **{name: (f"math.{name}", f"np.arc{name[1:]}") for name in ("acos", "asin", "atan", "acosh", "asinh", "atanh")},
    **{name: (f"math.{name}", f"np.{name}") for name in ("exp", "expm1", "log", "log2", "log10", "log1p")},
}
_POWERS = {"exp2": "2.0", "exp10": "10.0"}


def missing_members(cls: type) -> list[str]:
    """The members of the protocols among the bases of a class that neither it nor another base defines."""
    wanted: dict[str, None] = {}
    for protocol in protocols.PROTOCOLS:
        if protocol in cls.__mro__ and protocol is not protocols.Differentiable:
            wanted.update(dict.fromkeys(_members(protocol)))
    return [name for name in wanted if _is_of_a_protocol(cls, name)]


def _members(protocol: Any) -> Iterator[str]:
    for base in protocol.__mro__:
        if base in protocols.PROTOCOLS:
            yield from (name for name in vars(base) if _is_member(name))


def _is_member(name: str) -> bool:
    return not name.startswith("_") or name in ("__add__", "__sub__", "__mul__", "__rmul__", "__truediv__")


def _is_of_a_protocol(cls: type, name: str) -> bool:
    owner = next((base for base in cls.__mro__ if name in vars(base)), None)
    return owner is None or owner in protocols.PROTOCOLS


def conform(cls: type) -> None:
    """Adds to a class the members of protocols that it lacks."""
    write_members(cls, missing_members(cls))


def write_members(cls: type, missing: list[str]) -> None:
    """Adds members of protocols to a class, field by field."""
    if not missing:
        return
    writer = _Writer(cls, field_types(cls))
    text = "\n\n".join(writer.member(name) for name in missing) + "\n"
    filename = f"members of {cls.__module__}.{cls.__qualname__} {zlib.crc32(text.encode()):08x}"
    namespace: dict[str, Any] = writer.names | {cls.__name__: cls, "math": math, "np": np, "memberwise": memberwise}
    found = ModuleSpec(cls.__module__, _Text(text))  # type: ignore[arg-type]
    namespace |= {"__name__": found.name, "__loader__": found.loader, "__spec__": found}
    exec(compile(text, filename, "exec"), namespace)
    for name in missing:
        member = namespace[name]
        member.__qualname__ = f"{cls.__qualname__}.{name}"
        if name == "zero":
            member = Zero(member)
        elif name in ("one", "reciprocal"):
            member = property(member)
        elif name in ("from_scalar", "filled"):
            member = classmethod(member)
        setattr(cls, name, member)


class Zero(property):
    """The zero of a value, of its structure; of the class, the one that declarations tell."""

    def __get__(self, value: Any, cls: type | None = None) -> Any:
        if value is None and cls is not None:
            return zero_of(cls)
        return super().__get__(value, cls)


def zero_of(cls: type) -> Any:
    """The zero of a class whose fields are numbers, arrays (zero of any shape), tuples and classes of these."""
    try:
        return memberwise(cls, **{name: _zero(kind) for name, kind in field_types(cls).items()})
    except LookupError as unknown:
        text = f"only a value of {cls.__qualname__} tells the structure of its zero: {unknown.args[0]!r} does not"
        raise AttributeError(text) from None


def _zero(annotation: Any) -> Any:
    kind = plain(annotation)
    origin, args = get_origin(kind) or kind, get_args(kind)
    if isinstance(origin, type):
        if issubclass(origin, (float, complex, np.inexact)):
            return origin()
        if issubclass(origin, np.ndarray):
            scalars = get_args(args[1]) if len(args) == 2 else ()
            return np.zeros((), dtype=scalars[0] if scalars else float)
        if issubclass(origin, tuple) and args and args[-1] is not Ellipsis:
            return tuple(map(_zero, args))
        if hasattr(origin, "zero"):
            return origin.zero
    raise LookupError(annotation)


class _Text:
    """Where tracebacks, debuggers and the compiler find the text of what has no file."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        return self.text


class _Writer:
    """Writes members of one class."""

    def __init__(self, cls: type, fields: dict[str, Any]) -> None:
        self.cls, self.fields = cls, fields
        self.names: dict[str, Any] = {}
        """The classes that the text refers to."""

    def member(self, name: str) -> str:
        if name in _BINARY:
            return self.binary(name, _BINARY[name])
        if name in _WITH_NUMBERS:
            return self.with_numbers(name, _WITH_NUMBERS[name])
        if name == "__rmul__":
            return "def __rmul__(self, factor):\n    return self * factor"
        if name in _CONSTANTS:
            return self.unary(name, lambda kind, part: _constant(kind, part, _CONSTANTS[name]))
        if name == "reciprocal":
            return self.unary(name, lambda kind, part: f"{part}.reciprocal" if _is_nested(kind) else f"1.0 / {part}")
        if name == "from_scalar":
            return self.made("def from_scalar(cls, scalar):", "scalar")
        if name == "filled":
            return self.made("def filled(cls, dimensionality, value):", "value")
        if name in ("pow", "root"):
            return self.power(name)
        return self.unary(name, lambda kind, part: _elementary(name, kind, part))

    def made(self, head: str, scalar: str) -> str:
        parts = [f"{name}={self.filled_with(scalar, kind, name)}" for name, kind in self.fields.items()]
        return f"{head}\n    return {self.maker}{', '.join(parts)})"

    @property
    def maker(self) -> str:
        """How a value is made of its fields: by the constructor, where that does nothing else."""
        synthesised = getattr(vars(self.cls).get("__init__"), "__code__", None)
        plain_init = synthesised is not None and synthesised.co_filename.startswith("<string>")
        if plain_init and not hasattr(self.cls, "__post_init__"):
            return f"{self.cls.__name__}("
        return f"memberwise({self.cls.__name__}, "

    def unary(self, name: str, of: Any) -> str:
        parts = ", ".join(f"{field}={self.each(of, kind, f'self.{field}')}" for field, kind in self.fields.items())
        return f"def {name}(self):\n    return {self.maker}{parts})"

    def each(self, of: Any, kind: Any, part: str, depth: int = 0) -> str:
        """An expression for a part of a declared type, container by container."""
        kind = self.known(kind, part)
        origin, args, item = get_origin(kind), get_args(kind), f"part{depth or ''}"
        if origin is list:
            return f"[{self.each(of, args[0], item, depth + 1)} for {item} in {part}]"
        if origin is dict:
            below = self.each(of, args[1], f"{part}[key]", depth + 1)
            return f"{{key: {below} for key in {part}}}"
        if origin is tuple:
            items = [self.each(of, arg, f"{part}[{i}]", depth) for i, arg in enumerate(args)]
            return f"({', '.join(items)},)"
        return str(of(kind, part))

    def paired(self, operator: str, kind: Any, part: str, other: str, depth: int = 0) -> str:
        kind = self.known(kind, part)
        origin, args, (a, b) = get_origin(kind), get_args(kind), (f"a{depth or ''}", f"b{depth or ''}")
        if origin is list:
            return (
                f"[{self.paired(operator, args[0], a, b, depth + 1)} for {a}, {b} in zip({part}, {other}, strict=True)]"
            )
        if origin is dict:
            below = self.paired(operator, args[1], f"{part}[key]", f"{other}[key]", depth + 1)
            return f"{{key: {below} for key in {part}}}"
        if origin is tuple:
            items = [self.paired(operator, arg, f"{part}[{i}]", f"{other}[{i}]", depth) for i, arg in enumerate(args)]
            return f"({', '.join(items)},)"
        return f"{part} {operator} {other}"

    def known(self, kind: Any, part: str) -> Any:
        refused = has_alternatives(kind)
        kind = plain(kind)
        origin = get_origin(kind) or kind
        if origin is tuple and get_args(kind)[-1:] == (Ellipsis,):
            refused = True
        unknown = not isinstance(origin, type) or origin is object
        if refused or unknown or (origin in (list, dict, tuple) and not get_args(kind)):
            self.refuse(kind, part)
        return kind

    def refuse(self, kind: Any, part: str) -> NoReturn:
        where = f"{self.cls.__qualname__}.{part.removeprefix('self.')}"
        raise TypeError(f"{where}: arithmetic cannot be synthesised for a field of the type {kind!r}")

    def binary(self, name: str, operator: str) -> str:
        return (
            f"def {name}(self, other):\n"
            f"    if not isinstance(other, {self.cls.__name__}):\n"
            f"        return NotImplemented\n"
            f"    return {self.combined(operator)}"
        )

    def combined(self, operator: str) -> str:
        parts = [
            f"{field}={self.paired(operator, kind, f'self.{field}', f'other.{field}')}"
            for field, kind in self.fields.items()
        ]
        return f"{self.maker}{', '.join(parts)})"

    def with_numbers(self, name: str, operator: str) -> str:
        scaled = [
            f"{field}={self.each(lambda _, part: f'{part} {operator} other', kind, f'self.{field}')}"
            for field, kind in self.fields.items()
        ]
        return (
            f"def {name}(self, other):\n"
            f"    if isinstance(other, {self.cls.__name__}):\n"
            f"        return {self.combined(operator)}\n"
            f"    return {self.maker}{', '.join(scaled)})"
        )

    def power(self, name: str) -> str:
        argument = "exponent" if name == "pow" else "n"

        def of(kind: Any, part: str) -> str:
            if _is_nested(kind):
                return f"{part}.{name}({argument})"
            if name == "pow":
                return f"{part} ** exponent"
            return f"np.sign({part}) * abs({part}) ** (1 / n) if n % 2 else {part} ** (1 / n)"

        return self.unary(name, of).replace("(self)", f"(self, {argument})", 1)

    def filled_with(self, scalar: str, kind: Any, part: str) -> str:
        """An expression for a part of a declared type that is the same number everywhere."""
        kind = self.known(kind, part)
        origin, args = get_origin(kind) or kind, get_args(kind)
        if origin in (list, dict):
            self.refuse(kind, part)
        if origin is tuple:
            return f"({', '.join(self.filled_with(scalar, arg, part) for arg in args)},)"
        if origin is np.ndarray:
            return f"np.asarray({scalar})" if scalar == "scalar" else f"np.full(tuple(dimensionality), {scalar})"
        self.names[origin.__name__] = origin
        if _is_nested(kind):
            arguments = f".from_scalar({scalar})" if scalar == "scalar" else f".filled(dimensionality, {scalar})"
            return f"{origin.__name__}{arguments}"
        return f"{origin.__name__}({scalar})"


def _is_nested(kind: Any) -> bool:
    origin = get_origin(kind) or kind
    return isinstance(origin, type) and not issubclass(origin, (float, complex, np.generic, np.ndarray))


def _constant(kind: Any, part: str, value: str) -> str:
    if _is_nested(kind):
        return f"{part}.{'zero' if value == '0.0' else 'one'}"
    if (get_origin(kind) or kind) is np.ndarray:
        return f"np.{'zeros' if value == '0.0' else 'ones'}_like({part})"
    return value if kind is float else f"{part} * 0 + {value}" if value != "0.0" else f"{part} * 0"


def _elementary(name: str, kind: Any, part: str) -> str:
    if _is_nested(kind):
        return f"{part}.{name}()"
    if name in _POWERS:
        return f"{_POWERS[name]} ** {part}"
    of_float, of_array = _ELEMENTARY[name]
    return f"{of_float if kind is float else of_array}({part})"
