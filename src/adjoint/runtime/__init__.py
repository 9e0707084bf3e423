"""What generated code calls: small functions, free of state.

Every public function of the modules named here is handed out by the package, so that generated code says
``rt.spread(ct, x)`` after ``from adjoint import runtime as rt``, wherever the function lives. But for calls of function
values, nothing here needs the compiler.
"""

import sys
from importlib import import_module
from typing import Any

_MODULES = (
    "arrays",
    "bessel",
    "bundles",
    "checks",
    "contexts",
    "copies",
    "cotangents",
    "display",
    "lanes",
    "linalg",
    "numbers",
    "objects",
    "places",
    "plain",
    "products",
    "results",
    "scans",
    "segments",
    "sequences",
    "snapshots",
    "sorting",
    "sparse_products",
    "spectra",
    "tables",
    "tangents",
    "vector_math",
    "functions",
)
"""The last one needs the compiler: it is looked into for what no other has."""
_OTHERS = (
    "bessel_orders",
    "boundary",
    "checkpoints",
    "implicit",
    "incomplete",
    "indices",
    "jacobians",
    "outside",
    "overlap",
    "quadrature",
    "scipy_linalg",
    "scipy_solvers",
    "sparse_matrices",
    "stacks",
    "taylor",
)
"""Modules whose functions generated code names in other ways."""


def __getattr__(name: str) -> Any:
    """Looks into the modules that are loaded before it loads another: a name stands in one of them only."""
    if not name.startswith("_") and name not in (*_MODULES, *_OTHERS):
        loaded = [part for part in _MODULES if f"{__name__}.{part}" in sys.modules]
        for part in (*loaded, *[part for part in _MODULES if part not in loaded]):
            module = import_module(f"{__name__}.{part}")
            value = vars(module).get(name)
            if getattr(value, "__module__", None) == module.__name__:
                globals()[name] = value
                return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
