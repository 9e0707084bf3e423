"""Products of derivatives with directions and with cotangents: ``vjp``, ``jvp`` and ``hvp``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self

from adjoint.api.derivative import function_of
from adjoint.api.gradients import grad
from adjoint.api.shape_errors import raise_shape_error, shapes_match
from adjoint.diagnostics import error
from adjoint.diagnostics.entrances import hand_over
from adjoint.dispatch.call_cache import Request, enter
from adjoint.dispatch.options import Native, resolve
from adjoint.dispatch.specialize import Lower, Specialization, specialization
from adjoint.frontend.entry.captured import differentiated
from adjoint.runtime.boundary import check_cotangent, check_tangent
from adjoint.runtime.tangents import seed_shadow, zero_seed
from adjoint.types.array_libraries import is_foreign
from adjoint.types.zero import without_symbol

if TYPE_CHECKING:
    from adjoint.frontend.entry.restarts import Entry
    from adjoint.target import Target


class Pullback:
    """The second half of a reverse derivative: takes a cotangent of the result to cotangents of the arguments.

    It may be called any number of times.
    """

    def __init__(self, root: Any, compiled: Specialization, residuals: tuple[Any, ...], value: Any) -> None:
        self._root = root
        self._compiled = compiled
        self._residuals = residuals
        self._value = value

    def __call__(self, cotangent: Any) -> Any:
        """One cotangent per positional argument, None for one that cannot be differentiated."""
        assert self._compiled.adjoint is not None
        try:
            return self._compiled.adjoint(*self._residuals, *self._seeds(cotangent))
        except Exception as failure:
            hand_over(failure)
            raise

    def each(self, cotangents: Sequence[Any], width: int | None = None) -> list[Any]:
        """What a call gives for each of several cotangents.

        Compiled pullbacks take ``width`` of them in each sweep, and compute what does not depend on the cotangent
        once for them: by default up to four (two where the code is long), so that sweeps have about as many each.
        """
        from adjoint.api.sweeps.many_directions import pull_each  # lazy

        try:
            return pull_each(self, cotangents, width)
        except Exception as failure:
            hand_over(failure)
            raise

    def _seeds(self, cotangent: Any) -> list[Any]:
        """What the compiled function is given for a cotangent."""
        checked = check_cotangent(cotangent, self._value)
        return [leaf_seed(checked, self._value, path) for path in self._compiled.seeds]

    def __copy__(self) -> Self:
        return self  # nothing changes what it keeps

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a pullback is not for another process: pickle the function and its arguments, and take ad.vjp")

    def __repr__(self) -> str:
        return f"<pullback of {self._compiled.emitted.name}>"


def leaf_seed(cotangent: Any, value: Any, path: tuple[Any, ...]) -> Any:
    """The cotangent of one leaf of a result, zero where None was given; a shadow for what is a container."""
    for key in path:
        named = isinstance(key, str) and key.startswith(".")
        try:
            value = getattr(value, key[1:]) if named else value[key]
        except (TypeError, LookupError, AttributeError):
            return 0.0  # of a structure that this part of the result may have, and has not here
        if cotangent is not None:
            cotangent = getattr(cotangent, key[1:], None) if named else cotangent[key]
    if isinstance(value, (list, dict, tuple)) or (hasattr(value, "__dict__") and not is_foreign(value)):
        return seed_shadow(cotangent, value)
    return zero_seed(value) if cotangent is None else cotangent


def vjp(
    f: Callable[..., Any],
    *args: Any,
    has_aux: bool = False,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """The value of a function, and its pullback.

    Parameters
    ----------
    f
        The function; its result may have any structure.
    *args, **kwargs
        Its arguments.
    has_aux
        The function returns ``(value, aux)``: aux counts as a constant, and is returned behind the others.
    native, fastmath, boundscheck
        Whether and how both halves become machine code; see :func:`grad`.

    Returns
    -------
    value, pullback
        ``pullback(cotangent)`` returns a tuple with one entry per positional argument. What it keeps of the
        arguments is copied: changing them afterwards changes nothing.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x, y):
    ...     return x * y
    >>> value, pullback = ad.vjp(f, 2.0, 3.0)
    >>> pullback(1.0)
    (3.0, 2.0)
    """

    way = "vjp", native, fastmath, boundscheck, not kwargs, has_aux
    try:
        compiled, (value, residuals) = enter(f, way, args, lambda: _vjp_request(f, args, kwargs, way))
    except Exception as failure:
        hand_over(failure)
        raise
    if has_aux:
        value, aux = value
        return value, Pullback(differentiated(f), compiled, residuals, value), aux
    return value, Pullback(differentiated(f), compiled, residuals, value)


def _vjp_request(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], way: tuple[Any, ...]) -> Request:
    resolved = resolve(way[1], function_of(f, "vjp"), way[2], way[3])

    def again(args: Sequence[Any], kwargs: Mapping[str, Any], target: Target) -> Entry:
        from adjoint.frontend.entry.entry import lower_vjp  # lazy

        return lower_vjp(f, tuple(args), dict(kwargs), target=target, has_aux=way[-1])

    return Request(("vjp", way[-1]), args, kwargs, None, resolved, again)


def reverse_form(f: Callable[..., Any], args: tuple[Any, ...]) -> Specialization:
    """What :func:`vjp` compiles of a function for such arguments; it is not run."""
    way = "the form of vjp", None, False, False, True, False
    return enter(f, way, args, lambda: _vjp_request(f, args, {}, way), run=False)[0]


def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
) -> tuple[Any, ...]:
    """The value of a function and its derivative in a direction.

    Parameters
    ----------
    f
        The function.
    primals, tangents
        Its arguments, and the direction: for each argument a tangent of its structure, or None.
    has_aux
        The function returns ``(value, aux)``: aux counts as a constant, and is returned behind the others.
    native, fastmath, boundscheck
        Whether and how the derivative becomes machine code; see :func:`grad`.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x, y):
    ...     return x * y
    >>> ad.jvp(f, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    """
    result: tuple[Any, ...]
    try:
        points, directions = entries_of(primals, "primals", "jvp"), entries_of(tangents, "tangents", "jvp")

        def ask() -> Request:
            resolved = resolve(native, function_of(f, "jvp"), fastmath, boundscheck)
            return _jvp_request(f, points, directions, resolved, has_aux)

        way = "jvp", native, fastmath, boundscheck, len(points), has_aux
        _, result = enter(f, way, (*points, *directions), ask)
    except Exception as failure:
        hand_over(failure)
        raise
    return result


def inputs_of_jvp(
    f: Callable[..., Any], primals: tuple[Any, ...], tangents: Sequence[Any], native: Native, has_aux: bool = False
) -> tuple[Specialization, tuple[Any, ...]]:
    """The compiled form of :func:`jvp` for these arguments, and what it takes."""
    way = "inputs of jvp", native, len(primals), has_aux
    ask = lambda: _jvp_request(f, primals, tangents, resolve(native, f), has_aux)
    return enter(f, way, (*primals, *tangents), ask, run=False)


def _jvp_request(
    f: Any, primals: tuple[Any, ...], tangents: Sequence[Any], native: Native, has_aux: bool = False
) -> Request:
    args, again = (*primals, *checked_tangents(primals, tangents)), _lowering(f, len(primals), has_aux)
    return Request(_key_of_jvp(primals, has_aux), args, {}, None, native, again)


def _lowering(f: Any, count: int, has_aux: bool) -> Lower:
    """Lowers the product of a Jacobian with a direction for so many primals, and their tangents."""

    def lowered(args: Sequence[Any], _: Mapping[str, Any], target: Target) -> Entry:
        from adjoint.frontend.entry.entry import lower_jvp  # lazy

        return lower_jvp(f, tuple(args[:count]), tuple(args[count:]), target, has_aux)

    return lowered


def entries_of(given: Any, name: str, operator: str) -> tuple[Any, ...]:
    """One entry per argument, or a refusal of what is one argument itself."""
    if type(given) is tuple:
        return given
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        said = f"the {name} are a tuple with one entry per argument, here they are of class {type(given).__name__!r}"
        raise error("AD0409", None, said, helps=(f"write tuples: ad.{operator}(f, (x,), (x_dot,))",))
    return tuple(given)


def checked_tangents(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
    """A direction that a user gives, of the structure and types of the arguments."""
    if len(primals) != len(tangents):
        helps = ("give one tangent for each primal; None is zero",)
        raise error("AD0409", None, f"{len(primals)} primals, but {len(tangents)} tangents", helps=helps)
    pairs = enumerate(zip(tangents, primals, strict=True))
    checked = [check_tangent(tangent, primal, "tangent", place) for place, (tangent, primal) in pairs]
    return tuple([None if _is_zero(tangent) else tangent for tangent in checked])


def _is_zero(tangent: Any, around: tuple[Any, ...] = ()) -> bool:
    """Whether a tangent says of all parts of an argument that they do not move."""
    if not isinstance(tangent, (dict, list, tuple)) or any(tangent is each for each in around):
        return tangent is None
    parts = tangent.values() if isinstance(tangent, dict) else tangent
    return bool(tangent) and all(_is_zero(part, (*around, tangent)) for part in parts)


def specialized_jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    native: Native = None,
    *,
    has_aux: bool = False,
) -> Specialization:
    """The compiled form of :func:`jvp` for these arguments and checked tangents."""
    native = resolve(native, function_of(f, "jvp"))
    args, again = (*primals, *tangents), _lowering(f, len(primals), has_aux)
    return specialization(f, _key_of_jvp(primals, has_aux), args, {}, None, native, again)


def _key_of_jvp(primals: Sequence[Any], has_aux: bool) -> tuple[Any, ...]:
    return ("jvp", len(primals), True) if has_aux else ("jvp", len(primals))


def hvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
) -> Any:
    """The product of the Hessian of a function with a direction, in the structure of the primals.

    Parameters
    ----------
    f, primals, tangents, has_aux
        As those of :func:`jvp`. Of an argument whose tangent is None the product has None: it stays as it is, and the
        gradient with respect to it is not computed.
    native, fastmath, boundscheck
        Whether and how the derivative becomes machine code; see :func:`grad`.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x):
    ...     return x * x * x
    >>> ad.hvp(f, (2.0,), (1.0,))
    (12.0,)
    """
    try:
        points, directions = entries_of(primals, "primals", "hvp"), entries_of(tangents, "tangents", "hvp")

        def ask() -> Request:
            resolved = resolve(native, function_of(f, "hvp"), fastmath, boundscheck)
            checked = checked_tangents(points, directions)
            places = tuple([place for place, tangent in enumerate(checked) if tangent is not None])
            again = _lowering(grad(f, places, has_aux=has_aux), len(points), has_aux)
            return Request(("hvp", places, len(points), has_aux), (*points, *checked), {}, None, resolved, again)

        way = "hvp", native, fastmath, boundscheck, len(points), has_aux
        compiled, (_, product, *aux) = enter(f, way, (*points, *directions), ask)
    except Exception as failure:
        hand_over(failure)
        raise
    if len(product) != len(points):
        parts = iter(product)
        product = tuple([None if _is_zero(without_symbol(each)) else next(parts) for each in directions])
    if not compiled.writes_containers and not all(map(shapes_match, product, points)):
        raise_shape_error(f, points, {})
    return (product, *aux) if has_aux else product


for _operator in (vjp, jvp, hvp):
    _operator.__adjoint_operator__ = _operator.__name__  # type: ignore[union-attr]
