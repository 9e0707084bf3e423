"""How derivatives are declared: one declaration serves forward and reverse mode.

The kinds, from the most to the least structured:

=================  ==================================================================================================
``elementwise``    acts on each element by itself, with broadcasting; says its partial derivatives
``linear``         linear in some of its arguments; says its transpose
``bilinear``       linear in each of two arguments; says both transposes
``general``        says its ``jvp`` and its ``vjp``
``constant``       its derivative is zero wherever it exists (``floor``)
``no_derivative``  its result carries no derivative (``argmax``)
``observer``       looks at its arguments and may act on the world (``print``)
``definition``     is what a Python function says that the compiler reads instead
=================  ==================================================================================================

To add a rule, call one of these at the top level of the module of its topic, with a ``domain`` or ``cases`` on which
the test that walks the registry can try it. Bodies are spliced into generated code: an expression (or a small plain
function) made of operators and of functions that have rules themselves, with the least arithmetic, because users read
it. Derivative functions receive the arguments of the call, keyword arguments by name; give them the parameter names
and defaults of the function they belong to.

Conventions: a cotangent is paired with a tangent by ``sum(ct * dot)``, without conjugation. Element-wise ties go to
the first argument, ties in a reduction share, and ``abs'(0) = 0``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adjoint.rules import registry
from adjoint.rules.kinds import (
    Bilinear,
    Case,
    Constant,
    Elementwise,
    Fn,
    General,
    Interval,
    Linear,
    NoDerivative,
    Observer,
    Sample,
)


def sample(*shape: int, kind: Any = "plain") -> Sample:
    """An array of this shape in an example call."""
    return Sample(shape, kind)


def number(kind: Any = "plain") -> Sample:
    """A Python float in an example call."""
    return Sample(None, kind)


def case(*args: Any, **kwargs: Any) -> Case:
    """An example call; a :class:`Sample` may stand inside lists and tuples."""
    return Case(args, kwargs)


def or_zero(dot: Any) -> Any:
    """A tangent that is handed to a ``jvp``; zero in place of the None of a whole number."""
    return 0.0 if dot is None else dot


def elementwise(
    fn: Fn,
    partials: Fn | None = None,
    *,
    scaled: Fn | None = None,
    domain: Interval | tuple[Interval, ...] = (-2.0, 2.0),
    singular: bool = False,
    by_rank: Mapping[tuple[Any, ...], Fn] | None = None,
    by_constants: Callable[[Mapping[int, Any]], Fn | None] | None = None,
    cases: Sequence[Case] = (),
    name: str | None = None,
    **facts: Any,
) -> Elementwise:
    """Declares a function that acts on each element by itself.

    Parameters
    ----------
    fn
        The function: of numbers, or of arrays that broadcast.
    partials
        ``partials(*args, y)``: the partial derivatives; the literals 1 and -1 cost nothing.
    scaled
        ``scaled(ct, *args, y)``: the same times ``ct``; give this where ``ct / b`` reads better than ``ct * (1 / b)``.
    domain
        Where the rule is tested: one interval, or one for each argument.
    singular
        Whether a partial derivative may be infinite where the function is not.
    by_rank
        Forms to be preferred where the ranks of the arguments are known, such as ``{(0, 0): ...}`` for scalars.
    """
    if (partials is None) == (scaled is None):
        raise TypeError("give exactly one of partials and scaled")
    intervals: Any = domain if isinstance(domain[0], tuple) else (domain,)
    rule = Elementwise(
        fn=fn,
        name=name or _name(fn),
        partials=partials,
        scaled=scaled,
        domain=intervals,
        singular=singular,
        by_rank=by_rank or {},
        by_constants=by_constants,
        cases=tuple(cases),
        **facts,
    )
    registry.add(rule)
    return rule


def linear(
    fn: Fn,
    transpose: Fn,
    *,
    wrt: tuple[int, ...] | None = (0,),
    cases: Sequence[Case] = (),
    name: str | None = None,
    **facts: Any,
) -> Linear:
    """Declares a function that is linear in the arguments ``wrt`` together (None: in all positional ones)."""
    rule = Linear(fn=fn, name=name or _name(fn), transpose=transpose, wrt=wrt, cases=tuple(cases), **facts)
    registry.add(rule)
    return rule


def bilinear(
    fn: Fn,
    transpose: Fn,
    *,
    cases: Sequence[Case] = (),
    name: str | None = None,
    by_rank: Mapping[tuple[Any, ...], Fn] | None = None,
    **facts: Any,
) -> Bilinear:
    """Declares a function that is linear in each of its first two arguments."""
    rule = Bilinear(
        fn=fn, name=name or _name(fn), transpose=transpose, cases=tuple(cases), by_rank=by_rank or {}, **facts
    )
    registry.add(rule)
    return rule


def general(
    fn: Fn,
    jvp: Fn | None,
    vjp: Fn,
    *,
    results: int = 1,
    cases: Sequence[Case] = (),
    name: str | None = None,
    **facts: Any,
) -> General:
    """Declares a function by its product with tangents and its product with cotangents."""
    rule = General(fn=fn, name=name or _name(fn), jvp=jvp, vjp=vjp, results=results, cases=tuple(cases), **facts)
    registry.add(rule)
    return rule


def constant(*fns: Fn, **facts: Any) -> None:
    """Declares functions whose derivative is zero wherever it exists."""
    for fn in fns:
        registry.add(Constant(fn=fn, name=_name(fn), **facts))


def no_derivative(*fns: Fn, **facts: Any) -> None:
    """Declares functions whose results carry no derivative."""
    for fn in fns:
        registry.add(NoDerivative(fn=fn, name=_name(fn), **facts))


def observer(*fns: Fn, pure: bool = True) -> None:
    """Declares functions that look at their arguments; those that act on the world are not ``pure``."""
    for fn in fns:
        registry.add(Observer(fn=fn, name=_name(fn), pure=pure))


def definition(
    fn: Fn,
    means: Fn,
    *,
    arity: int | None = None,
    when: Callable[[Mapping[str, Any]], bool] | None = None,
    arrays: tuple[str, ...] | None = None,
    functional: bool = False,
    only: bool = False,
    cases: Sequence[Case] = (),
) -> None:
    """Declares that a call of ``fn`` means a call of a Python function.

    The compiler reads the function ``means`` in place of ``fn``, as if the user had written it. A call with arguments
    for which ``means`` has no parameters stays a call of ``fn``, and is refused if a derivative would flow through it;
    so does a call for which a definition of this library raises NotImplementedError.

    Parameters
    ----------
    arity
        Only calls with so many positional arguments mean that.
    when
        Only calls mean that for whose arguments, by name, this says True; what is not known at compile time is
        ``registry.UNKNOWN``.
    arrays
        Names of the parameters that are arrays, where not all are but for those that say how; see
        :mod:`adjoint.rules.operands`.
    functional
        Whether it takes functions, so that the source of ``fn`` must not be read in its place: a call that ``means``
        does not cover is refused where it is handed a function that may vary.
    only
        Whether a call that ``means`` does not cover is refused, whatever it is handed.
    """
    registry.add_definition(registry.Definition(fn, means, arity, when, arrays, tuple(cases), functional, only))


def method(cls: type, name: str, callee: Fn) -> None:
    """Declares that ``object.name(*args)`` means ``callee(object, *args)`` for objects of a class."""
    registry.add_method(cls, name, callee)


def attribute(cls: type, name: str, callee: Fn) -> None:
    """Declares that ``object.name`` means ``callee(object)`` for objects of a class."""
    registry.add_attribute(cls, name, callee)


def closed(cls: type, *harmless: str) -> None:
    """Declares that methods of a class do what a derivative has to follow, unless they are declared or ``harmless``."""
    registry.add_closed(cls, harmless)


def _name(fn: Fn) -> str:
    module = getattr(fn, "__module__", None) or ""
    name = getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None) or repr(fn)
    if module in ("", "builtins", "_operator"):
        return str(name)
    return f"{module}.{name}"
