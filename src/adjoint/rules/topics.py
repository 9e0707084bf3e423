"""Which modules say something of which functions: those of the library, by where what they tell of comes from."""

from __future__ import annotations

BASICS = ("helpers.numbers", "python.operators", "python.builtin", "python.math_functions")
STRUCTURES = ("helpers.structures",)
ASSERTIONS = ("numpy.assertions",)
ARRAYS = (
    "helpers.arrays",
    "numpy.elementwise",
    "numpy.reductions",
    "numpy.statistics.moments",
    "numpy.statistics.quantiles",
    "numpy.arrays.shapes",
    "numpy.arrays.padding",
    "numpy.arrays.construction",
    "numpy.products",
    "numpy.linalg.systems",
    "numpy.linalg.eigenvalues",
    "numpy.linalg.norms",
    "numpy.linalg.names",
    "numpy.fft",
    "numpy.call_forms",
    "numpy.order",
    "numpy.calculus",
    "numpy.polynomials.functions",
    "numpy.polynomials.series",
    "numpy.arrays.joining",
    "numpy.arrays.choosing",
    "numpy.ufunc_methods",
    "helpers.sequences",
    "numpy.methods",
)
_SPECIAL = tuple(
    f"scipy.special.{topic}"
    for topic in (
        *("elementary", "gamma_beta", "bessel", "elliptic", "ellipsoidal"),
        *("hypergeometric", "polynomials", "quadratures", "wave_functions"),
        *(
            f"probabilities.{of}"
            for of in ("by_value", "noncentral", "inverses", "inverses_of_noncentral", "of_counts")
        ),
    )
)
_OF_MATRICES = ("linalg", "decompositions", "systems", "factors", "riccati", "toeplitz")
_OF_STATISTICS = (
    *(f"distributions.continuous.{name}" for name in ("best_known", "bounded", "above_zero", "elsewhere", "of_tests")),
    *(f"distributions.continuous.{name}" for name in ("rarer", "ranges", "stable", "of_samples")),
    *(f"distributions.{name}" for name in ("discrete", "multivariate", "orthants", "classes")),
    *("hypotheses", "samples", "kernels", "fits", "orders"),
)
OF_SCIPY = {
    "scipy._lib": ("scipy.array_api",),
    "scipy._external": ("scipy.array_api",),
    "scipy.special": _SPECIAL,
    "scipy.linalg": tuple(f"scipy.matrices.{topic}" for topic in _OF_MATRICES),
    "scipy.cluster": ("scipy.clusters",),
    "scipy.sparse": ("scipy.sparse",),
    "scipy.spatial": ("scipy.distance", "scipy.neighbours"),
    "scipy.stats": (*_SPECIAL, *(f"scipy.stats.{topic}" for topic in _OF_STATISTICS)),
    "scipy.signal": (
        *("scipy.fft", "scipy.signals.signal", "scipy.images.filters", "scipy.images.ranks"),
        *(
            f"scipy.signals.{topic}"
            for topic in ("filters", "fractions", "resampling", "sections", "spectral", "systems")
        ),
    ),
    "scipy.ndimage": (
        "scipy.signals.signal",
        *(f"scipy.images.{topic}" for topic in ("filters", "ranks", "splines", "callback_filters")),
    ),
    "scipy.optimize": tuple(
        f"scipy.solvers.{topic}"
        for topic in ("optimize", "older_solvers", "global_optimizers", "least_squares", "choices")
    ),
    "scipy.integrate": ("scipy.integrate", "scipy.sampled_integrals", "scipy.solvers.boundary_values"),
    "scipy.interpolate": (
        *(f"scipy.interpolation.{topic}" for topic in ("interpolate", "interpolators", "grids", "lines", "smoothing")),
        *("scipy.neighbours", "scipy.interpolation.scattered"),
    ),
    "scipy.fft": ("scipy.fft",),
    "scipy.fftpack": ("scipy.fft", "scipy.signals.older_transforms"),
}
"""What is said of modules of SciPy, which need not be installed."""
MESSAGES = ("mpi.messages", "mpi.methods")
"""What is said of mpi4py, and of the maps that its methods mean."""
HELPERS_OF_SCIPY = {
    f"adjoint.runtime.numerical_methods.{folder}.{helper}": f"scipy.{module}"
    for folder, module, helpers in (
        *(("of_scipy", name, name) for name in ("linalg", "signal", "spatial")),
        *(("of_scipy", "sparse", "krylov sparse"), ("of_scipy", "optimize", "choices")),
        ("special", "special", "bessel_orders elliptic hypergeometric incomplete student zeta"),
    )
    for helper in helpers.split()
}
ARRAY_HELPERS = frozenset(
    f"adjoint.runtime.{home}.{name}"
    for home, names in (
        (
            "array_functions",
            "arrays cholesky linalg lu places products scans segments sequences sparse spectra triangular",
        ),
        ("numerical_methods.special", "bessel"),
        ("sets", "functions"),
    )
    for name in names.split()
)
SEPARATE = {
    **{
        f"adjoint.runtime.{name}": STRUCTURES
        for name in (
            *(f"arithmetic.{part}" for part in ("checks", "complex_powers", "in_place")),
            *("lists", "messages", "objects", "outside", "overlap"),
            *(f"tangents.{part}" for part in ("conversions", "slots", "sums", "zeros")),
        )
    },
    "cmath": ("python.complex_functions",),
    **dict.fromkeys(("_bisect", "datetime", "time"), ("python.without_derivatives",)),
    "adjoint.runtime.functions": ("helpers.function_values",),
    "adjoint.runtime.numerical_methods.implicit": ("helpers.implicit_functions",),
}
"""What is said of functions of some modules alone."""
