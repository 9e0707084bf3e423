"""Numbers that are the extent of an array, or the trip count of a loop over it: which of them are one number."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from adjoint.ir.nodes import Atom, Attribute, Block, Call, Const, Load, Statement, Subscript, Var
from adjoint.ir.types import Array, Scalar
from adjoint.ir.walk import statements_in, targets_of
from adjoint.runtime import arrays, display

Count = Hashable

_MAKERS = (np.empty, np.zeros, np.ones)
_LIKE: dict[Any, int] = {np.copy: 0, np.zeros_like: 0, np.ones_like: 0, np.empty_like: 0, arrays.zeros_like: 0}


class Counts:
    """What numbers of a function are made of, as far as extents go.

    Terms that are equal are equal numbers wherever both variables have a value.
    """

    def __init__(self, body: Block) -> None:
        self.made: dict[Var, Statement] = {}
        for statement in statements_in(body):
            self.made.update(dict.fromkeys(targets_of(statement), statement))

    def of(self, atom: Atom) -> Count:
        """The term of a whole number."""
        if isinstance(atom, Const):
            return atom.value if type(atom.value) is int else atom
        match self.made.get(atom) if isinstance(atom, Var) else None:
            case Load(base=Var() as shape, key=Subscript(items=(Const(value=int() as axis),))):
                match self.made.get(shape):
                    case Load(base=array, key=Attribute(name="shape")):
                        return self.extent(array, axis)
                    case Call(callee=callee, args=(array,)) if callee is np.shape:
                        return self.extent(array, axis)
            case Call(callee=callee, args=(array,)) if callee is len and isinstance(array.type, Array):  # type: ignore[union-attr]
                return self.extent(array, 0)
        return atom

    def extent(self, array: Atom, axis: int) -> Count:
        """The term of an array's extent along an axis."""
        match self.made.get(array) if isinstance(array, Var) else None:
            case Call(callee=callee, args=(size, *_)) if _is_one_of(callee, _MAKERS):
                found = self.sizes(size)
                if found is not None and -len(found) <= axis < len(found):
                    return self.of(found[axis])
            case Call(callee=callee, args=args) if (place := _like(callee)) is not None and place < len(args):
                return self.extent(args[place], axis)
        return ("extent", array, axis)

    def sizes(self, size: Atom) -> tuple[Atom, ...] | None:
        """The extents that an array is made with."""
        if isinstance(size, Const):
            if type(size.value) is int:
                return (size,)
            return tuple(map(Const, size.value)) if isinstance(size.value, tuple) else None
        if isinstance(size, Var) and size.type == Scalar("int"):
            return (size,)
        made = self.made.get(size) if isinstance(size, Var) else None
        if isinstance(made, Call) and made.callee is display.make_tuple:
            return made.args
        return None


def _like(callee: Any) -> int | None:
    try:
        return _LIKE.get(callee)
    except TypeError:  # not hashable
        return None


def _is_one_of(callee: Any, functions: tuple[Any, ...]) -> bool:
    return any(callee is function for function in functions)
