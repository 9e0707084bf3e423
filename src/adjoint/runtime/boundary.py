"""Where tangents and cotangents come in from users: they are checked against the values that they belong to."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.diagnostics import DifferentiationError, diagnostic, error
from adjoint.runtime.arithmetic.checks import brings_arithmetic, ways_out
from adjoint.types.array_libraries import is_foreign, library_of, name_of, name_of_dtype
from adjoint.types.structure import (
    CONTAINERS,
    field_names,
    float_fields,
    is_container,
    is_float_array,
    is_namedtuple,
    is_number,
    new_object,
    set_field,
)
from adjoint.types.vectors import TangentVector, belongs_to, tangent_class
from adjoint.types.zero import ZERO

__all__ = ["check_cotangent", "check_tangent"]


def check_cotangent(cotangent: Any, like: Any, what: str = "the cotangent") -> Any:
    """A cotangent that a user gives, with the structure and types of the value that it belongs to.

    Parameters
    ----------
    cotangent
        None, whole or in part, is zero and stays None. Whole numbers stand for floats.
    like
        The value that it belongs to.
    what
        What messages call it.

    Returns
    -------
    object
        The same structure with numbers and arrays of the types of ``like``. It may share memory with ``cotangent``.

    Raises
    ------
    DifferentiationError
        AD0409, with the path at which the structures differ.
    """
    return cotangent if _is_such_an_array(cotangent, like) else _Check("cotangent", like).of(cotangent, like, what)


def check_tangent(tangent: Any, like: Any, what: str = "the tangent", place: int | None = None) -> Any:
    """A tangent that a user gives; as :func:`check_cotangent`. The place is said behind what it is called."""
    if tangent is None or (_is_such_an_array(tangent, like) and _are_laid_out_alike(tangent, like)):
        return tangent
    return _Check("tangent", like).of(tangent, like, what if place is None else f"{what} {place}")


def check_class(x: Any, what: str) -> None:
    """Refuses a value of a class that inherits from numbers, arrays or containers: derivatives do not go through it."""
    cls = type(x)
    if cls in _OWN or isinstance(x, np.generic):
        return
    ways: tuple[str, ...] = ()
    if isinstance(x, np.ndarray) and brings_arithmetic(cls):
        ways = ways_out(cls)
    elif isinstance(x, (float, list, dict)):
        plain = next(base.__name__ for base in (float, list, dict) if isinstance(x, base))
        ways = (f"hand over a plain {plain}: {plain}(x)",)
    if ways:
        raise error("AD0404", None, f"{what} is of an object of class {cls.__name__!r}", helps=ways)


_OWN = (float, int, bool, complex, str, tuple, *CONTAINERS, np.ndarray, type(None))


def _is_such_an_array(given: Any, like: Any) -> bool:
    """Whether an array has the shape and the dtype of another, which is one of floats or complex numbers."""
    return (
        type(given) is np.ndarray
        and type(like) is np.ndarray
        and given.dtype is like.dtype
        and given.shape == like.shape
        and like.dtype.kind in "fc"
    )


def _are_laid_out_alike(tangent: Any, like: Any) -> bool:
    """Whether what gives a view of one array gives a view of the other."""
    return bool(like.ndim < 2 or tangent.strides == like.strides or like.size == 0)


class _Check:
    """One walk over a given structure and the value that it belongs to."""

    def __init__(self, kind: str, whole: Any) -> None:
        self.kind = kind
        self.whole = whole
        self.memo: dict[tuple[int, int], Any] = {}

    def of(self, given: Any, like: Any, path: str) -> Any:
        if given is None or given is ZERO:
            return None
        if self.kind == "tangent":
            check_class(like, path)
        if is_number(like):
            return self.number(given, like, path)
        if isinstance(like, np.ndarray):
            return self.array(given, like, path)
        if is_foreign(like):
            return self.foreign(given, like, path)
        if not is_container(like):
            raise self.problem(path, given, "None, because the value there does not vary")
        key = (id(given), id(like))
        if key not in self.memo:
            self.container(given, like, path, key)
        return self.memo[key]

    def container(self, given: Any, like: Any, path: str, key: tuple[int, int]) -> None:
        if isinstance(like, tuple):
            self.memo[key] = self.tuple(given, like, path)
        elif isinstance(like, list):
            self.sequence(given, like, path, list)
            result: list[Any] = []
            self.memo[key] = result
            result.extend(self.of(part, item, f"{path}[{i}]") for i, (part, item) in enumerate(zip(given, like)))  # noqa: B905
        elif isinstance(like, dict):
            if not isinstance(given, dict):
                raise self.problem(path, given, "a dict")
            for name in given:
                if name not in like:
                    raise self.problem(f"{path}[{name!r}]", given[name], "nothing: there is no such key")
            self.memo[key] = {name: self.of(given.get(name), item, f"{path}[{name!r}]") for name, item in like.items()}
        else:
            self.memo[key] = result_object = new_object(tangent_class(type(like)))
            self.object(given, like, path, result_object)

    def number(self, given: Any, like: Any, path: str) -> Any:
        if type(given) is float and type(like) is float:
            return given
        if isinstance(given, np.ndarray) and given.ndim == 0:
            given = given[()]
        if isinstance(given, (bool, np.bool_)) or not isinstance(given, (int, float, complex, np.number)):
            raise self.problem(path, given, _name_of_number(like))
        is_complex = isinstance(like, (complex, np.complexfloating))
        if isinstance(given, (complex, np.complexfloating)) and not is_complex:
            raise self.problem(path, given, _name_of_number(like))
        if isinstance(like, np.generic):
            return like.dtype.type(given)
        return complex(given) if is_complex else float(given)  # type: ignore[arg-type]

    def array(self, given: Any, like: Any, path: str) -> Any:
        if not is_float_array(like):
            raise self.problem(path, given, "None, because the array there does not vary")
        if like.ndim == 0 and isinstance(given, (int, float, np.number)) and not isinstance(given, bool):
            given = np.asarray(given)
        fits = isinstance(given, np.ndarray) and given.shape == like.shape and given.dtype.kind in "iufc"
        if not fits or (given.dtype.kind == "c" and like.dtype.kind != "c"):
            raise self.problem(path, given, f"an array of shape {like.shape} and dtype {like.dtype}")
        result = np.asarray(given, dtype=like.dtype)
        if self.kind != "tangent" or _are_laid_out_alike(result, like):
            return result
        alike = np.empty_like(like, subok=False)
        alike[...] = result
        return alike

    def foreign(self, given: Any, like: Any, path: str) -> Any:
        """An array of another library than NumPy."""
        from adjoint.runtime.array_libraries.values import fitting  # lazy

        if not is_float_array(like):
            raise self.problem(path, given, "None, because the array there does not vary")
        result = fitting(given, like)
        if result is None:
            kind = f"an array of {library_of(like)}, of shape {tuple(like.shape)} and dtype {name_of_dtype(like.dtype)}"
            raise self.problem(path, given, kind)
        return result

    def tuple(self, given: Any, like: Any, path: str) -> Any:
        self.sequence(given, like, path, tuple)
        named = is_namedtuple(like)
        steps = [f".{name}" for name in like._fields] if named else [f"[{i}]" for i in range(len(like))]
        items = [self.of(part, item, path + step) for part, item, step in zip(given, like, steps, strict=True)]
        return type(like)(*items) if named else tuple(items)

    def sequence(self, given: Any, like: Any, path: str, cls: type[Any]) -> None:
        if not isinstance(given, cls) or len(given) != len(like):
            raise self.problem(path, given, f"a {cls.__name__} of length {len(like)}")

    def object(self, given: Any, like: Any, path: str, result: TangentVector) -> None:
        names = field_names(like)
        counted = float_fields(type(like))
        present = _given_fields(given)
        another = isinstance(given, TangentVector) and not belongs_to(given, type(like))
        if present is None or another:
            raise self.problem(path, given, f"a {tangent_class(type(like)).__qualname__}")
        for name in present:
            if name not in names and getattr(given, name) is not None:
                raise self.problem(f"{path}.{name}", getattr(given, name), "nothing: there is no such field")
        for name in names:
            item, part = getattr(like, name), getattr(given, name, None)
            if isinstance(item, int) and name in counted and not isinstance(item, bool):
                item = float(item)
            if part is not None:
                set_field(result, name, self.of(part, item, f"{path}.{name}"))

    def problem(self, path: str, given: Any, wanted: str) -> Exception:
        text = f"{path}: expected {wanted}, got {_describe(given)}"
        fitting = _fitting(self.whole)
        helps = (f"one that fits: {fitting}",) if len(fitting) <= _MOST_SHOWN else ()
        return DifferentiationError(diagnostic("AD0409", None, text, helps=helps, kind=self.kind))


_MOST_SHOWN = 100


def _fitting(like: Any, depth: int = 4) -> str:
    """How a tangent of a value may be written."""
    if is_number(like):
        return "1.0"
    if is_foreign(like):
        return f"{name_of(like)}.ones({tuple(like.shape)})" if is_float_array(like) else "None"
    if isinstance(like, np.ndarray):
        if not is_float_array(like):
            return "None"
        return f"np.ones({like.shape[0] if like.ndim == 1 else like.shape})"
    if not is_container(like) or depth == 0:
        return "None"
    if isinstance(like, dict):
        return "{" + ", ".join(f"{key!r}: {_fitting(item, depth - 1)}" for key, item in like.items()) + "}"
    if isinstance(like, list):
        return f"[{', '.join(_fitting(item, depth - 1) for item in like)}]"
    if isinstance(like, tuple):
        items = [_fitting(item, depth - 1) for item in like]
        if is_namedtuple(like):
            return f"{type(like).__name__}({', '.join(items)})"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    fields = [f"{name}={_fitting(getattr(like, name), depth - 1)}" for name in field_names(like)]
    return f"{tangent_class(type(like)).__qualname__}({', '.join(fields)})"


def _given_fields(given: Any) -> list[str] | None:
    if isinstance(given, (int, float, complex, str, bytes, np.ndarray, np.generic, tuple, list, dict)):
        return None
    if hasattr(given, "__dict__") or hasattr(type(given), "__slots__"):
        return field_names(given)
    return None


def _name_of_number(like: Any) -> str:
    if isinstance(like, np.generic):
        return f"a number of dtype {like.dtype}"
    return "a complex number" if isinstance(like, complex) else "a float"


def _describe(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"an array of shape {x.shape} and dtype {x.dtype}"
    if is_foreign(x):
        return f"an array of {library_of(x)}, of shape {tuple(x.shape)} and dtype {name_of_dtype(x.dtype)}"
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of length {len(x)}"
    if isinstance(x, (int, float, complex, np.number)):
        return f"{x!r}"
    return f"a {type(x).__qualname__}" if x is not None else "None"


def check_matrix_argument(x: Any, place: int | None) -> None:
    """Refuses what a matrix of derivatives cannot be made of: anything but numbers and arrays of floats."""
    if isinstance(x, (float, np.floating)) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc"):
        return
    what = "the result" if place is None else f"argument {place}"
    integers = isinstance(x, np.ndarray) and x.dtype.kind in "iu"
    code = "AD0403" if integers or (isinstance(x, (int, np.integer)) and not isinstance(x, bool)) else "AD0404"
    kind = f"an array of {x.dtype}" if isinstance(x, np.ndarray) else f"of class {type(x).__name__!r}"
    raise error(code, None, f"{what} is {kind}; a matrix of derivatives needs floats, or an array of floats")
