"""From a reference case to a Python function and its inputs."""

from __future__ import annotations

import ast
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from cases import helpers
from texts import run_text

DATA = Path(__file__).resolve().parents[1] / "data" / "reference_cases.json"

LEFT_OUT = {
    "custom_vjp": "declares a derivative inline; the public declarations have their own tests",
    "erf": "the error function of arrays is not in NumPy",
}
"""Helpers whose cases are left out, and why."""


def load() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(DATA.read_text())["cases"]
    return cases


def names_in(sketch: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(sketch)) if isinstance(node, ast.Name)}


def reason_to_leave_out(case: dict[str, Any]) -> str | None:
    for name in names_in(case["sketch"]):
        if name in LEFT_OUT:
            return LEFT_OUT[name]
    return None


class Loaded:
    """A case as a module of its own, executed afresh each time it is loaded, with one class for every struct."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.structs: dict[str, list[str]] = {}
        for call in ast.walk(ast.parse(case["sketch"])):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Struct":
                self.structs["Struct"] = [str(keyword.arg) for keyword in call.keywords]
        for point in case["points"]:
            for spec in point["inputs"]:
                self._declare(spec)
        sketch = case["sketch"].replace(", dtype=object", "")
        text = "\n\n".join([*map(self._class_text, self.structs), sketch]) + "\n"
        filename = f"<reference case {case['id']}>"
        module = ModuleType("reference_case")
        sys.modules[module.__name__] = module  # where `dataclass` looks for the names of annotations
        self.namespace: dict[str, Any] = vars(module)
        self.namespace |= {"np": np, "math": math, "dataclass": dataclass}
        self.namespace |= {name: value for name, value in vars(helpers).items() if not name.startswith("__")}
        run_text(text, filename, self.namespace)

    @property
    def function(self) -> Callable[..., Any]:
        function: Callable[..., Any] = self.namespace["f"]
        return function

    def _declare(self, spec: Any) -> None:
        if isinstance(spec, list):
            for item in spec:
                self._declare(item)
        elif isinstance(spec, dict) and "struct" in spec:
            self.structs.setdefault(self._class_name(spec), list(spec["fields"]))
            for item in spec["fields"].values():
                self._declare(item)

    @staticmethod
    def _class_name(spec: dict[str, Any]) -> str:
        return str(spec["struct"]).replace(".", "_") + ("_" if spec["struct"] == "Struct" else "")

    def _class_text(self, name: str) -> str:
        fields = self.structs[name]
        sums = ", ".join(f"self.{field} + other.{field}" for field in fields)
        copies = ", ".join(f"self.{field}" for field in fields)
        return "\n".join(
            [
                "@dataclass",
                f"class {name}:",
                *[f"    {field}: object" for field in fields],
                "",
                "    def __add__(self, other):",
                f"        return {name}({sums})",
                "",
                "    def copy(self):",
                f"        return {name}({copies})",
            ]
        )

    def value(self, spec: Any) -> Any:
        """The value that a specification of the data stands for."""
        if isinstance(spec, list):
            return [self.value(item) for item in spec]
        if isinstance(spec, dict) and "struct" in spec:
            keep = spec.get("noderivative", ())
            fields = {
                k: v if k in keep and not isinstance(v, dict) else self.value(v) for k, v in spec["fields"].items()
            }
            return self.namespace[self._class_name(spec)](**fields)
        return plain(spec)

    def inputs(self, point: dict[str, Any]) -> list[Any]:
        return [self.value(spec) for spec in point["inputs"]]


def plain(spec: Any) -> Any:
    """Numbers and tensors; structures with attributes for structs."""
    if isinstance(spec, bool) or spec is None:
        return spec
    if isinstance(spec, (int, float)):
        return float(spec)
    if isinstance(spec, list):
        return [plain(item) for item in spec]
    if "const" in spec:
        return spec["const"]
    if "struct" in spec:
        return SimpleNamespace(**{name: plain(item) for name, item in spec["fields"].items()})
    if "tensor" in spec:
        array = np.array(spec["tensor"], dtype=np.float64)
        return array.reshape(spec["shape"]) if "shape" in spec else array
    if "fill" in spec:
        return np.full(spec["shape"], float(spec["fill"]))
    start, stop = spec["arange"]
    return np.arange(float(start), float(stop)).reshape(spec["shape"])


def ones_like(value: Any) -> Any:
    """A seed of ones for a result."""
    if isinstance(value, np.ndarray):
        return np.ones_like(value)
    if isinstance(value, (list, tuple)):
        return type(value)(ones_like(item) for item in value)
    return 1.0


def assert_matches(actual: Any, spec: Any, tol: float, where: str) -> None:
    """Compares what a specification lists with ``actual``; ``None`` in it is not asked."""
    if spec is None or (isinstance(spec, dict) and "const" in spec):
        return
    if isinstance(spec, list):
        assert len(actual) == len(spec), f"{where}: {actual!r}, expected {spec!r}"
        for index, item in enumerate(spec):
            assert_matches(actual[index], item, tol, f"{where}[{index}]")
    elif isinstance(spec, dict) and "struct" in spec:
        for name, item in spec["fields"].items():
            assert_matches(None if actual is None else getattr(actual, name, None), item, tol, f"{where}.{name}")
    else:
        expected = plain(spec)
        actual = np.zeros_like(expected) if actual is None else actual
        if isinstance(expected, np.ndarray):
            assert np.shape(actual) == expected.shape, f"{where}: shape {np.shape(actual)}, not {expected.shape}"
        np.testing.assert_allclose(np.asarray(actual, dtype=float), expected, rtol=tol, atol=tol, err_msg=where)
