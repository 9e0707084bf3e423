"""The native back end: derivatives that Numba compiles, and Python where it cannot.

Numba is imported only when something is compiled.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.backend.python import Emitted
from adjoint.diagnostics import DifferentiationError, error, warn
from adjoint.ir.nodes import Atom, Call, Function, Return, Var
from adjoint.ir.types import Array, Scalar
from adjoint.runtime import display

Native = bool | str | None
"""Whether to compile: True, False, or ``"strict"``; None leaves it to the function."""

Convert = Callable[[Any], Any]


def resolve(native: Native, function: Any) -> Native:
    """What a user's ``native=`` means for a function; raises where Numba is needed and missing."""
    if native not in (None, True, False, "strict"):
        raise ValueError(f"native={native!r}: it is True, False, 'strict' or None")
    if native is None:
        inner = getattr(function, "native", None) if hasattr(function, "__adjoint_operator__") else None
        native = inner if inner is not None else type(function).__name__ == "CPUDispatcher"
    if native and importlib.util.find_spec("numba") is None:
        raise error("AD0601", None, "Numba is not installed", helps=('pip install "adjoint[native]"',))
    return native


def flags_of(function: Any) -> str:
    """Options for the compiler: those by which a user's ``@njit`` changes arithmetic hold for the derivative too."""
    chosen = getattr(function, "targetoptions", {}).get("fastmath", False)
    if isinstance(chosen, (set, frozenset)):
        chosen = f"{{{', '.join(map(repr, sorted(chosen)))}}}" if chosen else False
    return 'error_model="numpy"' + (f", fastmath={chosen}" if chosen else "")


class NativeFunction:
    """A derivative that is compiled at its first call for each kind of arguments.

    Parameters
    ----------
    emitted
        Its text.
    interpreted
        What to call where it cannot be compiled.
    function
        What the text was made from.
    flags
        Options for the compiler.
    strict
        Whether it is an error if it cannot be compiled.
    """

    def __init__(
        self, emitted: Emitted, interpreted: Callable[..., Any], function: Function, flags: str, strict: bool
    ) -> None:
        self._emitted = emitted
        self._flags = flags
        self._interpreted = interpreted
        self._strict = strict
        self._convert = _conversion_of(function)
        self._lock = threading.Lock()
        self._known: dict[Any, Callable[..., Any]] = {}
        self._latest: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        run = self._latest
        if run is None:
            run = self._for(args)
        try:
            result = run(*args)
        except TypeError:  # of the dispatcher, which then has run nothing, or of the program
            fitting = self._for(args)
            if fitting is run:
                raise
            result = fitting(*args)
        return result if self._convert is None else self._convert(result)

    @property
    def emitted(self) -> Emitted:
        """The text that is compiled."""
        return self._emitted

    @property
    def is_compiled(self) -> bool:
        """Whether the last call ran as machine code."""
        return self._latest not in (None, self._interpreted)

    def _for(self, args: Sequence[Any]) -> Callable[..., Any]:
        """The callable for arguments of these types."""
        from adjoint.backend.native_unit import signature_of

        with self._lock:
            signature = signature_of(args)
            if signature not in self._known:
                self._known[signature] = self._compile(signature)
            self._latest = self._known[signature]
            return self._latest

    def _compile(self, signature: tuple[Any, ...]) -> Callable[..., Any]:
        from adjoint.backend.native_unit import NotNative, Unit

        try:
            return Unit(self._emitted, signature, self._flags).compile()
        except NotNative as reason:
            if self._strict:
                raise DifferentiationError(reason.problem) from reason.__cause__
            warn(reason.problem)
            return self._interpreted


# Numba hands out Python's numbers for NumPy's, and computes float32 arrays times a float in float64.


def _conversion_of(function: Function) -> Convert | None:
    """What makes of a compiled result what the interpreted one would be; None if nothing is to be done."""
    block = function.body
    if not isinstance(block.terminator, Return):
        return None
    made = {target: part for part in block.statements if isinstance(part, Call) for target in part.targets}
    (atom,) = block.terminator.values if len(block.terminator.values) == 1 else (None,)
    return None if atom is None else _conversion(atom, made)


def _conversion(atom: Atom, made: dict[Var, Call]) -> Convert | None:
    if not isinstance(atom, Var):
        return None
    match atom.type:
        case Scalar(dtype=dtype) if dtype is not None:
            return dtype.type
        case Array(dtype=dtype) if dtype is not None and dtype not in (np.float64, np.complex128):
            return lambda array: array if array.dtype == dtype else array.astype(dtype)
    call = made.get(atom)
    if call is None or call.callee is not display.make_tuple:
        return None
    parts = [_conversion(item, made) for item in call.args]
    if not any(parts):
        return None
    return lambda items: tuple(item if part is None else part(item) for part, item in zip(parts, items, strict=True))
