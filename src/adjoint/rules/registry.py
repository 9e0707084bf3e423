"""The table of rules: what is declared of a callee, found by its identity.

The library is imported at the first question, so that importing the package costs nothing; its part about arrays at the
first question about something that comes from NumPy; those about structures, ``bisect`` and ``cmath`` at the first
about one of their functions; what it says of a module of SciPy at the first question about something that comes from
there, which is when the module has been imported by others.
"""

from __future__ import annotations

import importlib
import operator
import sys
from _thread import RLock, get_ident  # `threading` takes a while to import
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from adjoint.records import dataclass
from adjoint.rules import declarations
from adjoint.rules.declarations import Declaration
from adjoint.rules.declarations import declaration_for as declaration_for
from adjoint.rules.topics import (
    ARRAY_HELPERS,
    ARRAYS,
    ASSERTIONS,
    BASICS,
    HELPERS_OF_SCIPY,
    MESSAGES,
    OF_SCIPY,
    SEPARATE,
    STRUCTURES,
)
from adjoint.types.classes.annotations import signature
from adjoint.types.classes.safe_lookups import asked
from adjoint.types.structure import home_of

if TYPE_CHECKING:
    from adjoint.rules.kinds import Case, Rule

Fn = Callable[..., Any]


@dataclass(frozen=True, eq=False, slots=True)
class Definition:
    """A function that stands for another one; see :func:`adjoint.rules.declare.definition`."""

    fn: Fn
    means: Fn
    arity: int | None
    when: Callable[[Mapping[str, Any]], bool] | None
    arrays: tuple[str, ...] | None
    cases: tuple[Case, ...]
    functional: bool = False
    only: bool = False

    def covers(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether it is what a call with these arguments means; those that are not known are :data:`UNKNOWN`."""
        if self.arity is not None and self.arity != len(args):
            return False
        return self.when is None or self.when({**dict(zip(_parameters(self.fn), args, strict=False)), **kwargs})


UNKNOWN: Any = object()
"""Stands for an argument that is not known at compile time."""


@lru_cache(maxsize=128)
def _parameters(fn: Fn) -> tuple[str, ...]:
    return tuple(signature(fn).parameters)


_of_users: set[int] = set()
"""What somebody else than the library declared something of, by identity."""
_rules: dict[int, Rule] = {}
_exchanging: set[int] = set()
"""The functions that exchange numbers with other processes, by identity."""
_definitions: dict[Hashable, list[Definition]] = {}
_methods: dict[tuple[type, str], Fn] = {}
_attributes: dict[tuple[type, str], Fn] = {}
_closed: dict[type, frozenset[str]] = {}
"""Classes of which nothing may be asked but what is declared, with what may all the same."""
_variadic: dict[int, tuple[Fn, Fn]] = {}
_lock = RLock()
_OF_SCIPY = dict.fromkeys(name for names in OF_SCIPY.values() for name in names)
_SEPARATE = tuple(dict.fromkeys(name for names in SEPARATE.values() for name in names))
_unread = {*BASICS, *_SEPARATE, *ASSERTIONS, *ARRAYS, *_OF_SCIPY, *MESSAGES}
"""The modules of the library that are still to be imported."""
_reader: int | None = None
"""The thread that imports them now, whose own entries are not to wait for it."""


def add(rule: Rule) -> None:
    """Enters a rule; a later one replaces an earlier one, and what was declared by ``derivative_of``."""
    _read_for(rule.fn)
    _rules[id(rule.fn)] = rule
    if rule.exchanges:
        _exchanging.add(id(rule.fn))
    _without_rule.clear()
    if not _is_said_by_the_library(rule.fn):
        declarations.remove(rule.fn)
        _of_users.add(id(rule.fn))
    _changed(rule.fn)


def add_declaration(declaration: Declaration) -> None:
    """Enters a declared derivative; it counts before any rule."""
    declarations.add(declaration)
    _of_users.add(id(declaration.fn))
    _changed(declaration.fn)


def add_definition(entry: Definition) -> None:
    _read_for(entry.fn)
    _definitions.setdefault(_identity(entry.fn), []).insert(0, entry)
    _changed(entry.fn)


def add_method(cls: type, name: str, callee: Fn) -> None:
    _read_for(cls)
    _methods[cls, name] = callee
    _changed(cls)


def add_attribute(cls: type, name: str, callee: Fn) -> None:
    _read_for(cls)
    _attributes[cls, name] = callee
    _changed(cls)


def add_variadic(fn: Fn, spread: Fn) -> None:
    """Enters the form of ``fn`` that takes the parts of its first argument, a sequence, one by one."""
    _read_for(fn)
    _variadic[id(fn)] = (fn, spread)
    _changed(fn)


_extended = False
_listeners: list[Callable[[], None]] = []
"""What is to be called when something was declared that is not of the library."""


def on_change(listener: Callable[[], None]) -> None:
    """Lets a function be called whenever a declaration may make a compiled derivative wrong."""
    _listeners.append(listener)


def forget_declaration(fn: Any) -> None:
    """Forgets what users declared of a function; derivatives made meanwhile no longer count."""
    declarations.remove(fn)
    _of_users.discard(id(fn))
    _changed(fn)


def is_extended() -> bool:
    """Whether anything was ever declared that is not of the library."""
    return _extended or bool(_of_users)


def _changed(about: Any) -> None:
    global _extended
    if not _is_said_by_the_library(about):
        _extended = True
        for listener in _listeners:
            listener()


def _is_said_by_the_library(about: Any) -> bool:
    """Whether a declaration is the library's own, which counts from the beginning whenever it is read."""
    return _reader == get_ident() or (getattr(about, "__module__", None) or "").startswith("adjoint.")


def is_of_users(callee: Any) -> bool:
    """Whether users declared how this very object is differentiated: others that look like it may differ."""
    return id(callee) in _of_users


_without_rule: set[Any] = set()
"""Of what nothing is declared, however much is read: passes ask for it again and again. It lives as long as Python."""


def rule_for(callee: Any) -> Rule | None:
    """What is declared of a callee, if anything."""
    found = _rules.get(id(callee))
    if found is not None or not _unread or (type(callee) in _LASTING and callee in _without_rule):
        return found
    if _read_for(callee):
        return _rules.get(id(callee))
    if type(callee) in _LASTING and _reader is None and _is_said_all(callee):
        _without_rule.add(callee)
    return None


_LASTING = frozenset({FunctionType, type, BuiltinFunctionType, MethodDescriptorType})


def _is_said_all(callee: Any) -> bool:
    """Whether nothing that is read later says anything of a callee that lasts, if nothing is said so far."""
    if type(callee) is FunctionType:
        home = callee.__module__ or ""
        return home.startswith("adjoint.runtime.") and home not in HELPERS_OF_SCIPY
    if type(callee) is BuiltinFunctionType and type(callee.__self__) is not ModuleType:
        return False  # a method of an object
    return home_of(getattr(callee, "__objclass__", callee)).partition(".")[0] in ("builtins", "numpy", "_warnings")


def exchanges(callee: Any) -> bool:
    """Whether a function exchanges numbers with other processes."""
    return bool(_exchanging) and id(callee) in _exchanging


def is_exchanged() -> bool:
    """Whether any function is known that does."""
    return bool(_exchanging)


def add_closed(cls: type, names: Sequence[str]) -> None:
    """Enters that nothing may be asked of objects of a class but what is declared, and these attributes."""
    _read_for(cls)
    _closed[cls] = frozenset(names)
    _changed(cls)


def is_closed(cls: type) -> bool:
    """Whether it is declared of a class what may be asked of its objects, and what that means."""
    if not _closed and "mpi4py.MPI" in sys.modules:
        for base in cls.__mro__:
            _read_for(base)
    return not _closed.keys().isdisjoint(cls.__mro__)


def is_harmless(cls: type, name: str) -> bool:
    """Whether an attribute of such a class may be asked for as it stands."""
    return any(name in _closed.get(base, ()) for base in cls.__mro__)


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of declaration."""
    _read_all()
    return tuple(_rules.values())


def all_definitions() -> tuple[Definition, ...]:
    """Every definition."""
    _read_all()
    return tuple(entry for entries in _definitions.values() for entry in entries)


def definition_of(callee: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Fn | None:
    """The Python function that a call with these arguments means, where one is declared.

    Parameters
    ----------
    callee
        The function that is called.
    args, kwargs
        What is known of the arguments: a constant, or :data:`UNKNOWN`.
    """
    _read_for(callee)
    return next((entry.means for entry in _definitions.get(_identity(callee), ()) if entry.covers(args, kwargs)), None)


def definitions_of(callee: Any) -> tuple[Definition, ...]:
    """The definitions that say what calls of ``callee`` mean."""
    _read_for(callee)
    return tuple(_definitions.get(_identity(callee), ()))


def is_functional(callee: Any) -> bool:
    """Whether a definition says what calls of ``callee`` mean, which takes functions and is not read itself."""
    return any(entry.functional for entry in definitions_of(callee))


def is_only_defined(callee: Any) -> bool:
    """Whether calls of ``callee`` that no definition covers are refused, whatever they are handed."""
    return any(entry.only for entry in definitions_of(callee))


def is_defined(callee: Any) -> bool:
    """Whether a definition says what some calls of ``callee`` mean."""
    _read_for(callee)
    return _identity(callee) in _definitions


def _identity(callee: Any) -> Hashable:
    """What tells a function from others; bound methods are new objects whenever they are asked for.

    Distributions with parameters hold copies of those that have names: what counts is the class, and the support.
    """
    owner = asked(callee, "__self__")
    if isinstance(callee, MethodType) and type(owner).__module__.startswith("scipy.stats."):
        return (type(owner), getattr(owner, "a", None), getattr(owner, "b", None), callee.__name__)
    if isinstance(callee, MethodType) or (isinstance(callee, BuiltinMethodType) and type(owner).__name__ == "ufunc"):
        return (id(owner), callee.__name__)
    return id(callee)


def method_of(cls: type, name: str) -> Fn | None:
    """The function that a method of a class means."""
    return _of_class(_methods, cls, name)


def attribute_of(cls: type, name: str) -> Fn | None:
    """The function that an attribute of a class means."""
    return _of_class(_attributes, cls, name)


def variadic(callee: Any) -> Fn | None:
    """The form of a function of a sequence that takes its parts as arguments: ``concatenate_of``."""
    _read_for(callee)
    entry = _variadic.get(id(callee))
    return entry[1] if entry else None


def _of_class(table: dict[tuple[type, str], Fn], cls: type, name: str) -> Fn | None:
    for base in cls.__mro__:
        _read_for(base)
        callee = table.get((base, name))
        if callee is not None:
            return callee
        if name in base.__dict__ and base.__module__ not in ("builtins", "numpy"):
            return None  # the class says otherwise itself
    return None


def _read_for(callee: Any) -> bool:
    """Imports the part of the library that may say something of a callee; tells whether there was something to do."""
    return bool(_unread) and _reader != get_ident() and _read(_about(callee))


def _about(callee: Any) -> tuple[str, ...]:
    """The modules of the library that may say something of a callee."""
    if _is_about_messages(callee):
        return BASICS + STRUCTURES + ARRAYS + MESSAGES
    if (getattr(callee, "__module__", None) or "").startswith("numpy.testing"):
        return BASICS + ASSERTIONS
    about_scipy = OF_SCIPY.get(_module_of_scipy(callee), ()) if "scipy" in sys.modules else ()
    if about_scipy or is_about_arrays(callee):
        return BASICS + ARRAYS + about_scipy
    owner = asked(callee, "__objclass__")
    home = getattr(callee, "__module__", None) or getattr(owner, "__module__", None) or ""
    return BASICS + SEPARATE.get(home, ())


def _is_about_messages(callee: Any) -> bool:
    """Whether a callee comes from mpi4py, or is one of the maps that its methods mean."""
    home = getattr(callee, "__module__", None) or ""
    return "mpi4py.MPI" in sys.modules and home in ("mpi4py.MPI", "adjoint.runtime.messages")


def _module_of_scipy(callee: Any) -> str:
    """The module of SciPy that a callee comes from; empty if it comes from elsewhere."""
    if type(callee).__name__ == "ufunc":
        special = sys.modules.get("scipy.special")
        return "scipy.special" if getattr(special, callee.__name__, None) is callee else ""
    owner = asked(callee, "__self__", callee)
    for thing in (callee, type(owner)):
        home = getattr(thing, "__module__", None) or ""
        home = HELPERS_OF_SCIPY.get(home, home)
        if home.startswith("scipy."):
            return ".".join(home.split(".")[:2])
    return ""


def is_about_arrays(callee: Any) -> bool:
    """Whether what the library says of a callee stands in its part about arrays, if it says anything."""
    owner = asked(callee, "__objclass__", callee)
    if type(asked(callee, "__self__")).__module__ == "numpy":
        return True
    home = getattr(owner, "__module__", None) or home_of(type(owner))
    return home.partition(".")[0] == "numpy" or home in ARRAY_HELPERS or callee is operator.matmul


def _read_all() -> None:
    if _unread and _reader != get_ident():
        imported = [name for module, names in OF_SCIPY.items() if module in sys.modules for name in names]
        messages = MESSAGES if "mpi4py.MPI" in sys.modules else ()
        _read(BASICS + _SEPARATE + ARRAYS + tuple(imported) + messages)


def _read(names: tuple[str, ...]) -> bool:
    """Imports modules of the library; tells whether any had not been imported."""
    global _reader
    if _unread.isdisjoint(names):
        return False
    with _lock:
        _reader = get_ident()
        try:
            for name in dict.fromkeys([name for name in names if name in _unread]):
                importlib.import_module(f"adjoint.rules.{name}")
                _unread.remove(name)
        finally:
            _reader = None
    return True
