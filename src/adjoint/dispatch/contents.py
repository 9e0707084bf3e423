"""What a call of a derivative depends on, by content: equal in two processes only where lowering finds the same.

Lowering reads what functions refer to by name, and what these refer to. All of that is written down here, more than
lowering reads: it is not known yet what it will. What has no content that could be written down raises, such as
functions of C extensions, classes of users and most objects.
"""

from __future__ import annotations

import builtins
import keyword
import linecache
import opcode
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import adjoint
from adjoint.ir.addresses import address_of, found_at
from adjoint.ir.fingerprint import SPELLED, Nameless
from adjoint.rules import registry
from adjoint.types.classes.annotations import annotations_of
from adjoint.types.registry import has_registrations
from adjoint.types.structure import CONTAINERS

MOST = 20_000
"""Up to how many words are written: what is longer takes longer than to lower it."""
_VERSIONED = frozenset({"numpy", "numba", "scipy", "adjoint", *sys.stdlib_module_names})
"""Packages of which nothing counts but names and versions."""
_REFLECTION = ("attrgetter", "eval", "exec", "getattr", "globals", "import_module", "locals", "modules", "vars")
"""What leads to values by names that are not written down; so do names such as ``__dict__``."""
_REFUSED = frozenset(map(opcode.opmap.get, ("IMPORT_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")))
_DEFINITION = re.compile(r"\s*(async\s+)?def\s")
_NAME = re.compile(r"[^\W\d]\w*")


class Contents:
    """Writes contents down.

    Attributes
    ----------
    words
        What was written.
    looked_up
        Which names of which tables and modules, by identity.
    met
        The objects that were met, in an order that follows from what was written: they stay alive, so that no identity
        is given twice.
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        self.looked_up: set[tuple[int, str]] = set()
        self._asked: set[tuple[int, frozenset[str]]] = set()
        self.met: list[Any] = []
        self._numbers: dict[int, int] = {}

    def say(self, word: str) -> None:
        """Writes a word down."""
        if len(self.words) == MOST:
            raise Nameless(word)
        self.words.append(word)

    def number_of(self, value: Any) -> int | None:
        """The place of an object among those that were met."""
        return self._numbers.get(id(value))

    def data(self, value: Any) -> None:
        """Writes down what counts of a value that derivatives are given: of numbers and arrays what they are."""
        kind = type(value)
        if kind in (int, float, complex):
            self.say(kind.__name__)
        elif isinstance(value, np.generic):
            self.say(f"number {_dtype(value.dtype)}")
        elif kind is np.ndarray:
            self.say(f"array {_dtype(value.dtype)} {[extent == 1 for extent in value.shape]}")
        elif kind is list and value and set(map(type, value)) in ({float}, {int}):
            self.say(f"list {len(value)} {type(value[0]).__name__}")
        elif kind is tuple or kind in CONTAINERS:
            self._container(value, self.data)
        else:
            self.constant(value)

    def constant(self, value: Any) -> None:
        """Writes down what a value that functions refer to is; of arrays what counts, as they are read at each call."""
        kind = type(value)
        plain = SPELLED.get(kind)
        if plain is not None:
            self.say(f"{kind.__name__} {plain(value)}")
        elif kind is np.ndarray:
            self.data(value)
        elif isinstance(value, np.generic):
            self.say(f"number {_dtype(value.dtype)} {value.tobytes().hex()}")
        elif kind is tuple or kind in CONTAINERS:
            self._container(value, self.constant)
        elif kind is frozenset and all(type(item) in SPELLED for item in value):
            self.say(f"frozenset {sorted(f'{type(item).__name__} {item!r}' for item in value)}")
        elif kind is types.FunctionType or is_dispatcher(value):
            self.function(value)
        else:
            self.say(self._name(value))

    def _container(self, value: Any, write: Callable[[Any], None]) -> None:
        if type(value) is not tuple and self._is_known(value):
            return
        self.say(f"{type(value).__name__} {len(value)}")
        for item in value:
            if isinstance(value, dict):
                self.constant(item)
                write(value[item])
            else:
                write(item)

    def _is_known(self, value: Any) -> bool:
        known = self._numbers.get(id(value))
        if known is None:
            self._numbers[id(value)] = len(self.met)
            self.met.append(value)
            return False
        self.say(f"known {known}")
        return True

    def _name(self, value: Any) -> str:
        """The name of what a library says."""
        if isinstance(value, np.dtype):
            return _dtype(value)
        found = address_of(value)
        root = found[0].partition(".")[0]
        if root not in _VERSIONED:
            raise Nameless(value)
        return f"name {found[0]} {found[1]}{_version(root)}"

    def function(self, function: Any) -> None:
        """Writes down a function, of Numba's too: its text, its code, and all that it refers to."""
        if self._is_known(function):
            return
        if is_dispatcher(function):
            self.say(f"dispatcher {_options(function.targetoptions)}")
            self.function(function.py_func)
            return
        if (function.__module__ or "").partition(".")[0] in _VERSIONED:
            if "<locals>" in function.__qualname__:
                self._closure_of_library(function)
            else:
                self.say(self._name(function))
            return
        table = function.__globals__
        text = _text(function.__code__)
        self.say(f"function {table.get('__name__')} {function.__module__} {function.__qualname__} {text!r}")
        self._own(function)
        names = _names(function.__code__)
        locals_ = _locals(function.__code__) - names
        told = [annotation for annotation in annotations_of(function).values() if isinstance(annotation, str)]
        self._globals(table, names | (set(_NAME.findall(" ".join((text, *told)))) - locals_))

    def _closure_of_library(self, function: types.FunctionType) -> None:
        """Writes down which function it is, and what it captures: its text is that of the version."""
        version = _version(function.__module__.partition(".")[0])
        self.say(f"closure {function.__module__} {function.__qualname__} {function.__code__.co_firstlineno}{version}")
        self._own(function)

    def _own(self, function: types.FunctionType) -> None:
        """Writes down the code of a function, its defaults, and what it captures."""
        self._code(function.__code__)
        self.constant(function.__defaults__)
        self.constant(function.__kwdefaults__)
        self.constant(dict(vars(function)))
        for cell in function.__closure__ or ():
            if not self._is_known(cell):
                self._cell(cell)

    def _cell(self, cell: types.CellType) -> None:
        try:
            content = cell.cell_contents
        except ValueError:
            self.say("empty cell")
        else:
            self.constant(content)

    def _code(self, code: types.CodeType) -> None:
        if not _REFUSED.isdisjoint(code.co_code[::2]) or any(map(_leads_anywhere, code.co_names)):
            raise Nameless(code)
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        self.say(f"code {code.co_name} {counts} {code.co_code.hex()} {code.co_exceptiontable.hex()}")
        self.say(f"{code.co_names} {code.co_varnames} {code.co_freevars} {code.co_cellvars} {len(code.co_consts)}")
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant)
            else:
                self.constant(constant)

    def _globals(self, table: dict[str, Any], names: set[str]) -> None:
        self._is_known(table)
        for name in sorted(names):
            self.looked_up.add((id(table), name))
            if name in table:
                self.say(f"global {name}")
                if isinstance(table[name], types.ModuleType):
                    self._module(table[name], names)
                else:
                    self.constant(table[name])
            elif hasattr(builtins, name) and not keyword.iskeyword(name):
                self.say(f"builtin {name} {self._name(getattr(builtins, name))}")

    def _module(self, module: types.ModuleType, names: Iterable[str]) -> None:
        """Writes down what may be read of a module under these names."""
        root = module.__name__.partition(".")[0]
        self.say(f"module {module.__name__}")
        self._is_known(module)
        asked = id(module), frozenset(names)
        if asked in self._asked:
            return
        self._asked.add(asked)
        if sys.modules.get(module.__name__) is not module:
            raise Nameless(module)
        if root not in _VERSIONED:
            if "__getattr__" in vars(module) or type(module) is not types.ModuleType:
                raise Nameless(module)
            self._attributes(module, sorted(names))
            return
        if root == "scipy":
            self.say(sys.modules["scipy"].__version__)
        told = [name for name in sorted(names) if not self._loads(module, name) and self._is_told(module, name)]
        self._attributes(module, told)

    def _loads(self, module: types.ModuleType, name: str) -> bool:
        """Whether a library loads what it has under a name at first use; this must not change what is written down.

        Of Adjoint, whose digest counts anyway, the place is written down and nothing is loaded.
        """
        if "__getattr__" not in vars(module) or name not in getattr(module, "__all__", ()):
            return False
        if module is not adjoint:
            with warnings.catch_warnings(action="ignore"):  # a namespace that goes, which says so
                getattr(module, name)
            return False
        home, own = adjoint._home(name)
        is_own = name not in vars(module) or vars(module)[name] is found_at(home, own)
        if is_own:
            self.say(f"attribute adjoint {name} of {home}")
            self.looked_up.add((id(module), name))
        return is_own

    def _is_told(self, module: types.ModuleType, name: str) -> bool:
        """Whether what is under a name of a library's module is written down: others may have put it there."""
        value = vars(module).get(name, self)
        if value is self or isinstance(value, types.ModuleType):
            return value is not self
        try:
            return type(value) in SPELLED or isinstance(value, types.FunctionType) or bool(self._name(value))
        except Nameless:
            self.say(f"object {type(value).__name__}")
            return False

    def _attributes(self, module: types.ModuleType, names: Sequence[str]) -> None:
        for name in names:
            found = vars(module).get(name)
            if isinstance(found, types.ModuleType):
                self._module(found, names)
            elif (id(module), name) not in self.looked_up and name in vars(module):
                self.say(f"attribute {module.__name__} {name}")
                self.constant(found)
            self.looked_up.add((id(module), name))


def is_extended() -> bool:
    """Whether somebody told Adjoint more than it knows itself: rules, derivatives, types."""
    return registry.is_extended() or has_registrations()


def is_dispatcher(value: Any) -> bool:
    """Whether a value is a function of Numba."""
    kind = type(value)
    return kind.__name__ == "CPUDispatcher" and kind.__module__.startswith("numba.")


def _options(options: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    for name, value in sorted(options.items()):
        if isinstance(value, (set, frozenset)) and all(isinstance(item, str) for item in value):
            value = tuple(sorted(value))
        if type(value) not in (tuple, *SPELLED):
            raise Nameless(value)
        found.append((name, repr(value)))
    return found


def _leads_anywhere(name: str) -> bool:
    """Whether what an attribute or a function of this name gives may be anything."""
    return name in _REFLECTION or (name.startswith("__") and name.endswith("__") and name != "__name__")


def _version(root: str) -> str:
    """The version of a library, where that is not looked at anyway."""
    return f" {sys.modules['scipy'].__version__}" if root == "scipy" else ""


def _dtype(dtype: np.dtype[Any]) -> str:
    if dtype.names is not None or dtype.hasobject or dtype.subdtype is not None:
        raise Nameless(dtype)
    return f"dtype {dtype.str}"


def _names(code: types.CodeType) -> set[str]:
    inner = [_names(part) for part in code.co_consts if isinstance(part, types.CodeType)]
    return {*code.co_names}.union(*inner)


def _locals(code: types.CodeType) -> set[str]:
    inner = [_locals(part) for part in code.co_consts if isinstance(part, types.CodeType)]
    return {*code.co_varnames, *code.co_cellvars, *code.co_freevars}.union(*inner)


def _text(code: types.CodeType) -> str:
    """The lines in which a function is written, as they are parsed; without decorators, which were called already."""
    lines = linecache.getlines(code.co_filename)
    last = _last_line(code)
    if len(lines) < last:
        raise Nameless(code)
    own = lines[code.co_firstlineno - 1 : last]
    first = next((place for place, line in enumerate(own) if _DEFINITION.match(line)), 0)
    return "".join(own[first:])


def _last_line(code: types.CodeType) -> int:
    inner = [_last_line(part) for part in code.co_consts if isinstance(part, types.CodeType)]
    return max(code.co_firstlineno, *(place[1] or 0 for place in code.co_positions()), *inner)
