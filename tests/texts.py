"""Functions of texts that stand in no file, as in a notebook."""

from __future__ import annotations

import linecache
import sys
from types import ModuleType
from typing import Any


def run_text(text: str, filename: str, namespace: dict[str, Any] | None = None, flags: int = 0) -> dict[str, Any]:
    """Runs a text whose source only linecache knows; gives the names that it defines, in ``namespace`` if given."""
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {} if namespace is None else namespace
    exec(compile(text, filename, "exec", flags), namespace)
    return namespace


def run_module(text: str, name: str, **names: Any) -> Any:
    """The module of such a text, whose classes are found by its name; it starts with these names."""
    module = sys.modules[name] = ModuleType(name)
    vars(module).update(names)
    run_text(text, f"<{name}>", vars(module))
    return module
