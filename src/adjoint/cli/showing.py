"""The texts that ``adjoint show`` prints: derivatives as modules that run, stages, tapes."""

from __future__ import annotations

import argparse
import contextlib
import copy
import inspect
import io
from typing import Any

import numpy as np

import adjoint
from adjoint.api.derivative import Derivative, name_of
from adjoint.api.jvp_vjp import checked_tangents, specialized_jvp
from adjoint.api.tools.export import module_text
from adjoint.api.tools.inspection import examples_of, specialization_to_show
from adjoint.cli.target import TargetError, evaluate
from adjoint.diagnostics import DifferentiationError, error
from adjoint.sources import definitions
from adjoint.types.classes.annotations import signature
from adjoint.types.structure import map_structure


def text_of(options: argparse.Namespace, derivative: Any, wrt: Any) -> str:
    """What is asked for, of a derivative."""
    args = arguments_for(options.target, derivative.function, options.args)
    chosen = [name for name in ("tape", "stage", "native") if getattr(options, name)]
    if options.mode == "forward" and chosen:
        raise TargetError("'--mode forward' prints the directional derivative of a function, and goes alone")
    if not isinstance(derivative, Derivative):  # a matrix, made of products by sweeps
        if chosen:
            raise TargetError(f"'--{chosen[0]}' is of gradients: leave out --operator {options.operator}")
        return _sweep(options.operator, options.mode, derivative.function, args, wrt)
    if options.tape:
        if len(chosen) > 1:
            raise TargetError("'--tape' goes alone")
        with contextlib.redirect_stdout(io.StringIO()) as told:
            adjoint.tape_report(derivative, *args)
        return told.getvalue()
    if options.stage or options.native:
        return _stage(derivative, args, options.stage or "text", options.native)
    if options.mode == "forward":
        return _forward(derivative.function, args, wrt, "")
    compiled, _ = specialization_to_show(derivative, args, {})
    return module_text(compiled, derivative.function, *args, title=repr(derivative))


def arguments_for(target: str, function: Any, expressions: list[str]) -> tuple[Any, ...]:
    """The example arguments that are given, or those that annotations tell."""
    args = tuple(evaluate(expressions, function)) if expressions else examples_of(function)
    if args is None:
        names = [name for name, parameter in signature(function).parameters.items() if _is_open(parameter)]
        shown = ", ".join(f"'{name}'" for name in names)
        label = f"the types of the arguments are not known: of {shown}"
        help_ = f"pass example arguments: {target} {' '.join(['1.0', chr(39) + 'np.ones(3)' + chr(39)][: len(names)])}"
        raise error("AD0401", _heading(function), label, helps=(help_, "or annotate them as float or int"))
    try:
        signature(function).bind(*args)
    except TypeError as problem:
        raise TargetError(f"{target} takes {signature(function)}: {problem}") from None
    return args


def _is_open(parameter: inspect.Parameter) -> bool:
    is_collecting = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    known = (float, int, "float", "int")
    return not is_collecting and parameter.default is parameter.empty and parameter.annotation not in known


def _heading(function: Any) -> Any:
    try:
        return definitions.find(function).heading
    except (DifferentiationError, AttributeError):
        return None


def _stage(derivative: Derivative, args: tuple[Any, ...], name: str, native: bool) -> str:
    text = adjoint.stages(derivative, *args, native=native)
    if name == "all":
        return text
    titles, parts = [], []
    for block in f"\n{text}".split("\n-- ")[1:]:
        title, _, part = block.partition("\n")
        titles.append(title)
        parts.append(f"{part.rstrip()}\n")
    if name == "list":
        return "\n".join(titles) + "\n"
    if name not in titles and name == "text":  # it is not compiled, and why
        return parts[-1]
    if name not in titles:
        raise TargetError(f"there is no stage '{name}': {', '.join(dict.fromkeys(titles))}")
    return parts[len(titles) - 1 - titles[::-1].index(name)]


def _sweep(operator: str, mode: str, function: Any, args: tuple[Any, ...], wrt: Any) -> str:
    """What is called for each row or column of a matrix."""
    if operator == "hessian":
        return _forward(adjoint.grad(function, 0 if wrt is None else wrt), args, wrt, ", once for each column")
    if mode == "forward":
        return _forward(function, args, wrt, ", once for each column")
    _, pullback = adjoint.vjp(function, *copy.deepcopy(args))
    return f"# the pullback of vjp({function.__name__}), once for each row\n{adjoint.source(pullback)}"


def _forward(function: Any, args: tuple[Any, ...], wrt: Any, told: str) -> str:
    names = list(signature(function).parameters)
    chosen = [names.index(one) if one in names else one for one in (wrt if isinstance(wrt, tuple) else (wrt or 0,))]
    directions = [_direction(value) if place in chosen else None for place, value in enumerate(args)]
    tangents = checked_tangents(args, directions)
    compiled = specialized_jvp(function, args, tangents)
    return module_text(compiled, function, *args, title=f"jvp({name_of(function)}){told}")


def _direction(value: Any) -> Any:
    """A tangent of a value: ones."""
    one = lambda leaf: np.ones_like(leaf) if isinstance(leaf, np.ndarray) else None if type(leaf) is int else 1.0
    if isinstance(value, (float, np.ndarray, tuple, list, dict)):
        return map_structure(one, value)
    raise TargetError(f"'--mode forward' takes numbers, arrays, tuples, lists and dicts, not a {type(value).__name__}")
