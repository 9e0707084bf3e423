"""What a specialisation remembers of captured data: where it came from, so that it can be read and compared again."""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adjoint import ir
from adjoint.analysis.user_code_effects import is_of_the_user
from adjoint.records import dataclass
from adjoint.rules.registry import is_of_users
from adjoint.runtime.arithmetic.checks import brings_arithmetic
from adjoint.sources.library_folders import is_class_of_a_library
from adjoint.types.array_libraries import is_foreign
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.structure import DICTS, is_written_in_python, own_attribute, slots_of

MAX_PARTS = 64
"""Up to how many parts of a list or dict of structures are taken one by one."""
Path = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Captured:
    """Data read at each call: how to get it, and the variable that stands for it."""

    path: Path
    read: Callable[[Any], Any]
    """Takes the function that is differentiated: what it captures itself is read from there."""
    var: ir.Var
    is_written: bool = False
    """Whether the function writes what varies there, or to an object whose parts are known: as to an argument."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A captured value that the specialisation took for a constant."""

    path: Path
    read: Callable[[Any], Any]
    value: Any

    def holds(self, function: Any) -> bool:
        """Whether the value is still the one that was taken, for this object of the differentiated function."""
        try:
            now = self.read(function)
        except (KeyError, AttributeError, ValueError):
            return False
        return (
            now is self.value
            or is_twin(now, self.value)
            or _is_same_constant(now, self.value)
            or (type(now) is type(self.value) and isinstance(now, _COMPARED) and now == self.value)
        )


class LengthGuard(Guard):
    """That a captured list has as many items as it had: how many is not told by what is looked at otherwise."""


def length_guard(path: Path, keys: Path, count: int) -> Guard:
    """The guard of a list that lies in what was captured, behind attributes and items."""
    read = reader(path)
    return LengthGuard(("length", path, keys), lambda function: len(part_at(read(function), keys)), count)


class NamesGuard(Guard):
    """That a class has what it had, by the names that a program goes through."""


def names_guard(cls: type) -> Guard:
    """The guard of the names of what a class has."""
    return NamesGuard(("names", cls), lambda function: " ".join(dir(cls)), " ".join(dir(cls)))


class CodeGuard(Guard):
    """That functions have the code that was read: what reloads a module may give old functions new code."""

    def holds(self, function: Any) -> bool:
        """Whether each still has the code object that it had."""
        return all(now.__code__ is code for now, code in self.value)


def code_guards(functions: Iterable[types.FunctionType]) -> tuple[Guard, ...]:
    """The guard of the code of users' functions, if there are any."""
    pairs = tuple([(each, each.__code__) for each in functions if is_of_the_user(each)])
    return (CodeGuard(("codes",), lambda function: pairs, pairs),) if pairs else ()


def part_at(value: Any, keys: Sequence[Any]) -> Any:
    """What lies in a value behind attributes and items, by names, places and keys."""
    for key in keys:
        value = getattr(value, key) if hasattr(value, "__dict__") or not hasattr(value, "__getitem__") else value[key]
    return value


_COMPARED = (bool, int, str, bytes, float, types.BuiltinMethodType)
"""Classes of what is the same where it is equal: methods of built-in classes are made anew when they are asked for."""


CONSTANT = "__adjoint_constant__"
"""The attribute by which values of a class are constants: two are the same where theirs are equal."""


def _is_same_constant(now: Any, before: Any) -> bool:
    if type(now) is not type(before) or not is_marked(type(now), CONSTANT):
        return False
    return bool(getattr(now, CONSTANT) == getattr(before, CONSTANT))


def is_twin(a: Any, b: Any) -> bool:
    """Whether two function objects came from one ``def`` that captures nothing, and have no attributes."""
    return (
        type(a) is types.FunctionType is type(b)
        and a.__code__ is b.__code__
        and a.__globals__ is b.__globals__
        and not (is_of_users(a) or is_of_users(b))
        and not (vars(a) or vars(b))
        and not (a.__closure__ or a.__defaults__ or a.__kwdefaults__ or b.__defaults__ or b.__kwdefaults__)
    )


def reader(path: Path) -> Callable[[Any], Any]:
    """How to read a captured value again."""
    match path:
        case ("global", table, name):
            fallback = builtins.__dict__
            return lambda _: table[name] if name in table else fallback[name]
        case ("attribute", owner, name):
            return lambda _: getattr(owner, name)
        case ("has", owner, name):
            return lambda _: hasattr(owner, name)
        case ("in_class", type() as cls, str(name)):
            return lambda _: is_marked(cls, name)
        case ("registered", type() as cls, classes):
            return lambda _: issubclass(cls, classes)
        case ("static", cls, name):
            return lambda _: inspect.getattr_static(cls, name)
        case ("own_cell", index):
            return lambda function: function.__closure__[index].cell_contents
        case ("own_place", index):
            return lambda function: function.__closure__[index]
        case ("cell", cell):
            return lambda _: cell.cell_contents
        case ("root",):
            return lambda function: function
        case ("self", method):
            return lambda _: method.__self__
        case ("dispatched", function, cls):
            return lambda _: function.dispatch(cls)  # type: ignore[union-attr]
        case ("entry", table, key):
            return lambda _: table.get(key)
        case ("object", value):
            return lambda _: value
        case ("partial", partial, "func"):
            return lambda _: partial.func
        case ("partial", partial, int(index)):
            return lambda _: partial.args[index]
        case ("partial", partial, str(name)):
            return lambda _: partial.keywords[name]
        case ("own_default", int(index)):
            return lambda function: function.__defaults__[index]
        case ("own_default", str(name)):
            return lambda function: function.__kwdefaults__[name]
        case ("default", types.FunctionType() as function, int(index)):
            return lambda _: function.__defaults__[index]  # type: ignore[index]
        case ("default", types.FunctionType() as function, str(name)):
            return lambda _: function.__kwdefaults__[name]  # type: ignore[index]
        case ("default", cls, name):
            return lambda _: cls.__dataclass_fields__[name].default
    raise AssertionError(f"no way to read {path!r}")


def differentiated(function: Any) -> Any:
    """The function behind operators: ``f`` for ``ad.grad(ad.grad(f))``."""
    while isinstance(made := own_attribute(function, "__adjoint_operator__"), tuple):
        function = made[1]
    return function


_CLOSED = frozenset(
    (
        *(
            "numpy",
            "numba",
            "random",
            "threading",
            "queue",
            "concurrent",
            "multiprocessing",
            "asyncio",
            "io",
            "os",
            "pathlib",
            "tempfile",
            "subprocess",
            "logging",
        ),
        *("re", "configparser", "csv", "sqlite3", "datetime", "decimal", "uuid", "socket", "urllib", "http"),
    )
)
"""Packages whose objects are constants: nothing in them carries a derivative, or C functions hold it."""


def is_structure(value: Any) -> bool:
    """Whether a list whose items are all alike is told apart by how many there are: these are structures, or None."""
    return value is None or has_fields(value) or callable(value) or isinstance(value, (dict, str))


def counts_items(items: list[Any]) -> bool:
    """Whether a list is taken for another one where it has more items or fewer."""
    kinds = set(map(type, items))
    return len(items) <= MAX_PARTS and (len(kinds) > 1 or any(map(is_structure, items)))


def has_fields(value: Any) -> bool:
    """Whether a value is an object of a user's class, with attributes that may carry a derivative."""
    cls = type(value)
    if isinstance(value, (type, types.ModuleType, BaseException)) or cls.__module__ == "functools":
        return False
    if cls.__module__ == "builtins" and not is_written_in_python(cls):
        return False
    if is_foreign(value) or cls in DICTS:
        return False
    if (cls.__module__.split(".")[0] in _CLOSED or brings_arithmetic(cls)) and is_class_of_a_library(cls):
        return False
    return hasattr(value, "__dict__") or bool(slots_of(cls))
