"""``python -m benchmarks.npbench CHECKOUT``: gradients of NPBench's kernels, beside those of its JAX versions.

NPBench (https://github.com/spcl/npbench) is not part of this repository: name a checkout. What is differentiated is the
sum of what a kernel gives, or, where it gives nothing, of the arrays that it writes; these are copied first.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import linecache
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.__main__ import ONE_THREAD

RESULTS = Path(__file__).with_name("kernels") / "npbench.md"


def main() -> int:
    """Measures; the result is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.npbench", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout of NPBench")
    parser.add_argument("--only", default="", help="names of kernels, with commas between them: nothing is written")
    parser.add_argument("--preset", default="S", choices=("S", "M", "L", "paper"), help="the size")
    parser.add_argument("--interpreted", action="store_true", help="measure interpreted derivatives, too")
    parser.add_argument("--seconds", type=float, default=300.0, help="how long the process of a kernel may take")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="PATH", help="where to write the table")
    parser.add_argument("--kept", type=Path, help="a folder: what is found is kept there, and not measured again")
    parser.add_argument("--finding", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.update(ONE_THREAD)  # read by the libraries when they are imported

    from benchmarks.beside_jax import measured, table

    if options.finding is not None:
        subject = subject_of(options.checkout, options.only, options.preset)
        if subject is not None:
            options.finding.write_text(json.dumps(measured(subject, options.interpreted).kept()))
        return 0

    from rich.console import Console

    from benchmarks.report import markdown, show

    if options.kept is not None:
        options.kept.mkdir(parents=True, exist_ok=True)
    console = Console(width=None if sys.stdout.isatty() else 220)
    findings = []
    for name in options.only.split(",") if options.only else kernels(options.checkout):
        finding = _in_a_process(name, options)
        if finding is not None:
            findings.append(finding)
            console.print("  ".join(finding.row()), markup=False, highlight=False, soft_wrap=True)
    results = table(
        "NPBench",
        f"Gradients; CPU time of one thread, sizes of preset {options.preset}; ratios below 1 are faster. The program "
        "is compiled by Numba. First calls are those of machine code that nobody has kept, and of JAX, both after "
        "their imports and start-up; peak memory is what a call needs beyond what the process holds already, for JAX "
        "results and temporaries as XLA plans them. Some of JAX's versions are other algorithms, or depend on other "
        "elements: their gradients differ.",
        findings,
    )
    show(results, console)
    if not options.only:
        options.output.write_text(markdown([results], "python -m benchmarks.npbench"), encoding="utf-8")
    return 0


def kernels(checkout: Path) -> list[str]:
    """The names of all kernels."""
    return sorted(path.stem for path in (checkout / "bench_info").glob("*.json"))


def _in_a_process(name: str, options: argparse.Namespace) -> Any:
    """What a process of its own finds of a kernel, with nothing kept from before; None for one without floats."""
    from benchmarks.beside_jax import Finding, Subject

    with tempfile.TemporaryDirectory() as folder:
        finding = Path(options.kept or folder, f"{name}.json").resolve()
        if finding.exists():
            return Finding.read(json.loads(finding.read_text()))
        command = [sys.executable, "-m", "benchmarks.npbench", str(options.checkout), "--only", name]
        command += ["--preset", options.preset, "--finding", str(finding)] + ["--interpreted"] * options.interpreted
        try:
            ended = subprocess.run(
                command, env=os.environ | {"ADJOINT_CACHE_DIR": folder}, timeout=options.seconds, capture_output=True
            )
        except subprocess.TimeoutExpired:
            words = f"no end within {options.seconds:.0f} s"
        else:
            if finding.exists():
                return Finding.read(json.loads(finding.read_text()))
            if ended.returncode == 0:
                return None
            words = (ended.stderr.decode().strip().splitlines() or [f"exit status {ended.returncode}"])[-1][:90]
        return Finding(Subject(name, kernels, (), ()), notes=[words])


def subject_of(checkout: Path, name: str, preset: str) -> Any:
    """The kernel of a name; None if it has no argument of floats."""
    sys.path.insert(0, str(checkout))
    described = json.loads((checkout / "bench_info" / f"{name}.json").read_text())["benchmark"]
    return _subject(name, described, preset)


def _subject(name: str, described: dict[str, Any], preset: str) -> Any:
    from benchmarks.beside_jax import Subject  # which imports NumPy: after the environment is set

    home = f"npbench.benchmarks.{described['relative_path'].replace('/', '.')}.{described['module_name']}"
    values = dict(described["parameters"][preset])
    start = described.get("init")
    if start:
        made = getattr(importlib.import_module(home), start["func_name"])(*(values[key] for key in start["input_args"]))
        values.update(zip(start["output_args"], made if isinstance(made, tuple) else (made,), strict=False))
    arguments = tuple(values[key] for key in described["input_args"])
    wrt = tuple(i for i, value in enumerate(arguments) if isinstance(value, np.ndarray) and value.dtype.kind in "fc")
    wrt = wrt or tuple(i for i, value in enumerate(arguments) if isinstance(value, float))
    if not wrt:
        return None
    kernel = getattr(importlib.import_module(f"{home}_numpy"), described["func_name"])
    given = [np.copy(each) if isinstance(each, np.ndarray) else each for each in arguments]
    result = kernel(*given)
    parts = result if isinstance(result, tuple) else (result,)
    outputs = [i for i, part in enumerate(parts) if getattr(part, "dtype", np.dtype(int)).kind in "fc"]
    written = [
        key
        for key, before, after in zip(described["input_args"], arguments, given, strict=True)
        if key in described["output_args"]
        or (key in described["array_args"] and not np.array_equal(before, after, equal_nan=True))
    ]
    complex_ = {name for name, value in zip(described["input_args"], given, strict=True) if _is_complex(value)}
    complex_ |= {f"result[{i}]" for i, part in enumerate(parts) if _is_complex(part)}
    text = _text(described["input_args"], written, outputs, isinstance(result, tuple), complex_)
    compiled = _kernel(f"{home}_numba_n", described["func_name"])
    return Subject(
        name,
        _function(name, text, kernel),
        arguments,
        wrt,
        jax=_of_jax(home, described["func_name"], arguments, wrt, outputs),
        program=compiled and (lambda: compiled(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments))),
        loops=_computes_by_numbers(kernel),
    )


def _is_complex(value: Any) -> bool:
    return getattr(value, "dtype", np.dtype(int)).kind == "c"


def _text(names: list[str], written: list[str], outputs: list[int], several: bool, complex_: set[str]) -> str:
    """A function that sums what a kernel gives, of copies of what it writes."""
    lines = [f"def total({', '.join(names)}):"]
    lines += [f"    {key} = {key}.copy()" for key in written]
    lines.append(f"    result = kernel({', '.join(names)})")
    parts = [f"result[{i}]" for i in outputs] if several else ["result"] * bool(outputs)
    given = [f"np.real({part})" if {part, f"{part}[0]"} & complex_ else part for part in parts or written]
    lines.append("    return " + " + ".join(f"np.sum({part})" for part in given))
    return "\n".join(lines) + "\n"


def _function(name: str, text: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    home = f"<total of {name}>"
    linecache.cache[home] = (len(text), None, text.splitlines(keepends=True), home)
    names: dict[str, Any] = {"kernel": kernel, "np": np, "__name__": __name__}
    exec(compile(text, home, "exec"), names)
    return names["total"]  # type: ignore[no-any-return]


def _kernel(home: str, name: str) -> Callable[..., Any] | None:
    try:
        return getattr(importlib.import_module(home), name, None)
    except Exception:  # a library that is not installed, or has changed since
        return None


def _of_jax(
    home: str, name: str, arguments: tuple[Any, ...], wrt: tuple[int, ...], outputs: list[int]
) -> Callable[..., Any] | None:
    kernel = _kernel(f"{home}_jax", name)
    if kernel is None:
        return None
    kernel = getattr(kernel, "__wrapped__", kernel)  # whole numbers stay numbers: loops over them have derivatives

    def total(*varied: Any) -> Any:
        import jax  # lazy

        given = list(arguments)
        for place, value in zip(wrt, varied, strict=True):
            given[place] = value
        parts = kernel(*given)
        parts = parts if isinstance(parts, tuple) else (parts,)
        if outputs:
            parts = tuple(parts[i] for i in outputs)
        return sum(jax.numpy.sum(jax.numpy.real(part)) for part in parts)

    return total


def _computes_by_numbers(kernel: Callable[..., Any]) -> bool:
    """Whether loops inside of loops store single elements."""
    lines = inspect.getsource(kernel).splitlines()
    depths = [len(line) - len(line.lstrip()) for line in lines if line.lstrip().startswith("for ")]
    return len(set(depths)) >= 2


if __name__ == "__main__":
    sys.exit(main())
