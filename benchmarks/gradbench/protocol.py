"""The protocol of GradBench: a message per line is read, and answered by a line."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from typing import Any, TextIO

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evals import UnknownError, functions_of
from benchmarks.gradbench.evaluation import Function

TOOL = "adjoint"
Answer = dict[str, Any]


def serve(messages: Iterable[str], answers: TextIO, build: Build) -> None:
    """Answers messages until they end. What is printed meanwhile goes to the standard error."""
    with redirect_stdout(sys.stderr):
        for line in messages:
            if not line.strip():
                continue
            message = json.loads(line)
            if message["kind"] == "end":
                return
            answers.write(json.dumps({"id": message["id"], **answer(message, build)}) + "\n")
            answers.flush()


def answer(message: Any, build: Build) -> Answer:
    """What is answered, but for the number of the message."""
    match message["kind"]:
        case "start":
            return {"tool": TOOL}
        case "define":
            return _or_error(lambda: _define(message["module"], build))
        case "evaluate":
            return _or_error(lambda: _evaluate(message, build))
    return {}


def _or_error(attempt: Callable[[], Answer]) -> Answer:
    try:
        return {"success": True, **attempt()}
    except Exception as failure:
        error = str(failure) if isinstance(failure, UnknownError) else "".join(traceback.format_exception(failure))
        return {"success": False, "error": error}


def _define(module: str, build: Build) -> Answer:
    functions_of(module, build)
    return {}


def _evaluate(message: Any, build: Build) -> Answer:
    functions = functions_of(message["module"], build)
    name, given = message["function"], message["input"]
    if name not in functions:
        raise UnknownError(f"the module {message['module']!r} has no function {name!r}")
    limits = given if isinstance(given, dict) else {}
    least_runs = max(1, int(limits.get("min_runs", limits.get("runs", 1))))
    result, times = timed(functions[name], given, least_runs, float(limits.get("min_seconds", 0.0)))
    timings = [{"name": "evaluate", "nanoseconds": nanoseconds} for nanoseconds in times]
    return {"output": functions[name].present(result), "timings": timings}


def timed(function: Function, given: Any, least_runs: int, least_seconds: float) -> tuple[Any, list[int]]:
    """The result and the nanoseconds of each run; a first one, in which code is compiled, does not count."""
    arguments = function.prepare(given)
    result = function.run(*arguments)
    times: list[int] = []
    while len(times) < least_runs or sum(times) < 1e9 * least_seconds:
        start = time.perf_counter_ns()
        result = function.run(*arguments)
        times.append(time.perf_counter_ns() - start)
    return result, times
