"""Functions that only machine code calls are linked into what calls them, and nothing else.

Numba also gives each of them a wrapper for C and machine code of its own, which nobody runs. And it asks LLVM for a
manager of passes for each function, hundreds of times for a unit, before what is linked is optimised as a whole: that
takes a tenth of the time to compile, and the machine code is no faster for it.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from weakref import WeakValueDictionary

from adjoint.native.runtime.huge_pages import with_huge_pages

_AUTHORS = ("numba.", "adjoint.")
"""How the modules begin of which it is known that nobody asks for the address of what Python cannot call."""
_AWAITED = ".numba.unresolved$"
"""How the names of variables begin that hold the address of a function as soon as it has machine code."""
_linked: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""What has no machine code of its own, by the names of its functions."""


@contextmanager
def linked_functions() -> Iterator[None]:
    """Compiles what is inside that way; nobody else's functions, and nobody else compiles meanwhile."""
    from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen  # lazy
    from numba.core.compiler_lock import global_compiler_lock  # lazy
    from numba.core.cpu import CPUContext  # lazy

    from adjoint.native.kept.functions import kept_functions  # lazy

    linking = _Linking()
    patches = (
        (CPUContext, "post_lowering", linking.note),
        (CPUContext, "create_cfunc_wrapper", linking.wrap),
        (CPUCodeLibrary, "_optimize_functions", linking.optimize),
        (CPUCodeLibrary, "_finalize_final_module", linking.emit),
        (JITCPUCodegen, "set_env", linking.set_environment),
    )
    if not all(hasattr(owner, name) for owner, name, _ in patches):  # another version of Numba
        yield
        return
    with global_compiler_lock, ExitStack() as undo:
        for owner, name, made in patches:
            usual = vars(owner)[name]
            undo.callback(setattr, owner, name, usual)
            setattr(owner, name, made(usual))
        undo.callback(linking.set_pending)
        undo.enter_context(kept_functions(linking))
        yield


class _Linking:
    """What is linked only, of what is compiled meanwhile."""

    def __init__(self) -> None:
        self._libraries: set[Any] = set()
        self._environments: list[Callable[[], None]] = []

    def link_only(self, library):
        """Notes that nobody but machine code calls what a library holds."""
        self._libraries.add(library)

    def note(self, usual):
        """What neither Python nor C calls: of a unit, and what implementations compile for their own calls."""
        from numba.core.targetconfig import ConfigStack  # lazy

        def post_lowering(context, module, library):
            flags = ConfigStack.top_or_none()
            if flags is not None and flags.no_cpython_wrapper and flags.no_cfunc_wrapper:
                self._libraries.add(library)
            return usual(context, module, library)

        return post_lowering

    def wrap(self, usual):
        """No wrapper for C where there is none for Python: of overloads, too, which all have one."""
        from numba.core.targetconfig import ConfigStack  # lazy

        def create_cfunc_wrapper(context, library, descriptor, environment, call_helper):
            flags = ConfigStack.top_or_none()
            if flags is not None and flags.no_cpython_wrapper and descriptor.modname.startswith(_AUTHORS):
                self._libraries.add(library)
                return
            usual(context, library, descriptor, environment, call_helper)

        return create_cfunc_wrapper

    def optimize(self, _):
        """No passes for each function; the module as a whole is optimised when all is linked."""

        def optimize_functions(library, module):
            module.data_layout = library._codegen._data_layout

        return optimize_functions

    def emit(self, usual):
        """No machine code for functions that are linked, unless others wait for their address."""

        def finalize_final_module(library):
            awaited = [name.removeprefix(_AWAITED) for name in _globals(library) if name.startswith(_AWAITED)]
            if library in self._libraries and not awaited:
                names = _functions(library)
                if library._codegen._rtlinker._unresolved.keys().isdisjoint(names):
                    library._finalize_dynamic_globals()
                    library._verify_declare_only_symbols()
                    library._finalized = True
                    _linked.update(dict.fromkeys(names, library))
                    return
            for each in (*{_linked.pop(name) for name in awaited if name in _linked}, library):
                with_huge_pages(each._final_module)
                usual(each)

        return finalize_final_module

    def set_environment(self, usual):
        """The variable of a function's environment is there when one is compiled that it is linked into."""

        def set_env(codegen, name, environment):
            if codegen._engine.is_symbol_defined(name):
                usual(codegen, name, environment)
            else:
                self._environments.append(lambda: _set(usual, codegen, name, environment))

        return set_env

    def set_pending(self) -> None:
        """Sets the variables of all that was linked."""
        for each in self._environments:
            each()


def _globals(library):
    return [one.name for one in library._final_module.global_variables]


def _functions(library):
    """The functions that it has for others."""
    found = library._final_module.functions
    return [one.name for one in found if not one.is_declaration and one.linkage.name == "external"]


def _set(usual, codegen, name, environment):
    """Sets a variable, which is made where none is: what is not linked into anything yet may be some day."""
    if not codegen._engine.is_symbol_defined(name):
        from llvmlite import binding  # type: ignore[import-untyped]  # lazy

        module = binding.parse_assembly(f'{codegen._create_empty_module(name)}\n@"{name}" = common global i8* null\n')
        codegen._add_module(module)
        codegen._engine.finalize_object()
    usual(codegen, name, environment)
