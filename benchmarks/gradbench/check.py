"""Results beside references that are kept in files, ``NAME_SIZE.npz`` and ``NAME_SIZE_ref.npz``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evals import functions_of

Arrays = Mapping[str, Any]

COMPARED: dict[str, dict[str, Callable[[Any], Arrays]]] = {
    "gmm": {
        "objective": lambda found: {"objective": found},
        "jacobian": lambda found: {f"d_{name}": part for name, part in found.items()},
    },
    "ba": {
        "objective": lambda found: {"reproj_err_first": found[0][0], "w_err_first": found[1][0]},
        "jacobian": lambda found: {
            "csr_rows_31": _first_and_last(found.rows()),
            "csr_cols_31": _first_and_last(found.columns()),
            "csr_vals_31": _first_and_last(found.numbers),
            "sum_vals": np.sum(found.numbers),
        },
    },
    "lstm": {
        "objective": lambda found: {"objective": found},
        "jacobian": lambda found: {"d_main_params": found[0], "d_extra_params": found[1]},
    },
    "ht": {
        "objective": lambda found: {"objective": found.ravel()},
        "jacobian": lambda found: {"jacobian": found, "jac_frobenius": np.sqrt(np.sum(found * found))},
    },
    "ode": {
        "primal": lambda found: {"objective": found},
        "gradient": lambda found: {"gradient_last_adjoint": found},
        "total": lambda found: {"vjp_ones": found},
    },
    "lse": {
        "primal": lambda found: {"objective": found},
        "gradient": lambda found: {"gradient": found, "grad_sum": np.sum(found)},
    },
    "det": {"primal": lambda found: {"objective": found}, "gradient": lambda found: {"gradient": found.ravel()}},
    "llsq": {"primal": lambda found: {"objective": found}, "gradient": lambda found: {"gradient": found}},
    "kmeans": {"cost": lambda found: {"objective": found}, "dir": lambda found: {"dir": found}},
}
"""What the parts of each result are called in the files."""


@dataclass(frozen=True)
class Comparison:
    """One function on one input: the greatest difference to the reference, relative to its greatest number."""

    case: str
    function: str
    difference: float
    first: float
    second: float


def comparisons(folder: Path, build: Build) -> Iterator[Comparison]:
    """Compares all that is in a folder; ``first`` and ``second`` are the seconds of two calls."""
    for reference in sorted(folder.glob("*_ref.npz")):
        case = reference.stem.removesuffix("_ref")
        name = case.split("_")[0]
        known = COMPARED.get(name)
        if known is None:
            continue
        given, wanted = load(folder / f"{case}.npz"), load(reference)
        functions = functions_of(name, build)
        for function, parts_of in known.items():
            arguments = functions[function].prepare(given)
            times = []
            for _ in range(2):
                start = time.perf_counter()
                found = functions[function].run(*arguments)
                times.append(time.perf_counter() - start)
            yield Comparison(case, function, _difference(parts_of(found), wanted), *times)


def load(path: Path) -> dict[str, Any]:
    """The arrays of a file; those of a hand in the structure in which it is sent."""
    with np.load(path) as file:
        found = {name: file[name] if file[name].shape else file[name].item() for name in file.files}
    if "bone_names" in found:
        data = {name: found[name] for name in ("correspondences", "points")}
        found = {"theta": found["theta"], "us": found.get("us", []), "data": {"model": found, **data}}
    return found


def _difference(parts: Arrays, wanted: Arrays) -> float:
    """NaN where a part has another shape than its reference."""
    stride = wanted.get("stride", wanted.get("row_stride", 1))
    worst = 0.0
    for name, part in parts.items():
        found, reference = np.asarray(part, dtype=float), np.asarray(wanted[name], dtype=float)
        if name in ("gradient", "jacobian"):
            found = found[::stride]
        if found.shape != reference.shape:
            return float("nan")
        scale = np.max(np.abs(reference)) or 1.0
        worst = max(worst, float(np.max(np.abs(found - reference)) / scale))
    return worst


def _first_and_last(part: np.ndarray) -> np.ndarray:
    return np.append(part[:30], part[-1])
