"""LLVM: text to object code, and object code to functions of this process."""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from adjoint.native.llvm.callbacks import keep_exception
from adjoint.native.llvm.memory import pool
from adjoint.native.llvm.values import NUMBERS, dtype_of
from adjoint.runtime.freed_memory import keep_freed_memory
from adjoint.runtime.numerical_methods.of_scipy.blas_lapack import address_of

_LEVEL = 2
_lock = threading.Lock()


class _Engine:
    """The linker of this process. What it loads stays."""

    def __init__(self) -> None:
        from llvmlite import binding  # type: ignore[import-untyped]  # lazy

        keep_freed_memory()
        self.binding = binding
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        self._target = binding.Target.from_default_triple()
        self.machine = self._new_machine()
        self.header = f'target triple = "{self._target.triple}"\ntarget datalayout = "{self.machine.target_data}"\n'
        self._linkers: list[Any] = []
        self._known: set[str] = set()
        self._objects: list[Any] = []
        self._add_arrays()

    def _new_machine(self) -> Any:
        return self._target.create_target_machine(
            cpu=self.binding.get_host_cpu_name(),
            features=self.binding.get_host_cpu_features().flatten(),
            opt=_LEVEL,
            reloc="pic",
            codemodel="jitdefault",
            jit=True,
        )

    def _add_arrays(self) -> None:
        """Tells the linker where Python and NumPy keep what functions ask for."""
        _umath = importlib.import_module("numpy._core._multiarray_umath")
        capsule = ctypes.py_object(_umath._ARRAY_API)
        ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
        table = ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
        self.add("adjoint_pool", pool.address())
        self.add("adjoint_new_array", table[94] or 0)
        self.add("adjoint_new_scalar", table[60] or 0)
        self.add("adjoint_set_base", table[282] or 0)
        for name, value in (
            ("ndarray", np.ndarray),
            ("float64", np.float64),
            ("float32", np.float32),
            ("complex128", np.complex128),
            ("complex64", np.complex64),
            ("int64", np.int64),
            ("keep_exception", keep_exception),
        ):
            self.add(f"adjoint_{name}", id(value))
        for kind in NUMBERS:
            self.add(f"adjoint_dtype_{kind}", id(dtype_of(kind)))

    def add(self, name: str, address: int) -> None:
        """Tells the linker of a name."""
        if name not in self._known:
            self._known.add(name)
            self.binding.add_symbol(name, address)

    def types_in(self, text: str, functions: Iterable[str]) -> dict[str, dict[str, str]]:
        """The types of the values in functions of a module, by their names as they are written."""
        module = self.binding.parse_assembly(self.header + text)
        found: dict[str, dict[str, str]] = {}
        for name in functions:
            function = module.get_function(name)
            types = found[name] = {f"%{each.name}": str(each.type) for each in function.arguments}
            for block in function.blocks:
                types.update((f"%{each.name}", str(each.type)) for each in block.instructions if each.name)
        return found

    def object_code(self, text: str) -> bytes:
        """Object code for a module, which is optimised."""
        binding = self.binding
        module = binding.parse_assembly(self.header + text)
        options = binding.create_pipeline_tuning_options(_LEVEL)
        options.loop_vectorization = True
        options.loop_interleaving = True
        options.loop_unrolling = True
        options.slp_vectorization = False
        builder = binding.create_pass_builder(self.machine, options)
        manager = builder.getModulePassManager()
        with loop_options():
            manager.run(module, builder)
            found: bytes = self.machine.emit_object(module)
        return found

    def load(self, code: bytes, name: str, symbols: frozenset[str], called: Mapping[str, Callable[[], Any]]) -> int:
        """The address of a function in object code, which is linked; ``called`` makes what it calls of Python."""
        for symbol in symbols:
            self.add(symbol, address_of(symbol))
        for symbol, make in called.items():
            if symbol not in self._known:
                self._objects.append(make())
                self.add(symbol, id(self._objects[-1]))
        linker = self.binding.create_mcjit_compiler(self.binding.parse_assembly(self.header), self._new_machine())
        self._linkers.append(linker)
        linker.add_object_file(self.binding.ObjectFileRef.from_data(code))
        linker.finalize_object()
        address: int = linker.get_function_address(name)
        return address


@functools.cache
def engine() -> _Engine:
    """The one of this process."""
    return _Engine()


class _Method(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_FASTCALL = 0x80
_methods: list[Any] = []


def callable_at(address: int, name: str, on_failure: Any) -> Any:
    """A function of Python for machine code; where that fails, it has called ``on_failure`` with two numbers."""
    method = _Method(name.encode(), address, _FASTCALL, None)
    _methods.append(method)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(method), on_failure, None)


def linked(code: bytes, name: str, symbols: frozenset[str], called: Mapping[str, Callable[[], Any]]) -> int:
    """The address of a function in object code."""
    with _lock:
        return engine().load(code, name, symbols, called)


# What LLVM is told of loops.
#
# Derivatives of small functions are full of loops of few iterations. What long vectors leave over of a loop is computed
# by shorter ones, not one by one. LLVM does so by itself only where 16 numbers go into a vector. Of doubles there are 8
# at most, and a loop of 14 whose last 6 iterations run one by one takes longer than it would without vectors.
#
# Loops that copy stay loops: for a few numbers that were just computed, a call of ``memcpy`` takes several times as
# long.
#
# A loop that adds up in the order of the program is vectorized, too: what it adds is computed by vectors, and added
# one by one (an ordered reduction). Without that, one sum keeps a loop from it: the exponentials of a loop that fits a
# curve take four times as long.


_OPTIONS = (
    ("epilogue-vectorization-minimum-VF", "4", "16"),
    ("disable-loop-idiom-memcpy", "true", "false"),
    ("force-ordered-reductions", "true", "false"),
)
"""What is set, and what is usual."""
_FIRST_VERSION = 15
"""Before, LLVM complained of options that are set twice."""


@contextmanager
def loop_options() -> Iterator[None]:
    """Compiles what is inside with these options; nobody else's code, and nobody else compiles meanwhile."""
    from llvmlite import binding  # lazy

    if binding.llvm_version_info[0] < _FIRST_VERSION:
        yield
        return
    with _lock_of_options, _lock_of_numba():
        for name, chosen, _ in _OPTIONS:
            binding.set_option("", f"-{name}={chosen}")
        try:
            yield
        finally:
            for name, _, usual in _OPTIONS:
                binding.set_option("", f"-{name}={usual}")


_lock_of_options = threading.RLock()


def _lock_of_numba() -> AbstractContextManager[object]:
    """That under which Numba compiles, if it is there: LLVM's options are those of the process."""
    module = sys.modules.get("numba.core.compiler_lock")
    return nullcontext() if module is None else module.global_compiler_lock
