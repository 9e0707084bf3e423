"""What generated code calls: small functions, free of state.

Every public function of the modules named here is handed out by the package, so that generated code says
``rt.spread(ct, x)`` after ``from adjoint import runtime as rt``, wherever the function lives. But for calls of function
values, nothing here needs the compiler.
"""

import sys
from importlib import import_module
from typing import Any

_MODULES = (
    "array_functions.arrays",
    "tangents.zeros",
    "tangents.conversions",
    "tangents.slots",
    "tangents.sums",
    "copies",
    "arithmetic.bundles",
    "arithmetic.checks",
    "arithmetic.complex_powers",
    "arithmetic.fused_loops",
    "arithmetic.in_place",
    "arithmetic.numbers",
    "arithmetic.vector_math",
    "array_functions.delayed",
    "array_functions.linalg",
    "array_functions.places",
    "array_functions.products",
    "array_functions.scans",
    "array_functions.segments",
    "array_functions.sequences",
    "array_functions.sparse",
    "array_functions.spectra",
    "cotangents",
    "display",
    "lists",
    "numerical_methods.special.bessel",
    "objects",
    "snapshots",
    "array_functions.rank_one",
    "array_functions.delayed_updates",
    "array_functions.triangular",
    "array_functions.cholesky",
    "array_functions.lu",
    "functions",
)
"""In the order in which a name is looked for: first where most are found, last in what needs the compiler."""
_OTHERS = (
    "arithmetic",
    "array_libraries",
    *(f"array_libraries.{part}" for part in ("adapters", "helpers", "linalg", "names", "operations", "portable")),
    *(f"array_libraries.{part}" for part in ("shapes", "values")),
    "comparisons",
    "messages",
    "arithmetic.indices",
    "array_functions",
    "boundary",
    "freed_memory",
    "numerical_methods",
    *(f"numerical_methods.{part}" for part in ("implicit", "jacobians", "quadrature", "of_scipy", "special")),
    *(f"numerical_methods.of_scipy.{part}" for part in ("choices", "linalg", "signal", "solvers", "sparse", "spatial")),
    *(f"numerical_methods.{part}" for part in ("of_scipy.blas_lapack", "of_scipy.krylov", "special.hypergeometric")),
    *(
        f"numerical_methods.special.{part}"
        for part in (
            "bessel_orders",
            "elliptic",
            "incomplete",
            "kolmogorov",
            "orthants",
            "splines",
            "student",
            "zeta",
        )
    ),
    "outside",
    "overlap",
    "sets",
    "sets.elements",
    "sets.entries",
    "sets.functions",
    "sets.numbers",
    "stacks",
    "tangents",
    "tangents.parts",
    "taylor",
    "taylor.functions",
    "taylor.power_series",
    "taylor.series",
    "taylor.solved",
)
"""Packages, and modules whose functions generated code names in other ways."""


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
