"""Functions of NumPy in programs of JAX, that Adjoint differentiates: under ``jit``, ``vmap`` and ``grad``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import numpy as np
from jax.custom_derivatives import zero_from_primal

from adjoint.api.gradients import compile
from adjoint.interop.hosts import as_argument, pulled
from adjoint.optim.vector_functions import as_native

Native = bool | str | None


def function(f: Callable[..., Any], *, result: Any = None, native: Native = None) -> Callable[..., Any]:
    """A function of JAX's arrays that runs a function of arrays, and its derivatives where JAX asks for them.

    Parameters
    ----------
    f
        A function of numbers and arrays, or tuples, lists and dicts of them, that returns such things. It must not
        write into its arguments, and must give the same for the same arguments.
    result
        What the function returns: ``jax.ShapeDtypeStruct``, in the structure of the result, or a function that makes
        it of the arguments, of which shapes and dtypes are known. Without it, the function is run on ones.
    native
        Whether the function and its derivatives are machine code; see :func:`adjoint.grad`.

    Returns
    -------
    callable
        Takes what ``f`` takes, also under ``jax.jit``, ``jax.vmap`` (one call for each) and ``jax.grad``, in any order
        and nested. Nothing is copied here; JAX's callback hands over a copy of its own. ``jax.jvp`` is not there, as
        for every ``jax.custom_vjp``: second derivatives are ``jax.jacrev(jax.grad(g))``.

    Raises
    ------
    TypeError
        If the result has another structure, shape or kind than ``result`` says.

    Examples
    --------
    >>> import jax, jax.numpy as jnp, numpy as np
    >>> from adjoint.interop.jax import function
    >>> def energy(x, k):
    ...     return 0.5 * k * np.sum((x[1:] - x[:-1]) ** 2)
    >>> spring = function(energy)
    >>> jax.jit(jax.grad(spring))(jnp.array([0.0, 1.0, 3.0]), 2.0).tolist()
    [-2.0, -2.0, 4.0]
    """
    return _operation(f, as_native(f, native), result)


def _operation(f: Callable[..., Any], native: Native, result: Any) -> Callable[..., Any]:
    run = compile(f, native=native) if native else f
    shapes = _Results(run, result)

    def called(*args: Any) -> Any:
        leaves, structure = jax.tree.flatten(args)
        expected = shapes.of(leaves, structure)

        def on_host(*arrays: Any) -> Any:
            given = jax.tree.unflatten(structure, [as_argument(np.asarray(x)) for x in arrays])
            return _fitted(run(*given), expected)

        return jax.pure_callback(on_host, expected, *leaves, vmap_method="sequential")

    @cache
    def pullback() -> Callable[..., Any]:
        return _operation(pulled(f), native, lambda _, *args: jax.tree.map(_struct, args))

    def forward(*args: Any) -> Any:
        return operation(*args), args  # which is derived again, where this is

    def backward(args: tuple[Any, ...], cotangent: Any) -> Any:
        found = pullback()(jax.tree.map(_without_float0, cotangent), *args)
        return jax.tree.map(lambda x, x_bar: x_bar if _varies(x) else zero_from_primal(x), args, found)

    operation: Any = jax.custom_vjp(called)
    operation.defvjp(forward, backward)
    return operation  # type: ignore[no-any-return]


class _Results:
    """The shapes and dtypes of results, for each kind of arguments."""

    def __init__(self, run: Callable[..., Any], given: Any) -> None:
        self.run = run
        self.given = given
        self.found: dict[Any, Any] = {}

    def of(self, leaves: list[Any], structure: Any) -> Any:
        """Those of a call with such arguments."""
        structs = [_struct(x) for x in leaves]
        if self.given is not None:
            args = jax.tree.unflatten(structure, structs)
            return self.given(*args) if callable(self.given) else self.given
        key = (structure, *[(x.shape, x.dtype) for x in structs])
        if key not in self.found:
            ones = [as_argument(np.ones(x.shape, x.dtype)) for x in structs]
            self.found[key] = jax.tree.map(_struct, self.run(*jax.tree.unflatten(structure, ones)))
        return self.found[key]


def _struct(x: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(np.shape(x), jax.dtypes.canonicalize_dtype(jax.numpy.result_type(x)))


def _varies(x: Any) -> bool:
    return bool(jax.numpy.issubdtype(jax.numpy.result_type(x), jax.numpy.inexact))


def _without_float0(cotangent: Any) -> Any:
    """None for what JAX gives the cotangent of a result that does not vary."""
    return None if getattr(cotangent, "dtype", None) == jax.dtypes.float0 else cotangent


def _fitted(value: Any, expected: Any) -> Any:
    """The result in the dtypes that JAX expects; what carries no derivative becomes zero."""
    leaves, structure = jax.tree.flatten(expected)
    parts = structure.flatten_up_to(value)
    return jax.tree.unflatten(structure, [_leaf(part, leaf) for part, leaf in zip(parts, leaves, strict=True)])


def _leaf(part: Any, expected: Any) -> np.ndarray[Any, Any]:
    if part is None:
        return np.zeros(expected.shape, expected.dtype)
    array = np.asarray(part, expected.dtype)
    if array.shape != expected.shape:
        raise TypeError(f"the function returns an array of shape {array.shape}, where {expected.shape} was expected")
    return array
