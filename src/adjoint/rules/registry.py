"""The table of rules: what is declared of a callee, found by its identity.

The library is imported at the first question, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from adjoint.records import dataclass

if TYPE_CHECKING:
    from adjoint.rules.declare import Case, Rule

Fn = Callable[..., Any]

LIBRARY = (
    "runtime_helpers",
    "structure_helpers",
    "operators",
    "builtin",
    "math_functions",
    "numpy_elementwise",
    "numpy_reductions",
    "numpy_shapes",
    "numpy_construction",
    "numpy_products",
    "numpy_linalg",
    "numpy_order",
    "sequences",
    "methods",
)


@dataclass(frozen=True, eq=False, slots=True)
class Definition:
    """A function that stands for another one; see :func:`adjoint.rules.declare.definition`."""

    fn: Fn
    means: Fn
    arity: int | None
    cases: tuple[Case, ...]


_rules: dict[int, Rule] = {}
_definitions: dict[int, list[Definition]] = {}
_methods: dict[tuple[type, str], Fn] = {}
_attributes: dict[tuple[type, str], Fn] = {}
_variadic: dict[int, tuple[Fn, Fn]] = {}
_binary: dict[int, tuple[Fn, Fn]] = {}
_lock = threading.RLock()
_loaded = False


def add(rule: Rule) -> None:
    """Enters a rule; a later one replaces an earlier one."""
    _load()
    _rules[id(rule.fn)] = rule


def add_definition(entry: Definition) -> None:
    _load()
    _definitions.setdefault(id(entry.fn), []).insert(0, entry)


def add_method(cls: type, name: str, callee: Fn) -> None:
    _load()
    _methods[cls, name] = callee


def add_attribute(cls: type, name: str, callee: Fn) -> None:
    _load()
    _attributes[cls, name] = callee


def add_variadic(fn: Fn, spread: Fn) -> None:
    """Enters the form of ``fn`` that takes the parts of its first argument, a sequence, one by one."""
    _load()
    _variadic[id(fn)] = (fn, spread)


def add_in_place(fn: Fn, binary: Fn) -> None:
    """Enters the binary operator that an in-place operator means where it cannot write."""
    _load()
    _binary[id(fn)] = (fn, binary)


def rule_for(callee: Any) -> Rule | None:
    """What is declared of a callee, if anything."""
    if not _loaded:
        _load()
    return _rules.get(id(callee))


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of declaration."""
    _load()
    return tuple(_rules.values())


def all_definitions() -> tuple[Definition, ...]:
    """Every definition."""
    _load()
    return tuple(entry for entries in _definitions.values() for entry in entries)


def definition_of(callee: Any, nargs: int) -> Fn | None:
    """The Python function that a call with so many positional arguments means, where one is declared."""
    _load()
    for entry in _definitions.get(id(callee), ()):
        if entry.arity is None or entry.arity == nargs:
            return entry.means
    return None


def method_of(cls: type, name: str) -> Fn | None:
    """The function that a method of a class means."""
    return _of_class(_methods, cls, name)


def attribute_of(cls: type, name: str) -> Fn | None:
    """The function that an attribute of a class means."""
    return _of_class(_attributes, cls, name)


def variadic(callee: Any) -> Fn | None:
    """The form of a function of a sequence that takes its parts as arguments: ``concatenate_of``."""
    _load()
    entry = _variadic.get(id(callee))
    return entry[1] if entry else None


def binary_form(callee: Any) -> Fn | None:
    """The operator that an in-place operator stands for: ``add`` for ``iadd``."""
    _load()
    entry = _binary.get(id(callee))
    return entry[1] if entry else None


def _of_class(table: dict[tuple[type, str], Fn], cls: type, name: str) -> Fn | None:
    _load()
    for base in _ancestors(cls):
        callee = table.get((base, name))
        if callee is not None:
            return callee
        if name in base.__dict__ and base.__module__ not in ("builtins", "numpy"):
            return None  # the class says otherwise itself
    return None


def _ancestors(cls: type) -> Iterator[type]:
    yield from cls.__mro__


def _load() -> None:
    global _loaded
    if _loaded:
        return
    with _lock:
        if _loaded:
            return
        _loaded = True  # before the modules: they enter rules themselves
        try:
            for name in LIBRARY:
                importlib.import_module(f"adjoint.rules.{name}")
        except BaseException:
            _loaded = False
            raise
