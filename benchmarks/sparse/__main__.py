"""Measures sparse derivatives beside CasADi, in one process and one thread, and writes ``results.md``.

CasADi is given the same functions: they run once on its symbols. It needs ``pip install casadi ipyopt``.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import subprocess
import sys
import tempfile
import time
import timeit
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import scipy.optimize  # noqa: F401  # which `ad.nlp` imports for its results: imports are not counted

import adjoint as ad
from benchmarks.sparse.programs import cases, objective, power_flow, power_flow_bounds, power_flow_data

MOST_SYMBOLS = 20_000
"""How many variables CasADi is given: its set-up takes minutes for more."""


def best(call: Callable[[], Any]) -> float:
    """The shortest processor time of a call, in milliseconds."""
    call()
    number = max(1, int(0.02 / max(timeit.timeit(call, number=1), 1e-7)))
    return 1e3 * min(timeit.repeat(call, number=number, repeat=9, timer=time.process_time)) / number


class Symbols:
    """NumPy, as far as the programs use it, for symbols."""

    @staticmethod
    def zeros(count: int) -> Any:
        out = np.empty(count, object)
        out[:] = [casadi.SX(0)] * count
        return out


def on_symbols(count: int, *functions: Any) -> tuple[Any, list[Any]]:
    """CasADi's symbols, and what functions give of their elements."""
    own: dict[str, Any] = {}
    for name, value in functions[0][0].__globals__.items():
        is_program = isinstance(value, types.FunctionType)
        own[name] = types.FunctionType(value.__code__, own, name) if is_program else value
    own |= {"np": Symbols, "math": casadi}
    symbols = casadi.SX.sym("x", count)
    elements = np.empty(count, object)
    elements[:] = casadi.vertsplit(symbols)
    return symbols, [own[function.__name__](elements, *data) for function, data in functions]


def in_casadi(kind: str, function: Any, args: tuple[Any, ...]) -> tuple[float, float, int]:
    """Seconds until a derivative is there, milliseconds of a call, and the number of entries."""
    start = time.process_time()
    x, *data = args
    symbols, (found,) = on_symbols(x.size, (function, data))
    value = casadi.vertcat(*found) if kind == "jacobian" else found
    matrix = casadi.jacobian(value, symbols) if kind == "jacobian" else casadi.hessian(value, symbols)[0]
    compiled = casadi.Function("f", [symbols], [matrix])
    ready = time.process_time() - start
    buffer, run = compiled.buffer()
    out, point = np.zeros(compiled.nnz_out(0)), np.array(x)
    buffer.set_arg(0, memoryview(point))
    buffer.set_res(0, memoryview(out))
    return ready, best(run), len(out)


def in_adjoint(kind: str, function: Any, args: tuple[Any, ...]) -> tuple[float, float, float, Any]:
    """Seconds of the first call, milliseconds of ``at.values`` and of the matrix, and what ``at`` says."""
    start = time.process_time()
    derivative: Any = (ad.jacobian if kind == "jacobian" else ad.hessian)(function, sparsity="auto", native=True)
    at = derivative.at(*args)
    out = at.values(*args)
    ready = time.process_time() - start
    values = best(lambda: at.values(*args, out=out, check=False))
    return ready, values, best(lambda: derivative(*args)), at


SOLVED = ("pglib_opf_case118_ieee", "pglib_opf_case1354_pegase")
OPTIONS = {"tol": 1e-8, "linear_solver": "mumps", "print_level": 0}


def solved_by_adjoint(name: str) -> tuple[float, float]:
    """Seconds from functions to the solution by Ipopt, and the value there."""
    data, cost = power_flow_data(name)
    bounds = power_flow_bounds(name)
    start = time.process_time()
    found = ad.nlp(
        lambda x: objective(x, cost, data[0]),
        lambda x: power_flow(x, *data),
        bounds.pop("start"),
        **bounds,  # type: ignore[arg-type]
        sparsity="auto",
        hessian_sparsity="auto",
        native=True,
        options=OPTIONS,
    )
    assert found.success, found.message
    return time.process_time() - start, found.fun


def solved_by_casadi(name: str) -> tuple[float, float]:
    """The same by CasADi."""
    data, cost = power_flow_data(name)
    bounds = power_flow_bounds(name)
    start = time.process_time()
    x, (value, constraints) = on_symbols(len(bounds["start"]), (objective, (cost, data[0])), (power_flow, data))
    problem = {"x": x, "f": value, "g": casadi.vertcat(*constraints)}
    solver = casadi.nlpsol("solver", "ipopt", problem, {"ipopt": OPTIONS, "print_time": False})
    found = solver(
        x0=bounds["start"], lbx=bounds["lower"], ubx=bounds["upper"], lbg=bounds["g_lower"], ubg=bounds["g_upper"]
    )
    return time.process_time() - start, float(found["f"])


def in_a_process(solve: str, name: str, folder: str) -> tuple[float, float]:
    """What a function of this module gives in a process of its own, with machine code kept in a folder."""
    text = f"from benchmarks.sparse import __main__ as m; print('found', *m.{solve}({name!r}))"
    ended = subprocess.run(
        [sys.executable, "-c", text],
        env=os.environ | {"ADJOINT_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("found ")]
    seconds, value = map(float, line.split()[1:])
    return seconds, value


def solved() -> Iterator[str]:
    """Lines on whole searches."""
    yield "## Solved by Ipopt"
    yield ""
    yield "From functions to the solution, set-up included, each in a process: processor seconds after imports."
    yield "Both have the same Ipopt options, MUMPS, and derivatives of both orders."
    yield ""
    yield "| problem | variables | constraints | cold | from the cache | CasADi |"
    yield "|---|---|---|---|---|---|"
    for name in SOLVED:
        with tempfile.TemporaryDirectory() as folder:
            cold, value = in_a_process("solved_by_adjoint", name, folder)
            cached, again = in_a_process("solved_by_adjoint", name, folder)
            theirs, expected = in_a_process("solved_by_casadi", name, folder)
        assert np.allclose([value, again], expected, rtol=1e-6), (value, again, expected)
        bounds = power_flow_bounds(name)
        sizes = f"{len(bounds['start'])} | {len(bounds['g_lower'])}"
        yield f"| {name} | {sizes} | {cold:.2f} | {cached:.2f} | {theirs:.2f} |"


def main() -> None:
    lines = [
        "# Sparse derivatives of plain loops",
        "",
        "Generated by `python -m benchmarks.sparse`, in one process and one thread: processor time, the best of 9, in",
        "milliseconds.",
        "CasADi's SX functions through buffers, of the same program; its entries count what is zero in the data out.",
        "`values` is `at.values(..., out=, check=False)`, `matrix` the `csr_array`; first calls in seconds.",
        "",
        "| program | variables | entries | method | values | matrix | first call | CasADi | its set-up | its entries |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, (kind, function, args) in cases(large=True).items():
        ready, values, matrix, at = in_adjoint(kind, function, args)
        row = [name, f"{args[0].size}", f"{len(at.cols)}", at.method, f"{values:.4f}", f"{matrix:.3f}", f"{ready:.1f}"]
        if args[0].size <= MOST_SYMBOLS:
            its_ready, its, its_entries = in_casadi(kind, function, args)
            row += [f"{its:.3f}", f"{its_ready:.1f}", f"{its_entries}"]
        else:
            row += ["", "", ""]
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
    lines.append("")
    for line in solved():
        lines.append(line)
        print(line, flush=True)
    (Path(__file__).parent / "results.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
