"""Kinds of rules: element-wise, linear, bilinear, general; without a derivative; and how their examples are given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from adjoint import ir
from adjoint.records import dataclass, field
from adjoint.types.classes.annotations import signature
from adjoint.types.structure import home_of

Fn = Callable[..., Any]


Interval = tuple[float, float]


Effect = Literal["none", "reads", "writes"]


@dataclass(frozen=True, slots=True)
class Sample:
    """Stands for an array (a number where ``shape`` is None) in the example calls of a rule."""

    shape: tuple[int, ...] | None
    kind: Literal["plain", "positive", "definite", "distinct", "complex", "regular"] = "plain"


@dataclass(frozen=True, slots=True)
class Case:
    """An example call."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


UNCHECKED = "unchecked"
"""In place of a rank: a number of Python that may be zero, by which NumPy divides.

A quotient is infinite then, and nothing raises; nor may a derivative whose cotangent is a number of Python.
"""
Rank = int | str | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Rule:
    """What is declared of a function.

    Attributes
    ----------
    fn, name
        The function, and its name for messages.
    pure
        Calls may be repeated, reordered and removed.
    writes
        Positions of the arguments whose memory it writes.
    view_of
        Position of the argument whose memory the result may share.
    fresh
        Whether the results are surely memory of their own.
    results, result_class
        How many results a call has; several are returned as a tuple, of this class.
    singular
        A partial derivative may be infinite where the function is not: products with ``partials`` need the strong
        zero of ``runtime.numbers.times``. The products of ``scaled`` have it already.
    shape, dtype
        Whether the extents and the dtypes of results may be learnt from example calls.
    always_array
        Whether the result is an array even of numbers.
    arrays
        Names of the parameters that are arrays, where the kind of the rule does not tell; see
        :mod:`adjoint.rules.operands`.
    fixed
        Positions of arguments that the derivative takes as given: a call where one of them varies is refused.
    by_rank
        Forms of the derivative that read better where the ranks of the arguments are known (a scalar has rank 0; an
        ellipsis stands for arguments that do not matter).
    functional
        Whether an argument is a function, of which the derivative takes derivatives.
    exchanges
        It exchanges numbers with other processes: its results vary whatever its arguments do, its arguments matter
        whatever becomes of its results, and its derivative is called on each process that called it.
    agreed
        All processes get the same results.
    typed, shaped_by
        Tells the types of the results from those of the arguments, where calls cannot be tried; position of the
        argument that is the shape of the first.
    by_constants
        ``by_constants(constants)`` returns a form that reads better where some arguments, given by position, are known.
    """

    fn: Fn
    name: str
    pure: bool = True
    writes: tuple[int, ...] = ()
    view_of: int | None = None
    fresh: bool = False
    results: int = 1
    result_class: type = tuple
    singular: bool = False
    shape: Literal["sampled", "unknown"] = "sampled"
    dtype: Literal["sampled", "unknown"] = "sampled"
    always_array: bool = False
    arrays: tuple[str, ...] | None = None
    fixed: tuple[int, ...] = ()
    functional: bool = False
    exchanges: bool = False
    agreed: bool = False
    typed: Callable[[Sequence[Any]], tuple[Any, ...]] | None = None
    shaped_by: int | None = None
    domain: tuple[Interval, ...] | None = None
    cases: tuple[Case, ...] = ()
    by_rank: Mapping[tuple[Any, ...], Fn] = field(default_factory=dict)
    by_constants: Callable[[Mapping[int, Any]], Fn | None] | None = None

    @property
    def derivative(self) -> Fn | None:
        """The function that tells the derivative, for its signature."""
        return None

    @property
    def leading(self) -> int:
        """How many parameters of :attr:`derivative` come before the arguments of the call."""
        return 0

    def form(self, ranks: Sequence[Rank] = (), constants: Mapping[int, Any] | None = None) -> Fn | None:
        """The derivative function to splice, in the form that reads best.

        Parameters
        ----------
        ranks
            The ranks of the positional arguments, 0 for numbers and None where it is not known; see :data:`UNCHECKED`.
        constants
            The positional arguments that are known at compile time.
        """
        if self.by_constants is not None and constants:
            form = self.by_constants(constants)
            if form is not None:
                return form
        for key, form in self.by_rank.items():
            if key[-1] is Ellipsis:
                if tuple(ranks[: len(key) - 1]) == key[:-1]:
                    return form
            elif tuple(ranks) == key:
                return form
        return self.derivative

    @cached_property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """Parameters of the function: its own where Python knows them, else those of the derivative."""
        return own_parameters(self.fn) or self.accepted

    @cached_property
    def accepted(self) -> tuple[inspect.Parameter, ...]:
        """The parameters that the derivative is prepared for."""
        if self.derivative is None:
            return ()
        parameters = tuple(signature(self.derivative).parameters.values())
        return parameters[self.leading :]

    def unsupported(self, nargs: int, keywords: Sequence[str]) -> tuple[str, ...]:
        """The arguments of a call (given after :meth:`bind`) that the derivative does not cover, such as ``out=``."""
        if self.derivative is None or (not keywords and nargs <= self._most):
            return ()
        named = {p.name for p in self.accepted if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        if not any(p.kind is p.VAR_KEYWORD for p in self.accepted):
            unknown = tuple(name for name in keywords if name not in named)
        else:
            unknown = ()
        positional = [p for p in self.accepted if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if nargs > len(positional) and not any(p.kind is p.VAR_POSITIONAL for p in self.accepted):
            further = self.parameters[len(positional) : nargs]
            unknown += tuple(p.name for p in further) or (f"number {len(positional) + 1}",)
        return unknown

    def settings(self, nargs: int) -> tuple[tuple[int, str], ...]:
        """The positional arguments, of so many (given after :meth:`bind`), that must not vary, with their names."""
        settings = self._settings
        return tuple([(place, name) for place, name in settings if place < nargs]) if settings else ()

    @cached_property
    def _settings(self) -> tuple[tuple[int, str], ...]:
        names = [p.name for p in self.accepted if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        known = SETTINGS if self._is_of_a_library else frozenset()
        return tuple(
            [(place, name) for place, name in enumerate(names) if name in known or self._takes_as_given(place)]
        )

    def _takes_as_given(self, place: int) -> bool:
        return place in self.fixed

    @cached_property
    def is_of_a_user(self) -> bool:
        """Whether somebody else than this library declared it."""
        return not (getattr(self.derivative, "__module__", None) or "").startswith("adjoint.")

    @cached_property
    def is_of_the_runtime(self) -> bool:
        """Whether derivatives alone call the function, which takes some arguments for their shapes only."""
        return (getattr(self.fn, "__module__", None) or "").startswith("adjoint.runtime.")

    def name_of(self, place: int) -> str:
        """The name of a positional argument, for messages."""
        names = [p.name for p in self.accepted if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return names[place] if place < len(names) else f"argument {place + 1}"

    @cached_property
    def _is_of_a_library(self) -> bool:
        home = getattr(self.fn, "__module__", None) or home_of(type(self.fn))
        return home.partition(".")[0] in ("numpy", "scipy", "builtins")

    @cached_property
    def _most(self) -> int:
        """How many positional arguments the derivative is prepared for."""
        return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in self.accepted)

    def bind(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], constant: Callable[[Any], Any] = ir.Const
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Moves arguments that may vary from their names to their positions; defaults fill the gaps.

        Parameters
        ----------
        args, kwargs
            The arguments of a call, whatever stands for them.
        constant
            Makes what stands for a default value: an atom of the IR, unless the caller has something else.

        Returns
        -------
        tuple
            The positional and the remaining keyword arguments.
        """
        if not kwargs:
            return tuple(args), {}
        positional, named = list(args), dict(kwargs)
        places = [p for p in self.parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        settings = SETTINGS if self._is_of_a_library else frozenset()
        by_name = [None if p.kind is p.POSITIONAL_ONLY else p.name for p in places]
        moved = [k for k, name in enumerate(by_name) if name in named and name not in settings]
        for parameter in places[len(positional) : max(moved) + 1 if moved else 0]:
            if parameter.name in named:
                positional.append(named.pop(parameter.name))
            else:
                positional.append(constant(None if parameter.default is parameter.empty else parameter.default))
        return tuple(positional), named


_SETTING_NAMES = """
    axis axes keepdims dtype ddof ord order mode k n num endpoint full_matrices offset axis1 axis2 out where initial
    copy indices repeats reps optimize shift shape pad_width subok casting kind axisa axisb axisc s norm
"""


SETTINGS = frozenset(_SETTING_NAMES.split())
"""Parameters of NumPy and SciPy that say how, not what: they never vary, and read better by their names."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Elementwise(Rule):
    """Exactly one of ``partials`` and ``scaled`` is given.

    ``partials(*args, y)`` returns one partial derivative for each argument, alone where there is one argument;
    0 where it is zero, None where it is not known: calls where that argument varies are refused.
    ``scaled(ct, *args, y)`` returns the products of a cotangent (in forward mode, of each argument's tangent) with
    them, in the form that reads best. Forms of ``by_rank`` are of the kind that is given.
    """

    partials: Fn | None = None
    scaled: Fn | None = None

    @property
    def derivative(self) -> Fn | None:
        return self.scaled or self.partials

    @property
    def leading(self) -> int:
        return 1 if self.scaled else 0

    @cached_property
    def accepted(self) -> tuple[inspect.Parameter, ...]:
        assert self.derivative is not None
        parameters = tuple(signature(self.derivative).parameters.values())[self.leading :]
        return tuple(p for p in parameters if p.name != "y")

    @property
    def arity(self) -> int:
        """How many positional arguments it takes."""
        return sum(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in self.accepted)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Transposed(Rule):
    """A rule that is a transpose: it takes the cotangent of the result first."""

    transpose: Fn

    @property
    def derivative(self) -> Fn | None:
        return self.transpose

    @property
    def leading(self) -> int:
        return 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Linear(_Transposed):
    """Linear in the arguments ``wrt`` together (None: in all positional ones).

    ``transpose(ct, *args, **kwargs)`` returns the cotangent of the argument, or a tuple, one for each of ``wrt``
    (for each positional argument where ``wrt`` is None or has several). Forward mode calls the function with
    tangents in their place. Arguments of ``wrt`` that a call leaves out do not count. All others are taken as given;
    the result of a function of this library does not depend on them smoothly: a shape, a condition.
    """

    wrt: tuple[int, ...] | None = (0,)

    def _takes_as_given(self, place: int) -> bool:
        left_out = self.wrt is not None and place not in self.wrt
        return place in self.fixed or (left_out and self.is_of_a_user)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bilinear(_Transposed):
    """Linear in each of the first two arguments; ``transpose(ct, a, b, **kwargs)`` returns both cotangents.

    ``commutative`` says that two vectors may be swapped: of ``x @ x`` both cotangents are the same.
    """

    commutative: bool = False

    def _takes_as_given(self, place: int) -> bool:
        return place in self.fixed or (place > 1 and self.is_of_a_user)


@dataclass(frozen=True, eq=False, kw_only=True)
class General(Rule):
    """``jvp(dots, y, *args, **kwargs)`` returns the tangent of the result (a tuple where there are several).

    ``dots`` has one tangent for each positional argument: zeros for an inactive number or array, None for anything
    that has no derivative. ``vjp(ct, y, *args, **kwargs)`` returns a tuple, one cotangent for each positional
    argument, None for those of which none is known: calls where one of them varies are refused. Without a ``jvp``
    forward mode is refused. Where there are several results, ``y`` and ``ct`` are tuples.
    """

    jvp: Fn | None
    vjp: Fn

    @property
    def derivative(self) -> Fn | None:
        return self.vjp

    @property
    def leading(self) -> int:
        return 2


@dataclass(frozen=True, eq=False, kw_only=True)
class Constant(Rule):
    """Zero derivative wherever there is one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NoDerivative(Rule):
    """The result carries no derivative."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Observer(NoDerivative):
    """Looks at its arguments without keeping or changing them."""


def own_parameters(fn: Fn) -> tuple[inspect.Parameter, ...]:
    try:
        parameters = tuple(signature(fn).parameters.values())
    except (TypeError, ValueError):
        return ()
    return () if any(p.kind is p.VAR_KEYWORD for p in parameters) else parameters
