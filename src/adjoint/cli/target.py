"""What the command line names: a function, and example arguments."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any


class TargetError(Exception):
    """The command line names something that is not there."""


def load_function(target: str) -> Callable[..., Any]:
    """The function that ``package.module:name`` or ``path/file.py:Class.method`` names."""
    where, colon, name = target.rpartition(":")
    if not colon or not where or not name:
        raise TargetError(f"'{target}' is not of the form module:function or file.py:function")
    value: Any = load_module(where)
    for part in name.split("."):
        if not hasattr(value, part):
            raise TargetError(f"'{where}' has no '{name}'")
        value = getattr(value, part)
    if not callable(value):
        raise TargetError(f"'{target}' is an object of type '{type(value).__name__}', not a function")
    return value  # type: ignore[no-any-return]


def evaluate(expressions: Sequence[str], function: Any) -> list[Any]:
    """The example arguments: Python expressions with the names of the function's module, ``np`` and ``math``."""
    import numpy as np  # lazy

    module = vars(sys.modules[function.__module__]) if getattr(function, "__module__", None) in sys.modules else {}
    values = []
    for text in expressions:
        try:
            values.append(eval(text, {"np": np, "math": math, **module}))
        except Exception as problem:
            raise TargetError(f"cannot evaluate the argument '{text}': {problem}") from problem
    return values


def load_module(where: str) -> ModuleType:
    """The module that a name or the path of a file means; what it prints is no part of an answer."""
    with contextlib.redirect_stdout(sys.stderr):
        return _loaded(where)


def _loaded(where: str) -> ModuleType:
    if where.endswith(".py"):
        return _load_file(Path(where))
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as problem:
        if problem.name is not None and (where == problem.name or where.startswith(f"{problem.name}.")):
            raise TargetError(f"there is no module '{where}'") from problem
        raise


def _load_file(path: Path) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        raise TargetError(f"there is no file '{path}'")
    root, name = path.parent, path.stem
    while (root / "__init__.py").exists():  # a module of a package, which may import from it
        root, name = root.parent, f"{root.name}.{name}"
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    if root != path.parent:
        return importlib.import_module(name.removesuffix(".__init__"))
    known = sys.modules.get(name)
    if name in sys.stdlib_module_names or (known is not None and getattr(known, "__file__", None) != str(path)):
        name = f"{name} of {path.parent}"  # which nobody else can mean
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
