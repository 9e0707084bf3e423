"""Functions of NumPy in programs of PyTorch: a function that Adjoint differentiates as an operation of autograd."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch

from adjoint.api.gradients import compile
from adjoint.api.jvp_vjp import vjp
from adjoint.interop.hosts import as_argument, pulled, with_constants
from adjoint.optim.vector_functions import as_native

Native = bool | str | None
Shape = tuple[Any, ...] | None
"""How tuples are nested; None is what is no tuple."""


def function(f: Callable[..., Any], *, native: Native = None) -> Callable[..., Any]:
    """A function of tensors that runs a function of arrays, and its derivatives in the reverse sweep of PyTorch.

    Parameters
    ----------
    f
        A function of numbers and arrays that returns a number, an array, or a tuple of them. It must not write into
        its arguments.
    native
        Whether the function and its derivatives are machine code; see :func:`adjoint.grad`.

    Returns
    -------
    callable
        Takes what ``f`` takes, with tensors in place of arrays, and tensors of shape ``()`` in place of numbers. What
        else it is given counts as a constant. Tensors lie in the memory of the CPU, and no argument is copied.
        Derivatives of derivatives are there to any order.

    Raises
    ------
    TypeError
        When it is called with a tensor of another device; if ``f`` returns anything else.
    ValueError
        If ``f`` writes into an argument.

    Examples
    --------
    >>> import torch, numpy as np
    >>> from adjoint.interop.torch import function
    >>> def energy(x, k):
    ...     return 0.5 * k * np.sum((x[1:] - x[:-1]) ** 2)
    >>> spring = function(energy)
    >>> x = torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64, requires_grad=True)
    >>> spring(x, 2.0).backward()
    >>> x.grad
    tensor([-2., -2.,  4.], dtype=torch.float64)
    """
    operation = _Operation(f, as_native(f, native))
    return lambda *args: _Bridge.apply(operation, *args)


class _Operation:
    """A function of tuples of tensors, nested or not, and of what else; with those that are made of it."""

    def __init__(self, f: Callable[..., Any], native: Native, tuples: tuple[Shape, ...] = ()) -> None:
        self.function = f
        self.native = native
        self.tuples = tuples
        self.run = compile(f, native=native) if native else f
        self.varying = cache(self._varying)
        self.pullback = cache(self._pullback)

    def arguments(self, flat: Sequence[Any]) -> list[Any]:
        """What the function takes, of what autograd passes on."""
        rest = iter(flat)
        return [*[_nested(shape, rest) for shape in self.tuples], *rest]

    def _varying(self, needs: tuple[bool, ...]) -> Callable[..., Any]:
        """The function, of which the arguments that need no cotangent are constants."""
        return with_constants(self.function, tuple(not any(_leaves(need)) for need in self.arguments(needs)))

    def _pullback(self, needs: tuple[bool, ...], result: Shape) -> _Operation:
        """The function of cotangents of the result and of arguments, to the cotangents of these."""
        return _Operation(pulled(self.varying(needs)), self.native, (result, *self.tuples))


class _Bridge(torch.autograd.Function):  # type: ignore[misc]
    """The operation of autograd: derived once more, where the reverse sweep itself is recorded."""

    @staticmethod
    def forward(ctx: Any, operation: _Operation, *args: Any) -> Any:
        needs = ctx.needs_input_grad[1:]
        flat = [_argument(x) for x in args]
        arguments = operation.arguments(flat)
        ctx.operation, ctx.needs = operation, needs
        if any(needs):
            value, ctx.pull = vjp(operation.varying(needs), *arguments, native=operation.native)
            ctx.save_for_backward(*[x for x in args if isinstance(x, torch.Tensor)])
            ctx.others = [None if isinstance(x, torch.Tensor) else x for x in args]
            ctx.places = [place for place, x in enumerate(args) if isinstance(x, torch.Tensor)]
        else:
            value = operation.run(*arguments)
        ctx.shape = _shape(value)
        found = tuple([None if part is None else _tensor(part, flat) for part in _leaves(value)])
        ctx.mark_non_differentiable(*[part for part in found if part is not None and not part.is_floating_point()])
        return found if ctx.shape else found[0]

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        operation, args = ctx.operation, list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = tensor
        if torch.is_grad_enabled():
            found = _Bridge.apply(operation.pullback(ctx.needs, ctx.shape), *cotangents, *args)
        else:
            seeds = [_seed(each) for each in cotangents]
            given = _leaves(tuple(ctx.pull(_nested(ctx.shape, iter(seeds)))))
            found = [None if part is None else _tensor(part, seeds, x) for part, x in zip(given, args, strict=True)]
        return None, *[part if need else None for part, need in zip(found, ctx.needs, strict=True)]


def _shape(value: Any) -> Shape:
    return tuple([_shape(part) for part in value]) if isinstance(value, tuple) else None


def _leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple) else [value]


def _nested(shape: Shape, leaves: Iterator[Any]) -> Any:
    return next(leaves) if shape is None else tuple([_nested(part, leaves) for part in shape])


def _seed(cotangent: torch.Tensor | None) -> Any:
    """A cotangent for Adjoint: None of what does not vary."""
    if cotangent is None or not cotangent.is_floating_point():
        return None
    return _argument(cotangent.contiguous())


def _argument(x: Any) -> Any:
    if not isinstance(x, torch.Tensor):
        return x
    if x.device.type != "cpu":
        raise TypeError(f"what Adjoint derives runs on the CPU, and a tensor lies on {x.device}: hand over x.cpu()")
    return as_argument(x.detach().resolve_conj().resolve_neg().numpy())


def _tensor(value: Any, arguments: Sequence[Any], like: Any = None) -> torch.Tensor:
    """A tensor of a number or an array; of one's own, where the array shares memory with an argument."""
    if not isinstance(value, (int, float, complex, np.ndarray, np.generic)):
        kind = type(value).__name__
        raise TypeError(f"a function of tensors returns numbers, arrays, or a tuple of them, not {kind!r}")
    array = np.asarray(value, order="C")
    shares = any(isinstance(x, np.ndarray) and np.may_share_memory(x, array) for x in arguments)
    tensor = torch.from_numpy(array.copy() if shares or not array.flags.writeable else array)
    return tensor.to(like.dtype) if isinstance(like, torch.Tensor) else tensor
