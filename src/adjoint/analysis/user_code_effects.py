"""Whether functions of the user's, run where nobody looks, may change what was there before: by their code and names.

``str(x)`` runs ``x.__str__``, a logger runs its handlers. Most only look.
"""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Iterator
from inspect import getattr_static
from typing import Any
from weakref import WeakKeyDictionary

from adjoint.analysis.effects import effects
from adjoint.records import dataclass
from adjoint.sources.library_folders import is_class_of_a_library, is_of_a_library
from adjoint.types.classes.safe_lookups import is_filled

_STORES = frozenset(
    ("STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL", "DELETE_GLOBAL")
)
_WRITERS = """
    append appendleft extend extendleft insert pop popleft popitem remove clear sort reverse rotate update setdefault
    add discard subtract move_to_end fill put itemset resize partition send throw
    __setitem__ __setattr__ __delitem__ __delattr__ __iadd__ __imul__
"""
"""Methods that change the object that has them."""
_CHANGING = frozenset(_WRITERS.split())
_LOOKERS = """
    print len repr str format int float bool complex bytes round abs divmod sum min max any all sorted enumerate zip map
    filter reversed range slice list tuple dict set frozenset iter isinstance issubclass type id hash hasattr getattr
    callable ord chr super vars dir object property ascii hex oct bin pow
"""
"""Functions of Python that change nothing of what they are given."""
_LOOKING = frozenset(_LOOKERS.split())


@dataclass(frozen=True, slots=True)
class _Code:
    """What a function's code does by itself, the functions inside it included."""

    stores: bool
    names: tuple[str, ...]
    assigned: tuple[str, ...]
    """The global variables that it assigns."""


_known: WeakKeyDictionary[types.CodeType, _Code] = WeakKeyDictionary()


def _read(code: types.CodeType) -> _Code:
    found = _known.get(code)
    if found is None:
        found = _known[code] = _gone_through(code)
    return found


def _gone_through(code: types.CodeType) -> _Code:
    stores, assigned = False, []
    for step in dis.get_instructions(code):
        is_captured = step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars
        stores |= step.opname in _STORES or is_captured
        if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            assigned.append(step.argval)
    inner = [_read(part) for part in code.co_consts if isinstance(part, types.CodeType)]
    names = dict.fromkeys((*code.co_names, *(name for part in inner for name in part.names)))
    assigned += [name for part in inner for name in part.assigned]
    return _Code(stores or any(part.stores for part in inner), tuple(names), tuple(assigned))


def is_of_the_user(function: types.FunctionType) -> bool:
    """Whether a function is no library's, nor our own."""
    return not is_of_a_library(function.__code__.co_filename) and not _is_our_own(function)


def is_class_of_the_user(cls: type) -> bool:
    """Whether a class is no library's, nor our own."""
    return not is_class_of_a_library(cls) and not _is_our_own(cls)


def _is_our_own(thing: Any) -> bool:
    return str(thing.__module__).startswith("adjoint.")


def assigned_by(function: types.FunctionType) -> tuple[str, ...]:
    """The global variables that a function assigns."""
    return _read(function.__code__).assigned


def named_by(function: types.FunctionType) -> list[Any]:
    """What a function knows by names: global variables, those of users' modules, what it captures, and defaults."""
    names, table = _read(function.__code__).names, function.__globals__
    found = [table[name] for name in names if name in table]
    for module in [one for one in found if isinstance(one, types.ModuleType)]:
        if not is_of_a_library(getattr(module, "__file__", None) or "<frozen"):
            found += [vars(module)[name] for name in names if name in vars(module)]
    found += [cell.cell_contents for cell in function.__closure__ or () if is_filled(cell)]
    return [*found, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]


def changes_others(function: types.FunctionType) -> bool:
    """Whether a function of the user's may change containers or objects that it knows by name, or global variables."""
    kinds = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, *_PLAIN)
    named = any(not isinstance(one, kinds) for one in named_by(function))
    return may_act(function) and (named or bool(assigned_by(function)))


_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def may_act(function: types.FunctionType, *, met: tuple[Any, ...] = ()) -> bool:
    """Whether a function of the user's may change anything but what it makes itself."""
    code = _read(function.__code__)
    if code.stores or not _CHANGING.isdisjoint(code.names):
        return True
    return any(_acts(callee, (*met, function)) for callee in _called_by(function, code))


def _called_by(function: types.FunctionType, code: _Code) -> Iterator[Any]:
    """What a function may call by names."""
    table = function.__globals__
    for name in code.names:
        if name not in table and name not in _LOOKING and callable(vars(builtins).get(name)):
            yield vars(builtins)[name]
    for one in named_by(function):
        if callable(one):
            yield one
        elif isinstance(one, types.ModuleType):
            yield from (vars(one)[name] for name in code.names if callable(vars(one).get(name)))


def _acts(callee: Any, met: tuple[Any, ...]) -> bool:
    if isinstance(callee, types.FunctionType) and is_of_the_user(callee):
        return callee not in met and may_act(callee, met=met)
    if isinstance(callee, type):  # a library makes an object
        if not is_class_of_the_user(callee):
            return False
        return callee not in met and any(may_act(each, met=(*met, callee)) for each in methods_of(callee))
    found = effects(callee)
    return not (found.known and not found.writes)


def methods_of(cls: type) -> list[types.FunctionType]:
    """The functions in the body of a class of the user's, and of those from which it inherits."""
    members = [member for base in cls.__mro__ if is_class_of_the_user(base) for member in base.__dict__.values()]
    return [function for member in members for function in functions_of(member)]


def functions_of(member: Any) -> list[types.FunctionType]:
    """The functions of the user's behind what lies in the body of a class."""
    parts = (member.fget, member.fset, member.fdel) if isinstance(member, property) else (member,)
    found = [getattr(part, "__func__", getattr(part, "func", part)) for part in parts]
    return [each for each in found if isinstance(each, types.FunctionType) and is_of_the_user(each)]


TEXTS = ("__format__", "__str__", "__repr__")
"""What gives the text of an object."""
LOOKS = (
    *TEXTS,
    *("__hash__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__", "__len__", "__index__"),
    *("__int__", "__float__", "__complex__", "__bytes__", "__round__", "__abs__", "__fspath__", "__sizeof__"),
    *("__dir__", "__length_hint__", "__iter__", "__next__", "__reversed__", "__contains__", "__getitem__"),
    *("__getattr__", "__getattribute__", "__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__"),
)
"""The special methods that functions of Python run where these only look at an object."""


def acting_method(cls: type, names: tuple[str, ...] = LOOKS) -> str | None:
    """A special method, of the user's, of a class whose objects may change something when Python looks at them."""
    for base in cls.__mro__:
        if not is_class_of_the_user(base):
            continue
        for name, member in base.__dict__.items():
            if name in names and any(_acts_through(cls, each) for each in functions_of(member)):
                return name
    return None


def _acts_through(cls: type, function: types.FunctionType) -> bool:
    """Whether a method may change something, by itself or by other methods that it names."""
    pending, met = [function], {function}
    for each in pending:
        if may_act(each):
            return True
        named = [getattr_static(cls, name, None) for name in _read(each.__code__).names]
        inner = {one for member in named for one in functions_of(member)} - met
        met |= inner
        pending += inner
    return False
