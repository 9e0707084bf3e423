"""Programs that tests write: the compiler reads functions from files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


def module_of(path: Path, text: str) -> Any:
    """The module that a text in a file is."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
