"""Functions of texts that stand in no file, as in a notebook."""

from __future__ import annotations

import linecache
from typing import Any


def run_text(text: str, filename: str, namespace: dict[str, Any] | None = None, flags: int = 0) -> dict[str, Any]:
    """Runs a text whose source only linecache knows; gives the names that it defines, in ``namespace`` if given."""
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {} if namespace is None else namespace
    exec(compile(text, filename, "exec", flags), namespace)
    return namespace
