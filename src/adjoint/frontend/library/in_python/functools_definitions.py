"""What some of `functools` does, in Python: read by the compiler where a function that is differentiated uses it."""

from __future__ import annotations

from typing import Any


def memoised(function: Any) -> Any:
    table: dict[Any, Any] = {}

    def remembered(*args: Any, **named: Any) -> Any:
        key = (args, tuple(named.items())) if named else args
        if key not in table:
            table[key] = function(*args, **named)
        return table[key]

    return remembered


def reduce_from_first(function: Any, items: Any) -> Any:
    if not len(items):
        raise TypeError("reduce() of empty iterable with no initial value")
    result = items[0]
    for i in range(1, len(items)):
        result = function(result, items[i])
    return result


class SingleDispatch:
    """Stands for what `functools.singledispatch` makes of a function."""

    def __init__(self, function: Any) -> None:
        self._classes: list[Any] = [object]
        self._functions: list[Any] = [function]

    def register(self, cls: Any, function: Any = None) -> Any:
        if function is None:
            if not isinstance(cls, type):
                return self.register(class_in_annotation(cls), cls)
            return lambda one: self.register(cls, one)
        self._classes.append(cls)
        self._functions.append(function)
        return function

    def dispatch(self, cls: Any) -> Any:
        best = 0
        for i in range(len(self._classes)):
            if issubclass(cls, self._classes[i]) and issubclass(self._classes[i], self._classes[best]):
                best = i
        return self._functions[best]

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.dispatch(type(args[0]))(*args, **named)


def class_in_annotation(function: Any) -> Any:
    """The class that the annotation of a function's first argument names; the compiler reads it."""
    raise NotImplementedError
