"""What generated code calls: small functions, free of state.

Every public function of the modules named here is handed out by the package, so that generated code says
``rt.spread(ct, x)`` after ``from adjoint import runtime as rt``, wherever the function lives. Nothing here needs the
compiler.
"""

from importlib import import_module
from typing import Any

_MODULES = (
    "arrays",
    "checks",
    "contexts",
    "copies",
    "display",
    "linalg",
    "numbers",
    "objects",
    "places",
    "products",
    "results",
    "scans",
    "sequences",
    "sorting",
    "tables",
    "tangents",
)


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and name not in _MODULES:
        for part in _MODULES:
            module = import_module(f"{__name__}.{part}")
            value = vars(module).get(name)
            if getattr(value, "__module__", None) == module.__name__:
                globals()[name] = value
                return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
