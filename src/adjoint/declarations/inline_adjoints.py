"""Adjoints that stand inside of the function whose derivative they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def adjoint(*, wrt: str | tuple[str, ...], of: str | None = None) -> Callable[[F], F]:
    """Declares the decorated function as the adjoint of the function that it is defined in.

    Parameters
    ----------
    wrt
        The parameter of the function around that the adjoint gives the cotangent of, by its name, or several. With
        ``of`` any variables, as they are at this place.
    of
        The variable of the function around whose cotangent the adjoint takes, as it is at this place; None for what
        the function returns behind this place.

    Returns
    -------
    callable
        A decorator for a function of the seed, the cotangent of the value. It returns the cotangent of the parameter,
        or a tuple with one for each; it sees the variables of the function around, which are kept for it.

    Raises
    ------
    DifferentiationError
        In a derivative: if the names are not those of variables, the place is in a branch or a loop, or what it
        returns is no cotangent (AD0233); if the value also depends on something else that varies (AD0204).

    Examples
    --------
    >>> import math
    >>> import adjoint as ad
    >>> def softplus(a):
    ...     e = math.exp(a)
    ...     @ad.adjoint(wrt="a")
    ...     def _(seed):
    ...         return seed * e / (1.0 + e)
    ...     return math.log1p(e)
    >>> ad.grad(softplus)(0.0)
    0.5
    """
    names: object = (wrt,) if isinstance(wrt, str) else wrt
    if not isinstance(names, tuple) or not names or not all(isinstance(name, str) for name in names):
        raise TypeError("ad.adjoint: wrt is the name of a parameter, or a tuple of names")
    if not isinstance(of, (str, type(None))):
        raise TypeError("ad.adjoint: 'of' is the name of a variable")

    def declare(function: F) -> F:
        return function

    return declare
