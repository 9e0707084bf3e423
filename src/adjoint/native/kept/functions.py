"""Functions of Numba and of the runtime that units call, compiled once for all programs and processes.

Numba compiles anew what implements a product or a sum of arrays for each process: in small programs that is more than
half of the work. Here it is kept as LLVM's code, optimised, which is linked into what calls it.

What is kept is named by its content: the function with all that its closure holds, the types, and the versions of what
other modules say. So are the symbols in it: Numba numbers them in the order in which a process compiles them, so that
those of two processes could stand for two functions. What calls a function that has no such name is not kept.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="attr-defined, method-assign"

from __future__ import annotations

import copy
import hashlib
import io
import re
import sys
import types as python
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import binding  # type: ignore[import-untyped]
from numba.core import compiler, serialize, types
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.extending import _Intrinsic

from adjoint.ir.fingerprint import Nameless, name_of
from adjoint.native.compile.private_functions import MODULES
from adjoint.native.kept import files
from adjoint.native.kept.machine_code import Unpickler
from adjoint.native.kept.versions import circumstances

_AUTHORS = ("numba.", "adjoint.")
"""How the modules begin of which versions and sources tell what their functions do."""
_KEPT = (*_AUTHORS, MODULES)
"""How the modules begin whose functions are kept where units call them: functions of units, too."""
_FIRST = 1 << 62
"""The numbers of functions with a name of their own begin here, far from those that Numba counts."""
_NUMBER = re.compile(r"B\d+v(\d+)")
"""Where the number of a function stands in the names of its symbols."""


@contextmanager
def kept_functions(linking: Any) -> Iterator[None]:
    """Compiles what is inside with functions that were kept; nobody else compiles meanwhile."""
    keeper = _Keeper(linking)
    compile_, identify = Dispatcher.compile, vars(FunctionIdentity)["from_function"]

    def compile_or_read(dispatcher, signature):
        usual = dispatcher._cache
        if isinstance(usual, NullCache) and str(dispatcher.py_func.__module__).startswith(_KEPT):
            keeper.called.add(dispatcher.py_func)
            dispatcher._cache = _Cache(dispatcher, keeper)
            try:
                return compile_(dispatcher, signature)
            finally:
                dispatcher._cache = usual
        return compile_(dispatcher, signature)

    def identify_by_content(cls, function):
        found = identify.__func__(cls, function)
        number = keeper.number_of(function)
        if number is not None:
            found.unique_id = number
            found.unique_name = f"{found.func_qualname}${number}"
        return found

    with global_compiler_lock:
        Dispatcher.compile = compile_or_read
        FunctionIdentity.from_function = classmethod(identify_by_content)  # type: ignore[assignment]
        try:
            yield
        finally:
            Dispatcher.compile = compile_
            FunctionIdentity.from_function = identify


class _Keeper:
    """What is known of functions while a unit is compiled."""

    def __init__(self, linking: Any) -> None:
        self.linking = linking
        self.called: set[Any] = set()
        """The functions that others call: a unit's own entry has a name that nobody else has."""
        self._digests: dict[int, tuple[Any, str | None]] = {}

    def digest_of(self, function: Any) -> str | None:
        """A digest of all that a function is made of; None where it refers to what has no name."""
        known = self._digests.get(id(function))
        if known is None:
            try:
                words: list[str] = []
                _describe(function, words, {})
                found: str | None = hashlib.sha256("\n".join(words).encode()).hexdigest()
            except Nameless:
                found = None
            known = self._digests[id(function)] = function, found
        return known[1]

    def number_of(self, function: Any) -> int | None:
        """The number of a function of these authors in the names of its symbols."""
        if not isinstance(function, python.FunctionType) or not str(function.__module__).startswith(_KEPT):
            return None
        if _is_of_unit(function) and function not in self.called:
            return None
        found = self.digest_of(function)
        return None if found is None else _FIRST + int(found[:15], 16)


def _describe(value: Any, words: list[str], known: dict[int, tuple[int, Any]]) -> None:
    """Says what a value is in words: by its name where a module has it, by its content elsewhere."""
    if id(value) in known:
        words.append(f"known {known[id(value)][0]}")
        return
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        words.append(f"{type(value).__name__} {value!r}")
        return
    if isinstance(value, types.Type):
        words.append(f"{type(value).__name__} {_plain(value)}")
        return
    known[id(value)] = len(known), value  # which stays alive, so that no other takes its place
    if isinstance(value, (tuple, list)):
        words.append(f"{type(value).__name__} {len(value)}")
        for item in value:
            _describe(item, words, known)
    elif isinstance(value, dict):
        words.append(f"dict {len(value)}")
        for item in value.items():
            _describe(item, words, known)
    elif isinstance(value, np.dtype) and not value.hasobject:
        words.append(f"dtype {value.descr!r} {value.alignment}")
    elif isinstance(value, np.generic) and not value.dtype.hasobject:
        words.append(f"number {value.dtype.str} {value.tobytes().hex()}")
    elif isinstance(value, python.CodeType):
        words.append(f"code {value.co_name} {value.co_code.hex()} {value.co_flags}")
        for part in (value.co_consts, value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars):
            _describe(part, words, known)
        words.append(f"arguments {value.co_argcount} {value.co_posonlyargcount} {value.co_kwonlyargcount}")
    else:
        _describe_object(value, words, known)


def _describe_object(value: Any, words: list[str], known: dict[int, tuple[int, Any]]) -> None:
    try:
        words.append(f"name {_known_name(value)}")
        return
    except Nameless:
        pass
    if isinstance(value, Dispatcher):
        words.append(f"dispatcher {sorted((name, repr(option)) for name, option in value.targetoptions.items())}")
        _describe(value.py_func, words, known)
    elif isinstance(value, _Intrinsic):
        words.append(f"intrinsic {sorted(value._ctor_kwargs.items())!r}")
        _describe(value._defn, words, known)
    elif isinstance(value, types.ExternalFunction):
        words.append(f"external {value.symbol} {value.sig}")
    elif isinstance(value, python.FunctionType) and str(value.__module__).startswith(_KEPT):
        words.append(f"function {'' if _is_of_unit(value) else value.__module__} {value.__qualname__}")
        _describe(value.__code__, words, known)
        _describe((value.__defaults__, value.__kwdefaults__), words, known)
        for cell in value.__closure__ or ():
            _describe(_content(cell), words, known)
        if not _is_of_module(value):
            for name in sorted(_names(value.__code__)):
                if name in value.__globals__:
                    words.append(f"global {name}")
                    _describe(value.__globals__[name], words, known)
    else:
        raise Nameless(value)


def _known_name(value: Any) -> str:
    if isinstance(value, Dispatcher):
        return f"dispatcher {_known_name(value.py_func)}"
    return name_of(value, ("numba",))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        raise Nameless(cell) from None


def _is_of_unit(function: python.FunctionType) -> bool:
    """Whether a function was generated: then its content is all that tells what it does."""
    return str(function.__module__).startswith(MODULES)


def _is_of_module(function: python.FunctionType) -> bool:
    """Whether what a function refers to by name is that of a module, of which the version speaks."""
    if _is_of_unit(function):
        return False
    return function.__globals__ is getattr(sys.modules.get(function.__module__), "__dict__", None)


def _names(code: python.CodeType) -> set[str]:
    inner = [_names(part) for part in code.co_consts if isinstance(part, python.CodeType)]
    return {*code.co_names}.union(*inner)


_PLAIN = (
    *(types.Number, types.Boolean, types.NoneType, types.SliceType, types.UnicodeType, types.DType),
    *(types.NumberClass, types.RangeType, types.RangeIteratorType, types.TypeRef),
)
"""Types whose names say all of them."""
_BUNDLES = "adjoint.native.simd.bundle_type"


def _plain(kind: types.Type) -> str:
    """The name of a type that says all of it."""
    parts = [kind]
    while parts:
        part = parts.pop()
        if isinstance(part, types.BaseTuple):
            parts += part.types
        elif isinstance(part, (types.Array, types.List)):
            parts.append(part.dtype)
        elif isinstance(part, types.Omitted):
            if not isinstance(part.value, (bool, int, float, str, type(None))):
                raise Nameless(kind)
        elif isinstance(part, types.Literal):
            if not isinstance(part.literal_value, (int, str)):
                raise Nameless(kind)
        elif not isinstance(part, _PLAIN) and type(part).__module__ != _BUNDLES:
            raise Nameless(kind)
    return str(kind)


class _Cache:
    """Reads and writes what a function becomes for types of arguments."""

    def __init__(self, dispatcher: Any, keeper: _Keeper) -> None:
        self._dispatcher = dispatcher
        self._keeper = keeper
        self._name: str | None = None

    def load_overload(self, signature, target_context):
        """What was kept; None where there is nothing."""
        self._name = self._name_for(signature)
        folder = files.directory()
        content = None if folder is None or self._name is None else files.read(folder / self._name)
        if content is None or hashlib.sha256(content[32:]).digest() != content[:32]:
            return None
        try:
            return self._rebuilt(target_context, *Unpickler(io.BytesIO(content[32:])).load())
        except Exception:  # of versions that nobody thought of
            return None

    def save_overload(self, signature, result):
        """Keeps what was made, if all that it calls has names."""
        library = result.library
        if self._name is None or result.lifted or result.objectmode or library.has_dynamic_globals:
            return
        module = library._final_module
        names = [each.name for each in (*module.functions, *module.global_variables) if not each.is_declaration]
        numbers = [int(number) for name in names for number in _NUMBER.findall(name)]
        if any(number < _FIRST for number in numbers) or any("unresolved$" in name for name in _all_names(module)):
            return
        described = copy.copy(result.fndesc)
        described.typemap = described.calltypes = described.global_dict = None
        environments = tuple(result._find_referenced_environments())
        if result.reload_init or result.fndesc.global_dict is not None:
            return
        parts = (library.name, module.as_bitcode(), described, result.environment, result.signature, environments)
        try:
            content = serialize.dumps(parts)
        except Exception:  # of what cannot be pickled, it says so in many ways
            return
        files.keep_bytes(self._name, hashlib.sha256(content).digest() + content)

    def _name_for(self, signature):
        dispatcher = self._dispatcher
        found = self._keeper.digest_of(dispatcher.py_func)
        if found is None or dispatcher.locals or not isinstance(signature, tuple):
            return None
        try:
            kinds = tuple(f"{type(kind).__name__} {_plain(kind)}" for kind in signature)
        except Nameless:
            return None
        flags = compiler.Flags()
        dispatcher.targetdescr.options.parse_as_flags(flags, dispatcher.targetoptions)
        flags = dispatcher._compiler._customize_flags(flags)
        facts = (found, kinds, repr(flags), dispatcher._compiler.pipeline_class.__qualname__, *circumstances())
        return f"{files.FUNCTION}{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}"

    def _rebuilt(self, target_context, name, bitcode, described, environment, signature, environments):
        codegen = target_context.codegen()
        library = codegen.create_library(name)
        library._final_module = binding.parse_bitcode(bitcode)
        self._keeper.linking.link_only(library)
        library._finalize_final_module()
        entry = target_context.get_executable(library, described, environment)
        for each in environments:
            codegen.set_env(each.env_name, each)
        return compiler.compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=entry,
            fndesc=described,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=(),
            referenced_envs=environments,
        )


def _all_names(module):
    return [each.name for each in (*module.functions, *module.global_variables)]
