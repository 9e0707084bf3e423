"""Looking into derivatives: their text, and the stages on the way to it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from adjoint import ir
from adjoint.api.derivative import Derivative, no_derivative
from adjoint.api.gradients import grad
from adjoint.api.jvp_vjp import Pullback, checked_tangents, jvp, specialized_jvp
from adjoint.codegen.python import emit
from adjoint.diagnostics import DifferentiationError, error
from adjoint.diagnostics.entrances import entrance
from adjoint.diagnostics.similar import did_you_mean, one_of
from adjoint.differentiation.definitions import format_whole
from adjoint.differentiation.finish import finish
from adjoint.dispatch.specialize import Specialization, latest
from adjoint.dispatch.targets import target_of
from adjoint.frontend.entry.captured import differentiated
from adjoint.frontend.entry.entry import lower_operator
from adjoint.frontend.entry.restarts import Entry
from adjoint.optimize.simplify import simplify
from adjoint.passes import DRIVERS, Context
from adjoint.pipeline import finishing, run
from adjoint.records import replace
from adjoint.sources.definitions import underlying
from adjoint.types.classes.annotations import signature

_EXAMPLES: dict[Any, Any] = {float: 1.0, int: 2, "float": 1.0, "int": 2}


@entrance
def source(derivative: Any, *args: Any, **kwargs: Any) -> str:
    """The text of a derivative.

    Parameters
    ----------
    derivative
        What an operator returned, or one of the functions that it is made of, as ``ad.grad(f).primal``; or
        ``ad.jvp``, with the arguments it takes.
    *args, **kwargs
        Arguments for which to print it; not needed where annotations tell their types, or once it was called. Then
        the name of a function in the text gives the text of that function: ``ad.source(df, "rhs_pullback")``.

    Raises
    ------
    DifferentiationError
        AD0401 if the types of the arguments are not known; AD0106 if the text has no function of that name.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x: float) -> float:
    ...     return x * x
    >>> print(ad.source(ad.grad(f)))
    def f_grad(x):
        return 2.0 * x
    <BLANKLINE>
    """
    if not kwargs and len(args) == 1 and isinstance(args[0], str):
        return _of_function(derivative, args[0])
    return _whole(derivative, args, kwargs)


def _whole(derivative: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    text_of = getattr(derivative, "__adjoint_text__", None)
    if text_of is not None:
        return str(text_of(args, kwargs))
    if isinstance(derivative, Pullback):
        emitted = derivative._compiled.adjoint_emitted
        assert emitted is not None
        return emitted.text
    if derivative is jvp:
        return _of_jvp(*args, **kwargs).emitted.text
    if not isinstance(derivative, Derivative):
        raise no_derivative("source", derivative)
    return specialization_to_show(derivative, args, kwargs)[0].emitted.text


def _of_function(derivative: Any, name: str) -> str:
    """The text of one of the functions that a derivative consists of."""
    functions = _functions_of(_whole(derivative, (), {}))
    if name not in functions:
        meant = did_you_mean(name, functions)
        helps = (*meant, *(one_of(functions) if len(functions) > 1 or not meant else ()))
        raise error("AD0106", None, f"the text has no function {name!r}", helps=helps or None, name=name)
    return functions[name]


def _functions_of(text: str) -> dict[str, str]:
    """The functions of a text, by their names."""
    lines = text.splitlines(keepends=True)
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {node.name: "".join(lines[node.lineno - 1 : node.end_lineno]) for node in functions}


def _of_jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], **options: Any) -> Specialization:
    return specialized_jvp(f, tuple(primals), checked_tangents(primals, tangents), **options)


def specialization_to_show(
    derivative: Derivative, args: Sequence[Any], kwargs: Mapping[str, Any], example: str = "ad.source(df, 1.0)"
) -> tuple[Specialization, tuple[Any, ...]]:
    """The compiled form for these arguments, and the arguments, as far as they are known.

    Without arguments it is the one for the types that annotations tell, or else the one that was compiled last.
    """
    if args or kwargs:
        return derivative.specialized(args, dict(kwargs)), (*args, *kwargs.values())
    examples = examples_of(derivative.function)
    if examples is not None:
        return derivative.specialized(examples, {}), examples
    known = latest(derivative.function, (derivative.kind, derivative.options), derivative.native)
    if known is None:
        raise error(
            "AD0401",
            None,
            "the types of the arguments are not known",
            helps=(f"annotate the parameters, or pass example arguments: {example}",),
        )
    return known, ()


def known_arguments(derivative: Derivative, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments that are given, or others of the types that annotations tell."""
    examples = args if args or kwargs else examples_of(derivative.function)
    if examples is None:
        helps = ("annotate the parameters, or pass arguments: ad.tape_report(df, 1.0)",)
        raise error("AD0401", None, "the types of the arguments are not known", helps=helps)
    return examples


def examples_of(function: Any) -> tuple[Any, ...] | None:
    """Arguments made from annotations; None where these do not tell enough."""
    examples: list[Any] = []
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    for parameter in parameters:
        is_collecting = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if parameter.default is not parameter.empty or is_collecting:
            continue
        if parameter.annotation not in _EXAMPLES:
            return None
        examples.append(_EXAMPLES[parameter.annotation])
    return tuple(examples) or None


@entrance
def stages(f: Callable[..., Any], *args: Any, native: bool = False, **kwargs: Any) -> str:
    """The stages of compiling a derivative, as text.

    Parameters
    ----------
    f
        A function, whose gradient is shown, or a derivative.
    *args, **kwargs
        Arguments for which it is compiled.
    native
        Whether all passes on the way to machine code are shown.

    Returns
    -------
    str
        The source of the function, its form inside the compiler, the same simplified, which functions stay functions
        and why, the derivative in that form, and the text of the derivative. If ``native``, the source, then what each
        pass makes of what it changes, under the name that :mod:`adjoint.pipeline` gives it, the machine form as Python,
        and the LLVM IR that is compiled, for extents that agree as those of the arguments, or why there is none.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x):
    ...     return x * x + 0.0 * x
    >>> text = ad.stages(f, 3.0, native=True)
    >>> [line for line in text.splitlines() if line.startswith("--")][:5]
    ['-- source', '-- lowered', '-- reverse', '-- expand-derivatives', '-- dead-code']
    """
    derivative = f if isinstance(f, Derivative) else grad(f)
    function = derivative.function
    if native:
        return _native_stages(derivative, args, kwargs)
    primal = lower_operator("call", function, (), args, kwargs).function
    entry = lower_operator(derivative.kind, function, derivative.options, args, kwargs)
    parts = {
        "source": _source_of(function),
        "lowered": format_whole(primal),
        "simplified": format_whole(simplify(primal)),
        "functions": _functions(entry),
        "derivative": format_whole(finish(entry.function)),
        "text": source(derivative, *args, **kwargs),
    }
    return _under_titles((title, text) for title, text in parts.items() if text)


def _functions(entry: Entry) -> str:
    """Which functions stay functions, and why; how often lowering started again for what it found out."""
    lines = [
        f"{kept.name} stays a function: {kept.calls} {'call' if kept.calls == 1 else 'calls'} of it, inlined, "
        f"took {kept.statements} statements"
        for kept in entry.kept
    ]
    if lines or entry.attempts > 1:
        back = f", and went back {_times(entry.went_back)} on its way" if entry.went_back else ""
        lines.append(f"lowering was started {_times(entry.attempts)}{back}")
    return "\n".join(lines)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _native_stages(derivative: Derivative, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    from adjoint.native.backend import form_of  # lazy
    from adjoint.native.compile.boundary import halves  # lazy
    from adjoint.native.compile.not_native import NotNative  # lazy
    from adjoint.native.llvm.unit import shown  # lazy
    from adjoint.native.llvm.values import Unsupported  # lazy

    parts = [("source", _source_of(derivative.function))]

    def watch(name: str, before: ir.Function, after: ir.Function, seconds: float) -> None:
        if after is not before and name not in DRIVERS:
            text = format_whole(after)
            if text != format_whole(before):
                parts.append((name, text))

    target = replace(target_of(derivative.function, derivative.native or True), watch=watch)
    entry = lower_operator(derivative.kind, derivative.function, derivative.options, args, kwargs, target)
    parts.append(("lowered", format_whole(entry.function)))
    finished = run(finishing(derivative.kind), entry.function, Context(target))
    both = halves(finished)
    core = finished if both is None else both.core
    root = differentiated(derivative.function)
    given = (*args, *[item.read(root) for item in entry.captured])
    told = dict(zip(finished.params, given, strict=False)) if not kwargs else {}
    try:
        form = form_of(core, target, args=[told.get(param) for param in core.params])
        parts += [("text", emit(form, counted=True).text), ("llvm", shown(form))]
    except (NotNative, Unsupported) as reason:
        parts.append(("not compiled", str(reason)))
    return _under_titles(parts)


def _under_titles(parts: Iterable[tuple[str, str]]) -> str:
    return "\n\n".join(f"-- {title}\n{text.rstrip()}" for title, text in parts) + "\n"


def _source_of(function: Any) -> str:
    known = underlying(function)
    try:
        return repr(function) if known is None else inspect.getsource(known.__code__)
    except OSError:
        return repr(function)


def html(derivative: Derivative) -> str | None:
    """A derivative for a notebook, beside its function; None where plain text must do."""
    from adjoint.api.tools.report import view  # lazy

    try:
        return view(derivative)
    except DifferentiationError:
        return None


source.__adjoint_operator__ = "source"  # type: ignore[attr-defined]
stages.__adjoint_operator__ = "stages"  # type: ignore[attr-defined]
