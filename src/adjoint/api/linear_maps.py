"""Linear maps: the differential of a function at a point, and transposes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Self

from adjoint.api.derivative import function_of
from adjoint.api.jvp_vjp import Pullback, checked_tangents, inputs_of_jvp, leaf_seed, specialized_jvp
from adjoint.diagnostics import error
from adjoint.diagnostics.entrances import entrance
from adjoint.dispatch.call_cache import Request, enter
from adjoint.dispatch.keys import Seen, key_of
from adjoint.dispatch.options import Native, resolve
from adjoint.dispatch.specialize import Specialization
from adjoint.frontend.entry.captured import differentiated
from adjoint.frontend.entry.entry import lower_vjp
from adjoint.frontend.entry.inputs import identity_of
from adjoint.tangents import zero


class Captured:
    """A copy of the data that a function captures, as forward mode is to find it later."""

    def __init__(self, compiled: Specialization, root: Any, data: Sequence[Any]) -> None:
        self.kinds = _kinds(compiled, root)
        pairs = zip(compiled.captured, data, strict=True)
        self.copies = {identity_of(item.path): _copied(value) for item, value in pairs}

    def are_of_the_same_kinds(self, compiled: Specialization, root: Any) -> bool:
        """Whether the function finds now what it found then, but for the numbers."""
        return all(guard.holds(root) for guard in compiled.guards) and _kinds(compiled, root) == self.kinds

    def instead_of(self, now: Sequence[Any], compiled: Specialization) -> list[Any]:
        """What a compiled derivative is given for what it captures itself."""
        pairs = zip(compiled.captured, now, strict=True)
        return [_copied(self.copies.get(identity_of(item.path), data)) for item, data in pairs]


def _kinds(compiled: Specialization, root: Any) -> list[Any] | None:
    seen: Seen = {}
    try:
        return [key_of(item.read(root), seen) for item in compiled.captured]
    except (KeyError, AttributeError, ValueError):  # what was captured is no longer there
        return None


def _copied(data: Any) -> Any:
    """A copy of what a function captures, where it can be copied."""
    try:
        return copy.deepcopy(data)
    except Exception:
        return data


class Differential:
    """The differential of a function at a point: takes tangents of the arguments to the tangent of the result.

    It may be called any number of times. What is not linear was computed once, when it was made, if the adjoint is seen
    to be linear; else each call is one of forward mode, at a copy of the point, and of what the function captures.
    """

    def __init__(
        self,
        function: Any,
        compiled: Specialization,
        residuals: tuple[Any, ...],
        point: Any,
        captured: Captured | None,
        value: Any,
        native: Native,
        has_aux: bool = False,
    ) -> None:
        self._function = function
        self._native = native
        self._root = differentiated(function)
        self._compiled = compiled
        self._residuals = residuals
        self._point = point
        self._captured = captured
        self._value = value
        self._has_aux = has_aux

    @entrance
    def __call__(self, *tangents: Any) -> Any:
        """One tangent for each positional argument; None is zero."""
        if len(tangents) != len(self._point):
            raise error("AD0409", None, f"{len(self._point)} arguments, but {len(tangents)} tangents")
        checked = checked_tangents(self._point, tangents)
        linear, differential = self._compiled.linear, self._compiled.differential
        if linear is None or differential is None:
            assert self._captured is not None
            return self._by_forward_mode(checked, self._captured)
        dots = [leaf_seed(checked[place], self._point[place], tuple(path)) for place, *path in linear.paths]
        dot = differential(*[self._residuals[place] for place in linear.residuals], *dots)
        return dot[0] if self._has_aux else dot

    def _by_forward_mode(self, tangents: Sequence[Any], captured: Captured) -> Any:
        if not captured.are_of_the_same_kinds(self._compiled, self._root):
            raise error("AD0427", None)
        point = copy.deepcopy(self._point)
        compiled, inputs = inputs_of_jvp(self._function, point, tuple(tangents), self._native, self._has_aux)
        count = len(inputs) - len(compiled.captured)
        return compiled.call(*inputs[:count], *captured.instead_of(inputs[count:], compiled))[1]

    @property
    def transposed(self) -> Pullback:
        """The transpose: the pullback at the same point, with what was computed already."""
        linear = self._compiled.linear
        residuals = self._residuals if linear is None else self._residuals[: linear.pulled_back]
        return Pullback(self._root, self._compiled, residuals, self._value)

    def __adjoint_text__(self, args: Any, kwargs: Any) -> str:
        emitted = self._compiled.differential_emitted
        if emitted is not None:
            return emitted.text
        zeros = tuple(zero(value) for value in self._point)
        return specialized_jvp(self._function, self._point, checked_tangents(self._point, zeros)).emitted.text

    def __copy__(self) -> Self:
        return self  # nothing changes what it keeps

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        way = "pickle the function and its arguments, and take ad.linearize"
        raise TypeError(f"a differential is not for another process: {way}")

    def __repr__(self) -> str:
        return f"<differential of {self._compiled.emitted.name.removesuffix('_primal')}>"


@entrance
def linearize(
    f: Callable[..., Any],
    *args: Any,
    has_aux: bool = False,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
) -> tuple[Any, ...]:
    """The value of a function, and its differential at a point: a linear map.

    Many tangents at one point cost less than by :func:`adjoint.jvp`, for what is not linear is computed once. The
    differential is made of the pullback, by transposing it. Where that is not seen to be linear (where a factor may be
    infinite and zeros are strong, in functions that call themselves), or restores memory that the function has
    written, it is forward mode.

    Parameters
    ----------
    f
        The function; its result is a number, an array, or a structure of these.
    *args
        Its arguments.
    has_aux
        The function returns ``(value, aux)``: aux counts as a constant, and is returned behind the others.
    native, fastmath, boundscheck
        Whether and how it becomes machine code; see :func:`adjoint.grad`.

    Returns
    -------
    value, differential
        ``differential(*tangents)`` takes one tangent per argument (None is zero) and returns the tangent of the value.
        What it keeps of the arguments, and of data that the function captures, is copied.
        ``ad.transpose(differential)`` is the pullback.

    Raises
    ------
    DifferentiationError
        What differentiating raises.

    Examples
    --------
    >>> import adjoint as ad, math
    >>> def f(x, y):
    ...     return math.exp(x) * y
    >>> y, differential = ad.linearize(f, 0.0, 3.0)
    >>> y, differential(1.0, 0.0), differential(0.0, 1.0)
    (3.0, 3.0, 1.0)
    >>> print(ad.source(differential))
    def f_differential(y, t, x_dot, y_dot):
        return y_dot * t + x_dot * t * y
    <BLANKLINE>
    >>> ad.transpose(differential)(1.0)
    (3.0, 1.0)
    """

    resolved = resolve(native, function_of(f, "linearize"), fastmath, boundscheck)

    def ask() -> Request:
        lower = lambda target: lower_vjp(f, args, {}, "linearize", target, has_aux)
        return Request(("linearize", has_aux), args, {}, lower, resolved)

    way = "inputs of linearize", native, fastmath, boundscheck, has_aux
    point = copy.deepcopy(args)
    compiled, inputs = enter(f, way, args, ask, run=False)
    if compiled.linear is None and compiled.written:
        compiled.refuse_two_names(inputs)
    captured = Captured(compiled, differentiated(f), inputs[len(args) :]) if compiled.linear is None else None
    value, residuals = compiled.call(*inputs)
    if has_aux:
        value, aux = value
        return value, Differential(f, compiled, residuals, point, captured, value, resolved, has_aux), aux
    return value, Differential(f, compiled, residuals, point, captured, value, resolved)


@entrance
def transpose(f: Callable[..., Any], *like: Any) -> Pullback:
    """The transpose of a linear function.

    Parameters
    ----------
    f
        What :func:`linearize` has returned; or a function that is linear in all its arguments together. That it is,
        must be seen in its text: sums, and products with what does not depend on the arguments.
    *like
        For a function: arguments with the structure, the types and the shapes that it is to be transposed for; their
        numbers do not matter.

    Returns
    -------
    Pullback
        Takes a cotangent of the result, and returns a tuple with a cotangent for each argument.

    Raises
    ------
    DifferentiationError
        AD0425 where the function is not linear, or not seen to be.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def differences(x):
    ...     return x[1:] - x[:-1]
    >>> ad.transpose(differences, np.zeros(3))(np.array([1.0, 10.0]))
    (array([-1., -9., 10.]),)
    """
    if isinstance(f, Differential):
        return f.transposed
    function_of(f, "transpose")
    if isinstance(f, Pullback):
        label = "a pullback is the transpose of the differential, which is not kept with it"
        raise error("AD0425", None, label, helps=("make both: y, differential = ad.linearize(f, *args)",))
    if not like:
        label = "ad.transpose needs arguments of the shapes that the function is to be transposed for"
        raise error("AD0425", None, label, helps=("pass them behind the function: ad.transpose(f, np.zeros(3))",))

    def ask() -> Request:
        lower = lambda target: lower_vjp(f, like, {}, "transpose", target)
        return Request(("transpose",), like, {}, lower, resolve(None, f))

    compiled, (value, residuals) = enter(f, ("transpose",), like, ask)
    return Pullback(differentiated(f), compiled, residuals, value)


for _operator in (linearize, transpose):
    _operator.__adjoint_operator__ = _operator.__name__  # type: ignore[union-attr]


__all__ = ["Differential", "linearize", "transpose"]
