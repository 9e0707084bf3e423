"""Derivatives as objects: compiled at their first call for each kind of arguments, and shown as functions are."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np

from adjoint import keypaths
from adjoint.diagnostics import DifferentiationError, error
from adjoint.diagnostics.entrances import hand_over
from adjoint.dispatch.keys import MISS, Door
from adjoint.dispatch.options import Native, resolve
from adjoint.dispatch.specialize import Specialization, specialization
from adjoint.frontend.entry.captured import differentiated
from adjoint.keypaths.parts import PartOf, as_part
from adjoint.sources.definitions import text_to_send
from adjoint.types.classes.annotations import signature

if TYPE_CHECKING:
    from adjoint.api.primal_adjoint import Adjoint, Canonical, Primal
    from adjoint.frontend.entry.restarts import Entry
    from adjoint.target import Target


WrtOne = Union[int, str, "keypaths.KeyPath[Any, Any]"]  # whose class is loaded by those who have one


Wrt = WrtOne | tuple[WrtOne, ...]


Mode = Literal["forward", "reverse"] | None


class LikeFunction:
    """What Python's tools ask of functions: a name, a signature, a text, and the function that it is made of."""

    kind: str
    function: Any

    def _describe(self) -> None:
        """Takes over what there is to be read of the function."""
        what, text = _WORDS.get(self.kind, "What is made"), getattr(self.function, "__doc__", None)
        self.__doc__ = f"{what} of {name_of(self.function)}." + (f"\n\n{text}" if text else "")
        self.__module__ = getattr(self.function, "__module__", __name__)
        self.__qualname__ = self.__name__

    @property
    def __name__(self) -> str:
        return f"{_plain_name(self.function)}_{self.kind}"

    @property
    def __wrapped__(self) -> Any:
        return self.function

    @property
    def __signature__(self) -> inspect.Signature:
        try:
            found = signature(self.function)
        except ValueError as error:  # nobody knows it
            raise AttributeError(str(error)) from None
        return found.replace(return_annotation=inspect.Signature.empty)


_WORDS = {
    "grad": "The gradient",
    "value_and_grad": "The value and the gradient",
    "jacobian": "The Jacobian",
    "hessian": "The Hessian",
    "compile": "The compiled form",
}


class Derivative(LikeFunction):
    """A derivative of a function: compiled at its first call for each kind of arguments.

    It can be pickled when the function can, and printed by :func:`source`.
    """

    def __init__(self, kind: str, function: Callable[..., Any], native: Native = None, **options: Any) -> None:
        self.kind = kind
        self.function = function
        self.native = resolve(native, function)
        self.options = tuple(sorted(options.items()))
        self._root = differentiated(function)
        self._door: Door | None = None
        self._keeps_shapes = kind == "grad"
        self._wrt, self._has_aux = options.get("wrt"), bool(options.get("has_aux"))
        self._places = self._wrt if type(self._wrt) is tuple else (self._wrt,)
        are_plain = all(type(place) is int and place >= 0 for place in self._places)
        self._last = max(self._places, default=0) if are_plain else sys.maxsize
        self._describe()

    @property
    def __adjoint_operator__(self) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
        return self.kind, self.function, self.options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._door is not None and not kwargs:
                result = self._door(self._root, args)
                if result is not MISS:
                    if type(result) is not float and self._keeps_shapes:
                        self._check_shapes(result, args, kwargs)
                    return result
            compiled = self.specialized(args, kwargs)
            if compiled.door is not None:
                self._door = compiled.door
                self._keeps_shapes = self.kind == "grad" and not compiled.writes_containers
            result = compiled.run(self._root, (*args, *kwargs.values()))
            if self.kind == "grad" and not compiled.writes_containers:
                self._check_shapes(result, args, kwargs)
            return result
        except Exception as failure:
            hand_over(failure)
            raise

    def _check_shapes(self, result: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Raises if a gradient has not the shape of its argument: the function raises there, and was not needed."""
        gradient = result[0] if self._has_aux else result
        if len(args) > self._last:
            parts = gradient if type(self._wrt) is tuple else (gradient,)
            for place, part in zip(self._places, parts, strict=True):  # a loop without calls, as most calls end here
                if type(part) is np.ndarray and type(args[place]) is np.ndarray and part.shape == args[place].shape:
                    continue
                if type(part) is not float:
                    break
            else:
                return
        from adjoint.api import shape_errors  # lazy

        shape_errors.check_shapes(gradient, self._wrt, self.function, args, kwargs)

    def specialized(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Specialization:
        """The compiled form for these arguments."""
        return specialization(
            self.function,
            (self.kind, self.options),
            args,
            kwargs,
            None,
            self.native,
            self._lowered,
        )

    def _lowered(self, args: Sequence[Any], kwargs: Mapping[str, Any], target: Target) -> Entry:
        from adjoint.frontend.entry.entry import lower_operator  # lazy

        return lower_operator(self.kind, self.function, self.options, args, kwargs, target)

    @functools.cached_property
    def _numba_type_(self) -> Any:
        """The type that Numba gives it in functions that call it."""
        from adjoint.api.tools.calls_from_numba import DerivativeType  # lazy

        return DerivativeType(self)

    @functools.cached_property
    def primal(self) -> Primal:
        """The forward sweep: ``df.primal(*args)`` gives ``(checkpoints, value)``; :mod:`adjoint.api.primal_adjoint`."""
        from adjoint.api import primal_adjoint  # lazy

        return primal_adjoint.Primal(self)

    @functools.cached_property
    def adjoint(self) -> Adjoint:
        """The reverse sweep: ``df.adjoint(checkpoints, value, seed)`` gives the gradient."""
        from adjoint.api import primal_adjoint  # lazy

        return primal_adjoint.Adjoint(self)

    @functools.cached_property
    def canonical(self) -> Canonical:
        """Both: ``df.canonical(*args, seed=1.0)`` gives ``(value, gradient)``."""
        from adjoint.api import primal_adjoint  # lazy

        return primal_adjoint.Canonical(self)

    @property
    def checkpoints(self) -> type:
        """The dataclass of what the forward sweep hands to the reverse sweep.

        It is that of the types that annotations tell, or else of the latest call of :attr:`primal`.
        """
        return self.primal.checkpoints

    def __repr__(self) -> str:
        given = (*self.options, *([("native", self.native)] if self.native else []))
        options = "".join(f", {key}={value!r}" for key, value in given if (key, value) not in _DEFAULTS)
        return f"{self.kind}({name_of(self.function)}{options})"

    def _repr_html_(self) -> str | None:
        """How notebooks show it: its source in colours, once the types of the arguments are known."""
        from adjoint.api.tools.inspection import html  # lazy

        return html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        text = text_to_send(self._root)
        return _restore, (type(self), self.kind, self.function, self.options, self.native, text)


_DEFAULTS = (("wrt", 0), ("has_aux", False))


def _plain_name(function: Any) -> str:
    """A name of letters only, whatever a function is called."""
    inner = function.func if isinstance(function, functools.partial) else function
    name = str(getattr(inner, "__name__", type(inner).__name__))
    return name if name.isidentifier() else "function"


def name_of(function: Any) -> str:
    """What to call a function: never with an address or with data."""
    if isinstance(function, functools.partial):
        return f"partial({name_of(function.func)})"
    if hasattr(function, "__adjoint_operator__"):
        return repr(function)
    return str(getattr(function, "__name__", type(function).__name__))


def _restore(
    cls: type[Derivative],
    kind: str,
    function: Any,
    options: tuple[tuple[str, Any], ...],
    native: Native = None,
    text: str | None = None,
) -> Derivative:
    if text is not None:
        from adjoint.sources import unfiled  # lazy

        unfiled.receive(text)
    return cls(kind, function, native, **dict(options))


def function_of(f: Any, operator: str) -> Any:
    if not callable(f):
        kind = type(f).__name__
        helps = None
        if hasattr(f, "__dict__") and not isinstance(f, np.ndarray):
            helps = (f"hand over a method of it, or give the class {kind} a method __call__",)
        raise error("AD0103", None, f"ad.{operator} was given a value of type '{kind}'", helps=helps, name=kind)
    return f


def no_derivative(tool: str, given: Any) -> DifferentiationError:
    """The refusal of what a tool for derivatives is handed instead of one."""
    label = f"ad.{tool} takes what ad.grad and ad.value_and_grad return"
    target = '"derivative.py", ' if tool == "export" else ""
    way = f"ad.{tool}({target}ad.grad({_shown(given)}), 1.0)"
    helps: tuple[str, ...] = (f"take the derivative first: {way}, with arguments of the kinds that are meant",)
    if getattr(given, "kind", None) == "jacobian":
        function = _shown(given.function)
        helps = (f"its columns are those of a differential: ad.source(ad.linearize({function}, 1.0)[1])",)
    elif getattr(given, "kind", None) == "hessian":
        way = way.replace(_shown(given), _shown(given.function))
        helps = (f"its columns are derivatives of the gradient: {way}",)
    name = getattr(given, "__name__", type(given).__name__)
    return error("AD0105", None, label, helps=helps if callable(given) else (), name=name)


def checked_wrt(wrt: Any, operator: str, f: Any) -> Any:
    """What ``wrt`` means; anything else is most likely an argument that belongs into a second call."""
    if isinstance(wrt, (list, tuple)):
        return tuple([checked_wrt(choice, operator, f) for choice in wrt])
    part = as_part(int(wrt) if isinstance(wrt, np.integer) else wrt)
    if isinstance(part, bool) or not isinstance(part, (int, str, PartOf)):
        given = repr(wrt) if isinstance(wrt, (bool, float, complex)) else "x"
        call = f"to differentiate there, call what comes back: ad.{operator}({_shown(f)})({given})"
        shown = f"wrt={wrt!r}" if given != "x" else f"an object of class {type(wrt).__name__!r}"
        label = f"{shown} is no index, name or key path"
        raise error("AD0405", None, label, helps=(call, "wrt takes the index or the name of a parameter"))
    return part


def _shown(f: Any) -> str:
    name = str(getattr(f, "__name__", "f"))
    return name if name.isidentifier() else "f"
