"""What attempts to write a module leave for the next one: kinds that sweeps learnt, layouts, and texts for Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint import ir
from adjoint.native.llvm.callbacks import Callback
from adjoint.native.llvm.values import OBJECT, Kind, StructKind, kinds_in
from adjoint.native.llvm.writing.layouts import Layouts


class Attempts:
    """What the attempts to write one module have found.

    Attributes
    ----------
    layouts
        How objects are laid out.
    """

    def __init__(self) -> None:
        self.layouts = Layouts()
        self._learnt: dict[Any, tuple[ir.Function, dict[Any, Kind], int]] = {}
        self._callbacks: dict[Any, tuple[Any, Callback]] = {}
        self._number = 0
        self._trusts = False

    def begin(self) -> None:
        """Begins the next attempt."""
        self._number += 1
        self._trusts = False
        self.layouts.grown = False

    def learnt(self, function: ir.Function, kinds: Any) -> dict[Any, Kind]:
        """What a first sweep over a function may take for granted, for arguments of these kinds.

        What became an object is found anew: the next attempt may know more of it. Objects have other layouts.
        """
        _, before, number = self._learnt.get((id(function), kinds), (function, {}, self._number))
        learnt = {key: found for key, found in before.items() if _lasts(found)}
        self._trusts |= bool(learnt) and number < self._number
        return learnt

    def remember(self, function: ir.Function, kinds: Any, learnt: dict[Any, Kind]) -> None:
        """Takes note of what the sweeps over a function have learnt; the function keeps what stands for it alive."""
        self._learnt[id(function), kinds] = function, learnt, self._number

    def forget(self) -> bool:
        """Has the next attempt learn all anew; whether this one relied on what earlier ones had learnt."""
        self._learnt.clear()
        return self._trusts

    def callback(self, key: Any, kept: Any, make: Callable[[], Callback]) -> Callback:
        """The callback of this key, which is made once; ``kept``: what the key tells by its identity."""
        if key not in self._callbacks:
            self._callbacks[key] = kept, make()
        return self._callbacks[key][1]


def _lasts(found: Kind) -> bool:
    return not any(each == OBJECT or isinstance(each, StructKind) for each in kinds_in(found))
