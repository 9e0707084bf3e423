"""That users' classes are what they were: a special method that is added, or other bases, make another program."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

from adjoint.frontend.entry.captured import Guard, is_twin
from adjoint.frontend.interpreter.values import LOCAL
from adjoint.sources.library_folders import is_class_of_a_library


def class_guards(classes: Iterable[type]) -> tuple[Guard, ...]:
    """The guard of users' classes, if there are any."""
    own = {base: _OfClass(base) for cls in classes for base in cls.__mro__ if _is_of_users(base)}
    return (ClassGuard(("classes",), lambda function: None, tuple(own.values())),) if own else ()


def _is_of_users(cls: type) -> bool:
    is_made_inside = LOCAL in cls.__dict__ or cls.__module__.startswith("adjoint.")
    return not (is_made_inside or is_class_of_a_library(cls))


class ClassGuard(Guard):
    """That classes have the bases and the special methods that they had: of one that is added nobody tells."""

    def holds(self, function: Any) -> bool:
        """Whether they are those that they were."""
        return all(each.is_as_it_was() for each in self.value)


class _OfClass:
    """The bases of a class, and the special methods that it has itself.

    Most calls find as many names in it as there were, the same one last: a name that is added stands last.
    """

    __slots__ = ("bases", "cls", "count", "functions", "last", "own", "special")

    def __init__(self, cls: type) -> None:
        self.cls, self.bases, self.special = cls, cls.__mro__, _special_names(cls)
        self.own: Any = cls.__dict__
        pairs = ((name, self.own[name]) for name in sorted(self.special))
        self.functions = [(name, value) for name, value in pairs if isinstance(value, _FUNCTIONS)]
        self.count, self.last = _size_and_last(cls)

    def is_as_it_was(self) -> bool:
        if self.cls.__mro__ is not self.bases:
            return False
        count, last = _size_and_last(self.cls)
        if count != self.count or last != self.last:
            if _special_names(self.cls) != self.special:
                return False
            self.count, self.last = count, last
        return all(self.own[name] is value or is_twin(self.own[name], value) for name, value in self.functions)

    def condition(self, name: Callable[[Any], str]) -> str:
        """The text of the question that most calls answer; ``name`` gives the names of objects."""
        own = name(self.own)
        tests = [
            f"{name(self.cls)}.__mro__ is {name(self.bases)}",
            f"len({own}) == {self.count}",
            f"next(reversed({own})) == {self.last!r}",
            *(f"{own}[{each!r}] is {name(value)}" for each, value in self.functions),
        ]
        return f"({' and '.join(tests)}) or {name(self.is_as_it_was)}()"


_FUNCTIONS = (types.FunctionType, property, staticmethod, classmethod)


def _size_and_last(cls: type) -> tuple[int, str | None]:
    own: Any = cls.__dict__
    return len(own), next(reversed(own), None)


def _special_names(cls: type) -> frozenset[str]:
    return frozenset(name for name in cls.__dict__ if name[:2] == "__" == name[-2:]) - _OF_BOOKKEEPING


_NAMES_OF_BOOKKEEPING = """
    __module__ __doc__ __dict__ __weakref__ __annotations__ __annotate__ __annotate_func__ __annotations_cache__
    __slots__ __abstractmethods__ __parameters__ __orig_bases__ __firstlineno__ __static_attributes__
"""
_OF_BOOKKEEPING = frozenset(_NAMES_OF_BOOKKEEPING.split())
