"""An example call of a rule, spelled anew.

Arguments go by name or by place, further keywords of NumPy's signature come with them, and operands are arrays of
either layout, views that run backwards, of single precision, of rank 0, empty, numbers, lists, tuples.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special
import scipy.stats

from adjoint.rules.kinds import Constant, NoDerivative, Rule
from adjoint.rules.registry import all_definitions, all_rules
from fuzz.check import Skipped

sys.path.insert(0, str(Path(__file__).parents[2] / "rules"))
import evaluate as ev

MODULES = {
    "np": np,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "np.lib.stride_tricks": np.lib.stride_tricks,
    "np.polynomial.polynomial": np.polynomial.polynomial,
    "scipy.special": scipy.special,
    "scipy.linalg": scipy.linalg,
}
DISTRIBUTIONS = ("norm", "expon", "uniform", "laplace", "logistic", "cauchy", "t", "gamma", "beta", "poisson")
ENDLESS = (
    *(scipy.special.pro_cv, scipy.special.obl_cv, scipy.special.pro_ang1, scipy.special.obl_ang1),
    *(scipy.special.pro_rad1, scipy.special.obl_rad1, scipy.special.pro_rad2, scipy.special.obl_rad2),
)
"""Functions that never come back where their arguments are of single precision (SciPy 1.17)."""
ATTEMPTS = 12
"""How many spellings of a call are tried before NumPy has taken none."""

KEYWORDS: dict[str, tuple[Any, ...]] = {
    "axis": (None, 0, 1, -1, -2, (0,), (0, 1), (-1, 0)),
    "axes": (None, (0, 1), (1, 0), (0,), 1),
    "keepdims": (True, False),
    "dtype": ("float", "np.float64", "np.float32", "complex", None),
    "order": ("'C'", "'F'", "'K'", "'A'"),
    "where": (True, "MASK", "list(MASK)", "WHERE", "WHERE.tolist()"),
    "initial": (0.5, 2),
    "ddof": (0, 1, 0.5),
    "mode": tuple(map(repr, "full same valid raise clip wrap edge reflect symmetric mean constant r reduced".split())),
    "casting": ("'same_kind'", "'unsafe'"),
    "norm": (None, "'ortho'", "'forward'", "'backward'"),
    "kind": ("'stable'", "'quicksort'"),
    "method": ("'linear'", "'lower'", "'higher'", "'midpoint'", "'nearest'", "'median_unbiased'"),
    "ord": (None, 1, 2, -1, 3, 0, "np.inf", "-np.inf", "'fro'", "'nuc'"),
    "p": (None, 1, 2, "np.inf", "'fro'"),
    "optimize": (True, False, "'greedy'"),
    "UPLO": ("'L'", "'U'"),
    "weights": ("MASK * 0.5 + 1", "[1.0, 2.0, 0.5]", "(1, 2, 3)"),
    "fweights": ((1, 2, 1), "[1, 2, 1, 3]"),
    "aweights": ("[1.0, 2.0, 0.5]",),
    "prepend": (0.5, "[0.5]", "[[0.5], [0.25], [1.0], [2.0]]"),
    "append": (0.5, "(0.5, 1.0)"),
    "returned": (True,),
    "retstep": (True, False),
    "device": ("'cpu'",),
    "mean": (0.25,),
    "correction": (1,),
    "min": (-0.25, "[-0.5, 0.0, -0.25]", None),
    "max": (0.75, "(0.5, 0.25, 1.0)", None),
    "a_min": (-0.25, "[-0.5, 0.0, -0.25]", None),
    "a_max": (0.75, None),
    "copy": (True, False, None),
    "constant_values": (1.5, (1, 2), ((1, 2), (0.5, 3))),
    "trans": (0, 1, 2),
    "assume_a": ("'gen'", "'sym'", "'pos'"),
    "b": (2.0, "[1.0, 2.0, 0.5]"),
    "n": (1, 2, 3, 5),
    "num": (3, 5),
    "k": (0, 1, -1, 2),
    "q": (0.25, "[0.25, 0.75]"),
    "out": (None,),
    "like": (None,),
    "period": (2.0,),
    "left": (0.5,),
    "right": (-0.5,),
    "shape": ((2, 3), (6,), "[3, 2]", -1),
    "minlength": (6,),
    "decimals": (1,),
    "edge_order": (1, 2),
    "dx": (0.5,),
    "to_end": (0.5, "[1.0, 2.0]"),
    "to_begin": (0.5,),
    "loc": (0.25, "[0.0, 0.5, 1.0]"),
    "scale": (1.5, "(1.0, 0.5, 2.0)"),
    "bins": (3, "[-2.0, 0.0, 2.0]"),
    "offset": (0, 1, -1),
    "indexing": ("'ij'", "'xy'"),
    "subok": (True, False),
    "rcond": (None, 1e-10),
    "base": (2, 3.0),
}
FLAGS = """
    bias rowvar increasing endpoint sparse deg density hermitian compute_uv full_matrices check_finite lower upper
    unit_diagonal return_sign stable writeable tensor include_initial eigvals_only
    return_rank transposed full cov overwrite_input disp
"""
KEYWORDS.update(dict.fromkeys(FLAGS.split(), (True, False)))
KEYWORDS.update(dict.fromkeys(("overwrite_a", "overwrite_b"), (False,)))  # the constants are handed over twice
LAYOUTS = ("array", "fortran", "backwards", "strided")
OF_NOTHING = """
    np.resize np.median np.nanmedian np.quantile np.percentile np.nanquantile np.nanpercentile np.poly np.polymul
    np.corrcoef np.cov np.linalg.tensorsolve np.linalg.svd np.linalg.tensorinv
""".split()
"""Raise for empty arrays where NumPy has a result without numbers, or NaN."""


@dataclass(frozen=True)
class Form:
    """A spelled call: the text of a module with ``call(x)`` and ``arguments``, and what it is a call of."""

    callee: str
    text: str


@dataclass
class _Writer:
    """Writes an argument of an example call; what varies is ``x``."""

    rng: np.random.Generator
    varying: int
    shape: str
    seen: int = 0
    point: Any = None
    lines: list[str] = field(default_factory=list)

    def written(self, value: Any, free: bool = True) -> str:
        if isinstance(value, (list, tuple)):
            parts = [self.written(part, False) for part in value]
            inner = ", ".join(parts)
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(parts) == 1 else ''})"
        if _is_smooth(value):
            self.seen += 1
            value = _reshaped(value, self.shape)
            return self._varying(value, free) if self.seen - 1 == self.varying else self._constant(value, free)
        if isinstance(value, np.ndarray):
            return self._constant(value, free)
        return _named(value)

    def _varying(self, value: Any, free: bool) -> str:
        if not isinstance(value, np.ndarray):
            form = self._chosen(("x", "x", "np.float64(x)", "np.float32(x)", "np.array(x)", "np.array([x])", "[x]"))
            self.point = repr(float(np.real(value)))
            return form
        single = value.dtype.kind == "f" and self.rng.random() < 0.1
        given = value.astype(np.float32) if single else value
        rank = value.ndim
        forms = ["x"] * 6
        if free and value.size and rank:
            forms += ["list(x)", "tuple(x)", "x.tolist()", "[v for v in x]", "[2.0 * v for v in x]"]
            forms += ["[x[0], *x[1:]]", "(x[0], *x[1:])"]
        if free and value.size and rank == 2:
            forms += ["[list(row) for row in x]", "[tuple(row) for row in x]", "[[v * v for v in row] for row in x]"]
        form = self._chosen(forms)
        if form == "x" and rank in (1, 2) and value.size and value.dtype.kind == "f" and self.rng.random() < 0.2:
            self.point = repr(value.tolist())
            return form
        self.point = self._array(given)
        return form

    def _constant(self, value: Any, free: bool) -> str:
        if not isinstance(value, np.ndarray):
            return self._chosen((_named(value), _named(value), f"np.float64({_named(value)})"))
        choice = self.rng.random()
        if free and value.ndim and value.size and choice < 0.45:
            items = value.tolist()
            text = repr(items)
            if choice < 0.15:
                text = f"({', '.join(map(repr, items))},)"
            if choice > 0.3:
                self.lines.append(f"C{self.seen} = {text}")
                return f"C{self.seen}"
            return text
        if choice < 0.55 and value.dtype.kind == "f":
            value = value.astype(np.float32)
        elif choice < 0.6 and value.dtype.kind == "f" and value.ndim < 2:
            value = np.rint(value * 3).astype(int)
        self.lines.append(f"C{self.seen} = {self._array(value)}")
        return f"C{self.seen}"

    def _array(self, value: np.ndarray) -> str:
        layout = self._chosen(LAYOUTS) if value.ndim and self.rng.random() < 0.6 else "array"
        match layout:
            case "fortran":
                return f"np.asfortranarray({_plain(value)})"
            case "backwards":
                return f"{_plain(value[::-1])}[::-1]"
            case "strided":
                return f"np.repeat({_plain(value)}, 2, axis=-1)[..., ::2]"
        return _plain(value)

    def _chosen(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]


def _plain(array: np.ndarray) -> str:
    """The text of an array in the layout of C."""
    is_default = array.size and array.dtype.name in ("float64", "int64", "bool")
    dtype = "" if is_default else f", dtype={array.dtype.name!r}"
    return f"np.reshape(np.array({np.ravel(array).tolist()!r}{dtype}), {array.shape})"


def literal(value: Any) -> str:
    """The text of an argument."""
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(literal, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    return _plain(value) if isinstance(value, np.ndarray) else _named(value)


def module_text(name: str, arguments: str, point: str, lines: Iterable[str] = ()) -> str:
    """The text of a module with a call of ``x``, and the point at which it is looked at."""
    imports = ["import numpy as np"]
    if name.startswith("scipy."):
        imports += [f"import {name.rsplit('.', 2 if name.startswith('scipy.stats') else 1)[0]}"]
    body = [
        "",
        "",
        "def call(x):",
        f"    return {name}({arguments})",
        "",
        "",
        f"arguments = ({point},)",
        "f = call",
        "",
    ]
    return "\n".join([*imports, *lines, *body])


def _named(value: Any) -> str:
    """The text of what is no array."""
    if isinstance(value, type):
        return f"np.{value.__name__}" if issubclass(value, np.generic) else value.__name__
    if isinstance(value, float) and not np.isfinite(value):
        return f"float({str(value)!r})"
    name = getattr(value, "__name__", None)
    if callable(value) and isinstance(name, str) and getattr(np, name, None) is value:
        return f"np.{name}"
    if callable(value) or (isinstance(value, np.generic) and value.dtype.kind not in "biufc"):
        raise Skipped("an argument that has no text")
    return repr(value.item() if isinstance(value, np.generic) else value)


def _is_smooth(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")


def _reshaped(value: Any, shape: str) -> Any:
    match shape:
        case "number":
            return float(np.real(np.ravel(value)[0])) if np.size(value) else 0.5
        case "rank 0":
            return np.array(np.real(np.ravel(value)[0]))
        case "empty" if isinstance(value, np.ndarray) and value.ndim:
            return value[:0]
    return value


@cache
def callees() -> list[tuple[str, Any, Any]]:
    """The name of each callee, the callee, and what has its example calls, in one order."""
    names = _names()
    found: dict[str, tuple[str, Any, Any]] = {}
    for rule in all_rules():
        if isinstance(rule, (Constant, NoDerivative)) or id(rule.fn) not in names or rule.fn in ENDLESS:
            continue
        found[names[id(rule.fn)]] = (names[id(rule.fn)], rule.fn, rule)
    for place, entry in enumerate(all_definitions()):
        name = names.get(id(entry.fn)) or _bound(entry.fn)
        if name is not None and entry.cases:  # without an example call there is nothing to spell
            found[f"{name} {place}"] = (name, entry.fn, entry)
    return [found[key] for key in sorted(found)]


def _names() -> dict[int, str]:
    """The public names of functions, by identity."""
    names: dict[int, str] = {}
    for home, module in MODULES.items():
        for name in sorted(dir(module)):
            if not name.startswith("_"):
                names.setdefault(id(getattr(module, name)), f"{home}.{name}")
    return names


def _bound(fn: Any) -> str | None:
    """The name of a method of a ufunc or of a distribution."""
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{fn.__name__}"
    return next((f"scipy.stats.{d}.{fn.__name__}" for d in DISTRIBUTIONS if getattr(scipy.stats, d) is owner), None)


def generate(seed: int) -> Form:
    """The call of a seed."""
    rng = np.random.default_rng(seed)
    found = callees()
    name, fn, declared = found[int(rng.integers(len(found)))]
    for _ in range(ATTEMPTS):
        form = _spelled(name, fn, declared, rng)
        if form is not None:
            return form
    raise Skipped(f"{name}: no spelling that NumPy takes")


def _spelled(name: str, fn: Any, declared: Any, rng: np.random.Generator) -> Form | None:
    cases = cases_of(declared, rng)
    if not cases:
        return None  # what makes an object, of which there is no derivative by itself
    args, kwargs = cases[int(rng.integers(len(cases)))]
    choices = _choices(declared, args, kwargs)
    if not choices:
        return None
    shape = ("", "", "", "", "", "", "number", "rank 0", "empty")[int(rng.integers(9))]
    if name.startswith("scipy.linalg") or (shape == "empty" and name in OF_NOTHING):
        shape = ""  # LAPACK is handed what does not fit, and writes where it should not
    writer = _Writer(rng, choices[int(rng.integers(len(choices)))], shape)
    try:
        spelled = _arguments(fn, args, kwargs, writer, rng)
    except Skipped:
        return None
    masks = ("MASK = np.array([True, False, True])", "WHERE = np.array([[True, False, True]] * 4)")
    text = module_text(name, spelled, writer.point, (*masks, *writer.lines))
    return Form(name, text) if is_taken(text) else None


def _choices(declared: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int]:
    """Which of the smooth values of a call may vary: not those that a rule takes as given."""
    found: list[int] = []
    before = 0
    for place, value in enumerate((*args, *kwargs.values())):
        count = _count((value,))
        if not isinstance(declared, Rule) or place not in declared.fixed:
            found += range(before, before + count)
        before += count
    return found


def cases_of(declared: Any, rng: np.random.Generator) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The example calls of a rule or of a definition."""
    if isinstance(declared, Rule):
        return ev.cases_of(declared, rng)
    return [
        (
            tuple(ev.realise(arg, rng) for arg in case.args),
            {key: ev.realise(value, rng) for key, value in case.kwargs.items()},
        )
        for case in declared.cases
    ]


def _count(values: Any) -> int:
    return sum(_count(v) if isinstance(v, (list, tuple)) else _is_smooth(v) for v in values)


def _arguments(fn: Any, args: Any, kwargs: Any, writer: _Writer, rng: np.random.Generator) -> str:
    """The arguments between the parentheses of a call."""
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    given = [(positional[k] if k < len(positional) else None, writer.written(arg)) for k, arg in enumerate(args)]
    named = [(key, writer.written(value)) for key, value in kwargs.items()]
    has_rest = any(p.kind is p.VAR_POSITIONAL for p in parameters) and len(args) > len(positional)
    first = len(given)  # from here on by name
    while not has_rest and first and _goes_by_name(given[first - 1][0]) and rng.random() < 0.35:
        first -= 1
    named += _further(fn, parameters, {*(p.name for p, _ in given if p is not None), *kwargs}, rng)
    if first == len(given) and rng.random() < 0.3:  # the next parameters by place, where they are among the named
        for parameter in positional[len(given) :]:
            match = next((item for item in named if item[0] == parameter.name), None)
            if match is None:
                break
            named.remove(match)
            given.append((parameter, match[1]))
        first = len(given)
    by_name = [(p.name, text) for p, text in given[first:] if p is not None]
    keywords = [f"{key}={text}" for key, text in (*by_name, *named)]
    rng.shuffle(keywords)
    return ", ".join([text for _, text in given[:first]] + keywords)


def _goes_by_name(parameter: inspect.Parameter | None) -> bool:
    return parameter is not None and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)


def _further(fn: Any, parameters: Any, taken: set[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Keywords that the example does not have."""
    if isinstance(fn, np.ufunc):
        taken = {*taken, "where"}  # elements left out are not set
    free = [p.name for p in parameters if p.name in KEYWORDS and p.name not in taken and _goes_by_name(p)]
    found = []
    for _ in range(int(rng.choice([0, 0, 1, 1, 2]))):
        if free:
            name = free.pop(int(rng.integers(len(free))))
            option = KEYWORDS[name][int(rng.integers(len(KEYWORDS[name])))]
            found.append((name, option if isinstance(option, str) else repr(option)))
    return found


def is_taken(text: str) -> bool:
    """Whether NumPy takes the call, and gives real or complex numbers."""
    scope: dict[str, Any] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(text, scope)
            return bool(parts_of(scope["call"](*scope["arguments"])))
        except Exception:
            return False


def parts_of(result: Any) -> list[Any]:
    """The numbers and arrays of a result that may vary."""
    if isinstance(result, (list, tuple)):
        return [part for item in result for part in parts_of(item)]
    return [result] if np.asarray(result).dtype.kind in "fc" else []
