"""Texts that no file holds: the command line, standard input, Python's prompt, cells of notebooks."""

from __future__ import annotations

import collections
import linecache
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import adjoint as ad
from adjoint.sources import unfiled

PROGRAM = "import math\nimport adjoint as ad\ndef f(x):\n    return x * math.exp(0.0) * x\nprint(ad.grad(f)(3.0))\n"


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | changes


def run(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    options.setdefault("env", environment())
    options.setdefault("input", None if "stdin" in options else "")
    if "stdin" in options:
        del options["input"]
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60, **options)  # type: ignore[call-overload]


@pytest.mark.parametrize("words", [("-c",), ("-W", "ignore", "-qc"), ("-Wignore", "-Xutf8", "-c")])
def test_a_command(words: tuple[str, ...]) -> None:
    assert run(*words, PROGRAM, "-c", "further").stdout == "6.0\n"


def test_a_function_of_an_executed_string_is_not_looked_for_on_the_command_line() -> None:
    text = "import adjoint as ad\nexec('def f(x): return x * x')\nad.grad(f)(3.0)"
    errors = run("-c", text).stderr
    assert "AD0101" in errors and "AD0102" not in errors


def test_a_text_in_linecache() -> None:
    text = (
        "import linecache\ntext = 'def f(x): return x * x\\n'\n"
        "linecache.cache['made'] = len(text), None, text.splitlines(True), 'made'\n"
        "exec(compile(text, 'made', 'exec'))\nimport adjoint as ad\nprint(ad.grad(f)(3.0))"
    )
    assert run("-c", text).stdout == "6.0\n"


def test_functions_of_no_module() -> None:
    text = "def g(x, k=2.0):\n    return k * x * x\ndef f(x):\n    return g(x)\n"
    linecache.cache["<no module>"] = (len(text), None, text.splitlines(True), "<no module>")
    namespace: dict[str, Any] = {}
    exec(compile(text, "<no module>", "exec"), namespace)
    assert ad.grad(namespace["f"])(3.0) == 12.0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library's buffer is laid out as glibc has it")
@pytest.mark.parametrize("words", [(), ("-",)])
def test_a_program_in_a_pipe(words: tuple[str, ...]) -> None:
    assert run(*words, input=PROGRAM).stdout == "6.0\n"


@pytest.mark.parametrize("text", [PROGRAM, "#" * 5000 + "\n" + PROGRAM])
def test_a_program_of_a_pipe_that_is_gone_is_refused(text: str) -> None:
    found = run("-", input=text, env=environment(PYTHONUNBUFFERED="1"))
    assert "AD0101" in found.stderr and "has not kept it" in found.stderr


def test_standard_input_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "program.txt"
    path.write_text("#" * 5000 + "\n" + PROGRAM)
    with path.open() as file:
        assert run(stdin=file).stdout == "6.0\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_the_prompt(tmp_path: Path) -> None:
    import pexpect

    child = pexpect.spawn(
        sys.executable, ["-q"], env=environment(HOME=str(tmp_path), TERM="dumb"), encoding="utf-8", timeout=30
    )
    child.expect(">>> ")

    def typed(*lines: str) -> None:
        for line in lines:
            child.sendline(line)
            child.expect([r">>> ", r"\.\.\. "])

    typed("import adjoint as ad", "g = lambda x: x * x * x", "def f(x):", "    y = x * x", "    return y * x", "")
    typed("def f(x):", "    return x * x  # a second one, of the same name", "")
    child.sendline("print('found', ad.grad(f)(3.0), ad.grad(g)(2.0))")
    child.expect(r"found (\S+) (\S+)")
    assert child.match.groups() == ("6.0", "12.0")
    child.close(force=True)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["python", "-c", "text", "arg"], "text"),
        (["python", "-ctext"], "text"),
        (["python", "-OBc", "text"], "text"),
        (["python", "-X", "dev", "-W", "error", "-c", "text"], "text"),
        (["python", "--check-hash-based-pycs", "never", "-c", "text"], "text"),
        (["python", "-m", "module", "-c", "text"], None),
        (["python", "script.py", "-c", "text"], None),
        (["python", "-", "-c", "text"], None),
        (["python"], None),
    ],
)
def test_commands_on_command_lines(words: list[str], command: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", words)
    assert unfiled.command_line() == command


CELL = """
import numpy as np, math, adjoint as ad
def f(x):
    return np.sum(np.sin(x)**2) * math.exp(0.0)
g = lambda x: math.sin(x) * x
print(ad.grad(f)(np.zeros(2)), ad.grad(g)(0.0))
"""


def test_imports_and_functions_in_one_cell() -> None:
    """IPython compiles statement by statement: no import is known where the function is compiled."""
    text = "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.instance().run_cell(CELL)"
    assert run("-c", f"CELL = {CELL!r}\n{text}").stdout == "[0. 0.] 0.0\n"


def test_a_cell_of_a_real_kernel() -> None:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", env=environment())
    try:
        printed: list[str] = []

        def hear(message: dict[str, dict[str, str]]) -> None:
            printed.append(message["content"].get("text", ""))

        reply = client.execute_interactive(CELL, output_hook=hear, timeout=60)
        assert reply["content"]["status"] == "ok", reply["content"]
        assert "".join(printed) == "[0. 0.] 0.0\n"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


TEMPLATE = "def from_a_template(x):\n    return x * x\n"


def test_texts_that_exec_ran() -> None:
    held: dict[str, Any] = {}
    exec(TEMPLATE, held)
    exec("def from_a_literal(x): return x * x * x", held)
    assert ad.grad(held["from_a_template"])(3.0) == 6.0
    assert ad.grad(held["from_a_literal"])(2.0) == 12.0
    assert ad.grad(eval("lambda x: x**3 + 1.0"))(2.0) == 12.0


def test_a_text_that_nothing_keeps() -> None:
    held: dict[str, Any] = {}
    exec("def gone" + "(x): return x * x + 41.25", held)
    with pytest.raises(ad.DifferentiationError, match="nothing keeps the text of it"):
        ad.grad(held["gone"])(3.0)


def test_modules_that_are_frozen() -> None:
    def f(x: float) -> float:
        return sum(x * value for value in collections.UserDict({"a": 2.0, "b": 3.0}).values())

    assert ad.grad(f)(1.5) == 5.0
