"""Values that a derivative still reads when their memory is written: nobody may have changed them in between.

The IR tells memory that is written (handles) from values, whose memory nobody writes while they are read. Here a
finished derivative is interpreted, each value is remembered as it was made, and compared where it is read. Of arrays
their shapes are compared, too, with those that passes take them to have.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from adjoint import ir
from adjoint.dispatch import compiling, specialize, targets
from adjoint.target import PYTHON, Target
from ir import interpreter
from poison import outside, shapes
from poison.outside import Poisoned


class _Watched(interpreter.Env):
    """Values of variables, with what they were when they were made."""

    def __init__(self) -> None:
        super().__init__()
        self.before: dict[ir.Var, np.ndarray] = {}
        self.claims = shapes.Claims()

    def begin(self, function: ir.Function) -> None:
        self.claims = shapes.claimed(function)

    def __setitem__(self, var: ir.Var, value: Any) -> None:
        super().__setitem__(var, value)
        if var in self.claims.mirrored:
            super().__setitem__(self.claims.mirrored[var], value)
        claim = self.claims.shapes.get(var)
        if claim is not None and isinstance(value, np.ndarray) and value.dtype != object:  # None, copied
            shapes.compare(var, value, claim, self)
        self.before.pop(var, None)
        if isinstance(value, np.ndarray) and _is_value(var):
            self.before[var] = value.copy()

    def update(self, pairs: Iterable[tuple[ir.Var, Any]]) -> None:  # type: ignore[override]
        for var, value in pairs:
            self[var] = value

    def __getitem__(self, var: ir.Var) -> Any:
        value = super().__getitem__(var)
        before = self.before.get(var)
        if before is not None and not _is_equal(value, before):
            raise Poisoned(f"{var!r} was {before!r} when it was made, and is {value!r} where it is read")
        return value

    def callee(self, callee: Any) -> Any:
        return _EMPTY.get(callee, callee) if isinstance(callee, Hashable) else callee


def _poisoned(make: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Memory that nobody has filled yet, full of NaN."""

    def made(*args: Any, **kwargs: Any) -> np.ndarray:
        array = make(*args, **kwargs)
        if array.dtype.kind in "fc":
            array[...] = np.nan
        return array

    return made


_EMPTY = {make: _poisoned(make) for make in (np.empty, np.empty_like)}


def _is_value(var: ir.Var) -> bool:
    return isinstance(var.type, ir.Number) or (isinstance(var.type, ir.Array) and not var.type.storage.written)


def _is_equal(value: np.ndarray, before: np.ndarray) -> bool:
    return np.array_equal(value, before, equal_nan=value.dtype.kind in "fc")


@contextmanager
def interpreted(target: Target = PYTHON) -> Iterator[None]:
    """Derivatives are interpreted and watched for a while, rather than printed and loaded."""

    def load_for(function: Any, finished: ir.Function, *rest: Any) -> Callable[..., Any]:
        return lambda *args: interpreter.run(finished, *args, env=_Watched())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "load_for", load_for)
        patch.setattr(targets, "target_of", lambda *asked: target)
        specialize.forget()
        try:
            yield
        finally:
            specialize.forget()


def check(
    function: Callable[..., Any],
    args: Sequence[Any],
    mode: str,
    change: Callable[[Any], Any] = lambda leaf: leaf,
    target: Target = PYTHON,
) -> str:
    """Interprets derivatives in one mode, and raises where a value changes; gives what came of it."""
    with interpreted(target):
        return outside.check(function, args, mode, change)
