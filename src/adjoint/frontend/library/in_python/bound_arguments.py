"""What the signature of a function makes of the arguments of a call, in Python: read by the compiler."""

from __future__ import annotations

import inspect
from typing import Any

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "by place",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "by place",
    inspect.Parameter.VAR_POSITIONAL: "rest",
    inspect.Parameter.KEYWORD_ONLY: "by name",
    inspect.Parameter.VAR_KEYWORD: "names",
}


class BoundArguments:
    """Stands for what `inspect.Signature.bind` gives.

    Of each parameter there are its name, its kind, whether it has a default, and that; the arguments are pairs of a
    name and a value, those of names of any name pairs again.
    """

    __adjoint_stands_for__ = inspect.BoundArguments

    def __init__(self, signature: Any, parameters: Any, arguments: Any) -> None:
        self.signature = signature
        self._parameters = parameters
        self.arguments = dict(arguments)
        for name, kind, _, _ in parameters:
            if kind == "names" and name in self.arguments:
                self.arguments[name] = dict(self.arguments[name])

    @property
    def args(self) -> Any:
        found: tuple[Any, ...] = ()
        for name, kind, _, _ in self._parameters:
            if kind == "by place" and name in self.arguments:
                found = (*found, self.arguments[name])
            elif kind == "rest" and name in self.arguments:
                found = (*found, *self.arguments[name])
        return found

    @property
    def kwargs(self) -> Any:
        found = {}
        for name, kind, _, _ in self._parameters:
            if kind == "by name" and name in self.arguments:
                found[name] = self.arguments[name]
            elif kind == "names" and name in self.arguments:
                found.update(self.arguments[name])
        return found

    def apply_defaults(self) -> None:
        whole = {}
        for name, kind, has_default, default in self._parameters:
            if name in self.arguments:
                whole[name] = self.arguments[name]
            elif has_default:
                whole[name] = default
            elif kind == "rest":
                whole[name] = ()
            elif kind == "names":
                whole[name] = {}
        self.arguments = whole
