"""Functions of ``scipy.linalg`` that SciPy applies to each matrix of a stack: example calls with two matrices."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import linalg

sys.path.insert(0, str(Path(__file__).parent))
import evaluate as ev
from programs_in_files import module_of

import adjoint as ad
from adjoint.rules.kinds import Constant, NoDerivative
from adjoint.rules.registry import all_definitions, all_rules
from sampling import check_grads

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")


def _ranks(fn: Any) -> dict[str, int | str]:
    """The arguments of which SciPy's decorator makes stacks, with the ranks that one call takes."""
    if not inspect.isfunction(fn) or "_apply_over_batch" not in fn.__code__.co_qualname:
        return {}
    known = inspect.getclosurevars(fn).nonlocals
    return dict(zip(known["names"], known["ndims"], strict=True))


def _calls() -> dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    calls = {}
    said = [entry for entry in (*all_rules(), *all_definitions()) if not isinstance(entry, (Constant, NoDerivative))]
    for entry in said:
        if _ranks(entry.fn):
            rng = np.random.default_rng(5)
            for place, case in enumerate(entry.cases):
                calls[f"{entry.fn.__name__}{place}"] = (entry.fn, *ev._call(case, rng))
    return calls


CALLS = {
    name: call
    for name, call in _calls().items()
    if name not in ("solveh_banded0", "solveh_banded1", "matrix_balance1") and not name.startswith("qr_")
}
"""Without those that SciPy does not take as it takes one matrix: vectors on the right, and tuples in tuples; updates of
factors of stacks are refused."""


def _of_stack(name: str, path: Path) -> tuple[Callable[..., float], list[Any]]:
    """A number made of all results."""
    fn, args, kwargs = CALLS[name]
    names, ranks = list(inspect.signature(fn).parameters), _ranks(fn)
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    stacks = [_stack(given[name], rank) for name, rank in ranks.items() if given.get(name) is not None]
    others = {f"c{k}": given[name] for k, name in enumerate(names[len(stacks) : len(args)])}
    keywords = {name: value for name, value in kwargs.items() if name not in ranks}
    found = fn(*stacks, *others.values(), **keywords)
    parts = [found] if isinstance(found, np.ndarray) else list(found)
    arrays = [f"a{k}" for k in range(len(stacks))]
    call = ", ".join([*arrays, *others, *[f"{name}=k_{name}" for name in keywords]])
    taken = "part0" if isinstance(found, np.ndarray) else ", ".join(f"part{k}" for k in range(len(parts)))
    terms = " + ".join(f"np.sum(np.real(part{k}) * weights[{k}])" for k in range(len(parts)))
    text = (
        f"import numpy as np\n\n\ndef call({', '.join(arrays)}):\n    {taken} = function({call})\n    return {terms}\n"
    )
    module = module_of(path, text)
    weights = tuple(np.cos(np.arange(1.0, part.size + 1.0)).reshape(part.shape) for part in parts)
    vars(module).update(
        others, function=fn, weights=weights, **{f"k_{name}": value for name, value in keywords.items()}
    )
    return module.call, stacks


def _stack(one: Any, rank: int | str) -> Any:
    one = np.asarray(one)
    if rank == "1|2" and one.ndim == 1:
        one = one[:, None]  # a stack of vectors is a matrix
    return np.stack([one, 1.01 * one if one.dtype.kind in "fc" else one])


@pytest.mark.parametrize("name", CALLS)
def test_stacks(name: str, tmp_path: Path) -> None:
    call, stacks = _of_stack(name, tmp_path / "program.py")
    np.testing.assert_allclose(ad.vjp(call, *stacks)[0], call(*stacks), rtol=1e-9, atol=1e-10)
    check_grads(call, stacks, order=1, tol=1e-5)


COLUMNS, SQUARES = (
    np.array([[1.0, 0.3, -0.2], [2.0, 0.1, 0.4]]),
    np.array([[[3.0, 0.2], [0.1, 2.0]], [[1.5, 0.3], [0.4, 2.5]]]),
)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda c: np.sum(linalg.toeplitz(c) ** 2 * np.arange(9.0).reshape(3, 3)), (COLUMNS,)),
        (lambda c, r: np.sum(linalg.toeplitz(c, r) ** 2 * np.arange(9.0).reshape(3, 3)), (COLUMNS, COLUMNS[0])),
        (lambda c: np.sum(linalg.circulant(c) ** 2 * np.arange(9.0).reshape(3, 3)), (COLUMNS,)),
        (lambda a, b: np.sum(linalg.lu_solve(linalg.lu_factor(a), b) ** 2), (SQUARES, np.array([1.0, 2.0]))),
        (lambda a, b: np.sum(linalg.lu_solve(linalg.lu_factor(a), b, trans=1) ** 3), (SQUARES[0], SQUARES)),
        (lambda a, b: np.sum(linalg.lu_solve(linalg.lu_factor(a), b) ** 3), (SQUARES, SQUARES)),
        (lambda a, b: np.sum(linalg.cho_solve(linalg.cho_factor(a @ a.mT), b) ** 3), (SQUARES, SQUARES)),
    ],
)
def test_what_is_made_of_stacks_inside(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert ad.value_and_grad(function)(*args)[0] == pytest.approx(function(*args), rel=1e-12)
    check_grads(function, args, order=1)


def of_blocks(a):
    return np.sum(linalg.block_diag(a, 2.0 * a) ** 2)


def of_lags(c):
    return np.sum(linalg.matmul_toeplitz(c, np.eye(3)) ** 2)


@pytest.mark.parametrize(("function", "given"), [(of_blocks, SQUARES), (of_lags, COLUMNS)])
def test_stacks_that_are_refused(function: Callable[..., Any], given: Any) -> None:
    with pytest.raises(ad.DifferentiationError, match="with stacks of"):
        ad.grad(function)(given)


def test_updates_of_factors_of_stacks_are_refused() -> None:
    q, r = np.linalg.qr(np.stack([SQUARES[0], SQUARES[1]]))
    u, v = COLUMNS[:, :2], COLUMNS[:, 1:]
    with pytest.raises(ad.DifferentiationError, match="AD0"):
        ad.grad(lambda r: np.sum(linalg.qr_update(q, r, u, v)[1]))(r)
    with pytest.raises(ad.DifferentiationError, match="AD0"):
        ad.grad(lambda a: np.sum(linalg.qr_multiply(a, SQUARES)[0]))(SQUARES)
