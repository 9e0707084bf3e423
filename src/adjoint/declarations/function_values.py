"""Function values: functions that carry their derivatives, and the types of such functions.

``Fn[[float, np.ndarray], float]`` is the type of a function that can be differentiated, as an annotation and as a
conversion; its instances know their derivatives wherever they are kept in between. What runs a derivative of one that
is known only at run time is in :mod:`adjoint.runtime.functions`.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Generic, ParamSpec, TypeVar, Union, get_args, get_origin

import numpy as np

from adjoint.diagnostics import DifferentiationError, error
from adjoint.records import dataclass
from adjoint.rules import registry
from adjoint.sources import definitions
from adjoint.types.classes.annotations import UNKNOWN, alternatives, plain
from adjoint.types.classes.annotations import signature as python_signature
from adjoint.types.classes.constant_types import never_varies
from adjoint.types.marks import Mark, NoDerivative

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Signature:
    """What ``Fn[[...], ...]`` gives: the types of the parameters and of the result of a function.

    Called with a function it converts it. Two are equal where their types are.

    Attributes
    ----------
    parameters, result
        The annotations, those of the parameters without ``NoDerivative``.
    excluded
        Positions of the parameters that are marked ``NoDerivative``: their arguments must not vary.
    """

    parameters: tuple[Any, ...]
    result: Any
    excluded: tuple[int, ...] = ()

    @property
    def __adjoint_constant__(self) -> Any:
        return self.parameters, self.result, self.excluded

    @property
    def __adjoint_function_type__(self) -> bool:
        """Fields of this type carry no derivative."""
        return True

    def __call__(self, function: Any) -> Fn[..., Any]:
        """The function as one that carries its derivatives; refused where it cannot be differentiated."""
        return converted(function, self)

    def __repr__(self) -> str:
        marked = [
            f"NoDerivative[{shown(kind)}]" if place in self.excluded else shown(kind)
            for place, kind in enumerate(self.parameters)
        ]
        return f"Fn[[{', '.join(marked)}], {shown(self.result)}]"

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise TypeError(f"{self!r} is the type of functions; it has no subclasses")

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007  (which is what is defined here)

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007

    @property
    def places(self) -> tuple[int, ...]:
        """Positions of the parameters that vary."""
        return tuple(
            place for place, kind in enumerate(self.parameters) if place not in self.excluded and not never_varies(kind)
        )

    def forward(self, places: tuple[int, ...]) -> Signature:
        """The type of the function that takes tangents of the arguments in ``places`` besides, and gives a pair."""
        tangents = tuple(self.parameters[place] for place in places)
        return Signature((*self.parameters, *tangents), (self.result, self.result), self.excluded)


def shown(kind: Any) -> str:
    """An annotation as a user would write it."""
    if kind is Ellipsis:
        return "..."
    if isinstance(kind, type) and not get_args(kind):
        return "np.ndarray" if kind is np.ndarray else kind.__name__
    return "Any" if kind is UNKNOWN else str(kind).replace("typing.", "").replace("numpy.", "np.")


def parts_of(kind: Any) -> tuple[Any, ...] | None:
    """The types of the items of a tuple of known length; None for any other type."""
    if isinstance(kind, tuple):
        return kind
    args = get_args(kind)
    return args if get_origin(kind) is tuple and Ellipsis not in args else None


def dtype_of(kind: Any) -> np.dtype[Any] | None:
    """The dtype that the annotation of an array says."""
    args = get_args(get_args(kind)[1]) if len(get_args(kind)) == 2 else ()
    return np.dtype(args[0]) if args and isinstance(args[0], type) and issubclass(args[0], np.generic) else None


def name_of(function: Any) -> str:
    """What to call a function in messages."""
    inner = function.function if isinstance(function, Fn) else function
    return str(getattr(inner, "__name__", type(inner).__name__))


def signature_of(annotation: Any) -> Signature | None:
    """The type of functions that an annotation says, if it says one: ``Fn[...]``, perhaps optional or annotated."""
    for kind in alternatives(annotation):
        found = plain(kind)
        if isinstance(found, Signature):
            return found
    return None


def _parsed(item: Any) -> Signature:
    if not isinstance(item, tuple) or len(item) != 2 or not isinstance(item[0], (list, tuple)):
        label = f"Fn[{shown(item) if not isinstance(item, tuple) else ', '.join(map(shown, item))}]"
        raise error("AD0220", None, f"{label} does not list the types of the parameters", helps=(_FORM,))
    parameters, result = item
    kinds, excluded = [], []
    for place, kind in enumerate(parameters):
        if kind is Ellipsis:
            raise error("AD0220", None, "it has any number of parameters", helps=(_FORM,))
        if _is_marked(kind):
            excluded.append(place)
            kind = get_args(kind)[0]
        elif never_varies(kind):
            help_ = f"mark it: NoDerivative[{shown(kind)}]"
            raise error("AD0220", None, f"its parameter of type {shown(kind)!r} cannot vary", helps=(help_,))
        kinds.append(kind)
    if _is_marked(result):
        helps = ("mark parameters only; the result of a function that carries its derivative varies",)
        raise error("AD0220", None, "its result is marked NoDerivative", helps=helps)
    if never_varies(result):
        helps = ("return a float, an array of floats, or a structure of these",)
        raise error("AD0220", None, f"its result of type {shown(result)!r} cannot vary", helps=helps)
    if len(excluded) == len(kinds):
        label = "it has no parameter that varies"
        raise error("AD0220", None, label, helps=("leave at least one parameter without NoDerivative",))
    return Signature(tuple(kinds), result, tuple(excluded))


_FORM = "write Fn[[float, np.ndarray], float]: the types of the parameters in a list, then that of the result"


def _is_marked(kind: Any) -> bool:
    return get_origin(kind) is Annotated and any(isinstance(mark, Mark) for mark in get_args(kind)[1:])


class Fn(Generic[P, R]):
    """A function that carries its derivatives: a value that may be kept and passed anywhere.

    ``Fn[[float, np.ndarray], float]`` is the type of such functions of a float and an array that return a float. It
    annotates parameters, variables, fields, results and the items of containers. Called with a function it converts
    it, after a look at whether it can be differentiated.

    Where the function is known when a derivative is compiled, it is differentiated like any other. Where it comes out
    of a place that nobody can look into, the derivative calls what it carries.

    Parameters marked ``NoDerivative`` are not differentiated: calls in which they vary are refused.

    Raises
    ------
    DifferentiationError
        AD0220 for a type that no differentiable function has, AD0221 for a function that cannot be converted.

    Examples
    --------
    >>> import adjoint as ad
    >>> functions = {}
    >>> functions["square"] = ad.Fn[[float], float](lambda x: x * x)
    >>> def table(key):
    ...     return functions[key]
    >>> def loss(x):
    ...     f: ad.Fn[[float], float] = table("square")
    ...     return 2.0 * f(x)
    >>> ad.grad(loss)(3.0)
    12.0
    """

    function: NoDerivative[Callable[..., Any]]
    signature: NoDerivative[Signature | None]
    declared: NoDerivative[bool]

    def __init__(
        self, function: Callable[P, Any], signature: Signature | None = None, *, declared: bool = False
    ) -> None:
        self.function = function
        self.signature = signature
        self.declared = declared

    if not TYPE_CHECKING:

        def __class_getitem__(cls, item: Any) -> Any:
            is_general = isinstance(item, tuple) and item and isinstance(item[0], ParamSpec)
            return cls if is_general else _parsed(item)

    @property
    def __adjoint_signature__(self) -> Signature | None:
        return self.signature

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        value = self.function(*args, **kwargs)
        return value[0] if self.declared else value  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<{self.signature or 'Fn'}: {name_of(self)}>"


def converted(function: Any, signature: Signature) -> Fn[..., Any]:
    """A function as one that carries its derivatives, of the type that a signature says."""
    if isinstance(function, Fn):
        if function.signature == signature:
            return function
        return Fn(function.function, signature, declared=function.declared)
    if not callable(function):
        kind = type(function).__name__
        raise error("AD0221", None, f"{signature!r} was given a value of type {kind!r}", name=kind)
    name = name_of(function)
    if not _is_visible(function):
        raise error("AD0221", None, f"the body of {name!r} is not visible here", name=name)
    try:
        python_signature(function).bind(*signature.parameters)
    except TypeError as misfit:
        label = f"{signature!r} has {len(signature.parameters)} parameters; of {name!r} Python says: {misfit}"
        raise error(
            "AD0221", None, label, helps=("convert a function that takes these arguments",), name=name
        ) from None
    except ValueError:  # Python does not know its parameters
        pass
    return Fn(function, signature)


def _is_visible(function: Any) -> bool:
    """Whether there is a body to differentiate, or a declaration that says how to."""
    if registry.declaration_for(function) is not None or registry.rule_for(function) is not None:
        return True
    if hasattr(function, "__adjoint_operator__") or registry.is_defined(function):
        return True
    if isinstance(function, functools.partial):
        return _is_visible(function.func)
    if isinstance(function, types.MethodType):
        return _is_visible(function.__func__)
    plain_function = definitions.underlying(function)
    if plain_function is None:
        call = inspect.getattr_static(type(function), "__call__", None)
        plain_function = call if isinstance(call, types.FunctionType) else None
    if plain_function is None:
        return isinstance(function, type) and isinstance(function.__init__, types.FunctionType)  # type: ignore[misc]
    try:
        definitions.find(plain_function)
    except DifferentiationError:
        return False
    return True


def differentiable_function(derivative: Callable[P, tuple[R, Callable[..., Any]]]) -> Fn[P, R]:
    """A function value from what gives its value together with its pullback.

    Parameters
    ----------
    derivative
        Takes the arguments and returns ``(value, pullback)``, as what :func:`derivative_of` decorates does:
        ``pullback(cotangent)`` returns one cotangent for each argument, alone where there is one. Forward mode
        transposes it, and second derivatives differentiate this code. What it captures counts as a constant; where
        that varies the call is refused.

    Returns
    -------
    Fn
        The function: calls give the value.

    Raises
    ------
    DifferentiationError
        AD0221, if ``derivative`` is no function with a body that Adjoint can read.

    Examples
    --------
    >>> import math
    >>> import adjoint as ad
    >>> softplus = ad.differentiable_function(
    ...     lambda x: (math.log1p(math.exp(x)), lambda ct: ct / (1.0 + math.exp(-x)))
    ... )
    >>> ad.grad(softplus)(0.0)
    0.5
    """
    given: Any = derivative
    if not callable(given) or isinstance(given, Fn):
        kind = type(derivative).__name__
        raise error("AD0221", None, f"ad.differentiable_function was given a value of type {kind!r}", name=kind)
    if inspect.isbuiltin(given) or isinstance(given, type):
        label = f"{given.__name__!r} has no body that gives a value and a pullback"
        raise error("AD0221", None, label, name=given.__name__)
    return Fn(derivative, declared=True)
