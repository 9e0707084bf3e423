"""What draws of random numbers give, as far as their arguments tell: a number, or an array of a known rank."""

from __future__ import annotations

import numpy as np

from adjoint import ir
from adjoint.frontend.interpreter.values import NONE, TupleValue, Value

PARAMETERS = {
    **dict.fromkeys(["random", "random_sample", "rand", "randn"], 0),
    **dict.fromkeys(["standard_normal", "standard_exponential", "standard_cauchy"], 0),
    **dict.fromkeys(["exponential", "rayleigh", "standard_gamma", "chisquare", "standard_t"], 1),
    **dict.fromkeys(["weibull", "pareto", "power"], 1),
    **dict.fromkeys(["normal", "uniform", "lognormal", "laplace", "logistic", "gumbel", "vonmises", "wald"], 2),
    **dict.fromkeys(["gamma", "beta", "f", "noncentral_chisquare"], 2),
    **dict.fromkeys(["triangular", "noncentral_f"], 3),
}
WHOLE = {
    **dict.fromkeys(["poisson", "geometric", "logseries", "zipf"], 1),
    **dict.fromkeys(["binomial", "negative_binomial", "integers", "randint"], 2),
    "hypergeometric": 3,
}
"""How many parameters the draws of NumPy have before the size: without one, they give a number of Python."""
VECTORS = {"multivariate_normal": 2, "dirichlet": 1, "multinomial": 2}
"""The same of draws that give an array of one more axis than the size says."""
KNOWN = (*PARAMETERS, *WHOLE, *VECTORS)
_OF_PYTHON = """
    random uniform triangular betavariate expovariate gammavariate gauss lognormvariate normalvariate vonmisesvariate
    paretovariate weibullvariate
"""
OF_PYTHON: dict[str, ir.Type] = {
    **dict.fromkeys(_OF_PYTHON.split(), ir.FLOAT),
    **dict.fromkeys(["randint", "randrange", "getrandbits"], ir.INT),
}
"""What the draws of Python give."""


def given_by_numpy(name: str, args: list[Value], kwargs: dict[str, Value]) -> ir.Type | None:
    """The type of what a draw gives, where numbers are its parameters and the rank is known; else None."""
    if name in ("permutation", "choice"):
        return _chosen(name, args, kwargs)
    if name in VECTORS:
        return _vectors(name, args, kwargs)
    count = WHOLE.get(name, PARAMETERS.get(name))
    if count is None or {"out", "dtype"} & kwargs.keys():
        return None
    given = [*args[:count], *[value for key, value in kwargs.items() if key != "size"]]
    if not all(value == NONE or _is_number(value) for value in given):
        return None
    number = ir.FLOAT if name in PARAMETERS else ir.Scalar("int", np.dtype(np.int64)) if name == "integers" else ir.INT
    if name in ("rand", "randn"):
        return _array_of(number, len(args)) if all(map(_is_whole, args)) else None
    rank = _rank([*args[count:], *[value for key, value in kwargs.items() if key == "size"]])
    return None if rank is None else _array_of(number, rank)


def _chosen(name: str, args: list[Value], kwargs: dict[str, Value]) -> ir.Type | None:
    """The same of ``permutation(n)`` and ``choice(n, size)``."""
    if not args or not _is_whole(args[0]):
        return None
    sizes = [*args[1:2], *[value for key, value in kwargs.items() if key == "size"]]
    rank = 1 if name == "permutation" else _rank(sizes)
    return None if rank is None else _array_of(ir.INT, rank)


def _vectors(name: str, args: list[Value], kwargs: dict[str, Value]) -> ir.Type | None:
    """The same of draws of vectors; counts of them may be arrays, which have axes of their own."""
    is_count = name == "multinomial"
    if is_count and not _is_whole(args[0] if args else kwargs.get("n", NONE)):
        return None
    sizes = [*args[VECTORS[name] :][:1], *[value for key, value in kwargs.items() if key == "size"]]
    rank = _rank(sizes)
    return None if rank is None else _array_of(ir.INT if is_count else ir.FLOAT, rank + 1)


def _rank(sizes: list[Value]) -> int | None:
    """How many axes a draw has; None if it is not known."""
    match sizes:
        case []:
            return 0
        case [ir.Const(value=None)]:
            return 0
        case [TupleValue(items=items)] | [ir.Const(value=tuple() as items)]:
            return len(items) or None  # an array of no axes is none of these
        case [size] if _is_whole(size):
            return 1
        case _:
            return None


def _array_of(number: ir.Scalar, rank: int) -> ir.Type:
    dtype = np.dtype(np.int64) if number.kind == "int" else np.dtype(np.float64)
    extent: ir.Dim = "any"
    return number if rank == 0 else ir.Array(dtype, (extent,) * rank)


def _is_whole(value: Value) -> bool:
    if isinstance(value, ir.Const):
        return isinstance(value.value, (int, np.integer)) and not isinstance(value.value, bool)
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Scalar) and value.type.kind == "int"


def given_by_python(name: str, args: list[Value], kwargs: dict[str, Value]) -> ir.Type | None:
    """The same for Python's draws, which compute with the numbers that they are given."""
    is_plain = all(_is_number(value, of_python=True) for value in (*args, *kwargs.values()))
    return OF_PYTHON.get(name) if is_plain else None


def _is_number(value: Value, *, of_python: bool = False) -> bool:
    if isinstance(value, ir.Const):
        kinds = (int, float, np.number)
        return isinstance(value.value, kinds) and not (of_python and isinstance(value.value, np.generic))
    if not isinstance(value, ir.Var) or not isinstance(value.type, ir.Scalar):
        return False
    return value.type.dtype is None or not of_python
