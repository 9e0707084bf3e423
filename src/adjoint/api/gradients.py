"""``grad`` and its family, but for the products that :mod:`adjoint.api.jvp_vjp` gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from adjoint import keypaths  # noqa: F401, what the hint Wrt refers to
from adjoint.api.derivative import Derivative, Mode, Wrt, WrtOne, checked_wrt, function_of
from adjoint.diagnostics import error
from adjoint.diagnostics.entrances import entrance
from adjoint.dispatch.options import Native, resolve
from adjoint.keypaths.parts import as_part


def _component(result: Any, has_aux: bool) -> dict[str, Any]:
    """The option ``result``, where it is given."""
    if result is None:
        return {}
    if has_aux:
        label = "with has_aux=True the first of the pair is differentiated"
        raise error("AD0421", None, label, helps=("leave out has_aux: ad.value_and_grad(f, result=0)",))
    return {"result": as_part(result)}


def _writes(keep_writes: Any) -> dict[str, Any]:
    """The option ``keep_writes``, where it is given."""
    if keep_writes not in (True, False):
        raise ValueError(f"keep_writes={keep_writes!r}: it is True or False")
    return {} if keep_writes else {"keep_writes": False}


@entrance
def grad(
    f: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    result: WrtOne | None = None,
    keep_writes: bool = True,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
    threads: int = 1,
    debug: bool = False,
) -> Derivative:
    """The gradient of a function that returns a number.

    Parameters
    ----------
    f
        The function: plain, method, partial, callable object, or one that has a rule.
    wrt
        The argument to differentiate with respect to, by index or name, or a part of an argument, by a key path
        from its class; a tuple for several.
    has_aux
        The function returns ``(value, aux)``; the derivative returns ``(gradient, aux)``.
    result
        The component of the result to differentiate, where the function returns a structure: the index of an item,
        a key, the name of a field, or a key path. The others count as constants.
    keep_writes
        Whether the derivative writes to arguments what the function writes to them. With ``False`` arrays, lists and
        objects that are handed over stay as they are, and what is computed for such writes only is left out.
    native
        Whether the derivative becomes machine code. What has none runs as Python, with a warning that says why;
        ``"strict"`` makes that an error. With ``"background"`` a child process compiles, and the derivative runs as
        Python until it is done. Without it, derivatives of ``@njit`` functions are compiled. Whole
        numbers of machine code have 64 bits, and its indices are not checked; else it gives what Python gives.
    fastmath
        Compiled sums may be added up in another order, and products and sums joined; arithmetic refuses nothing, as
        that of NumPy.
    boundscheck
        Whether compiled code raises an IndexError for an index out of range.
    threads
        In how many chunks outermost loops of the compiled derivative run side by side, if their iterations share
        nothing but what they add to. The result depends on this number, by roundings, and not on timing.
    debug
        Raises a FloatingPointError where the gradient is infinite or not a number, which names the first line of the
        function at which a cotangent becomes so, with the values there. The derivative runs as Python, and slowly.

    Returns
    -------
    Derivative
        Takes the arguments of ``f``. The gradient has the structure of the argument: float for float, array of
        the same shape and dtype, tuple, list, dict (None at what cannot be differentiated), tangent object.

    Raises
    ------
    DifferentiationError
        At the first call with a kind of arguments: if anything on the way cannot be differentiated.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x):
    ...     return x * x
    >>> ad.grad(f)(3.0)
    6.0
    """
    native = resolve(native, function_of(f, "grad"), fastmath, boundscheck, threads)
    options = {
        "wrt": checked_wrt(wrt, "grad", f),
        "has_aux": has_aux,
        **_component(result, has_aux),
        **_writes(keep_writes),
    }
    return _debugged("grad", f, options) if debug else Derivative("grad", f, native, **options)


def _debugged(kind: str, f: Callable[..., Any], options: dict[str, Any]) -> Derivative:
    """A derivative that says where it stops being finite."""
    from adjoint.api.tools.nonfinite import Debugged  # lazy

    return Debugged(kind, f, False, **options)


@entrance
def value_and_grad(
    f: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    result: WrtOne | None = None,
    keep_writes: bool = True,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
    threads: int = 1,
    debug: bool = False,
) -> Derivative:
    """The value of a function and its gradient; parameters as those of :func:`grad`.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x):
    ...     return x * x
    >>> ad.value_and_grad(f)(3.0)
    (9.0, 6.0)
    """
    native = resolve(native, function_of(f, "value_and_grad"), fastmath, boundscheck, threads)
    options = {
        "wrt": checked_wrt(wrt, "value_and_grad", f),
        "has_aux": has_aux,
        **_component(result, has_aux),
        **_writes(keep_writes),
    }
    return _debugged("value_and_grad", f, options) if debug else Derivative("value_and_grad", f, native, **options)


@entrance
def compile(f: Callable[..., Any], *, native: Native = True) -> Derivative:
    """The function itself, as derivatives are compiled: with the derivatives that it takes inside of it.

    Parameters
    ----------
    f
        The function; it may call other functions, and operators such as :func:`grad`.
    native
        Whether it becomes machine code; see :func:`grad`.

    Returns
    -------
    Derivative
        Takes the arguments of ``f`` and gives its result.

    Raises
    ------
    DifferentiationError
        At the first call with a kind of arguments: if anything in the function cannot be compiled by Adjoint.

    Examples
    --------
    >>> import adjoint as ad
    >>> def energy(x):
    ...     return x * x * x
    >>> def slopes(xs):
    ...     return [ad.grad(energy)(x) for x in xs]
    >>> ad.compile(slopes, native=False)([1.0, 2.0])
    [3.0, 12.0]
    """
    return Derivative("compile", function_of(f, "compile"), native)


@entrance
def jacobian(
    f: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    mode: Mode = None,
    sparsity: Any = None,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
) -> Callable[..., Any]:
    """The matrix of first derivatives, by forward or reverse mode, whichever needs fewer sweeps.

    Parameters
    ----------
    f, wrt, has_aux
        As those of :func:`grad`; the function returns a number, an array, or a structure of these.
    mode
        ``"forward"`` or ``"reverse"``: a sweep for each number of the argument, or of the result. Without it, the mode
        that needs fewer sweeps.
    sparsity
        Where entries may be other than zero: a matrix of SciPy, or an array, with a row for each number of the result
        and a column for each of the argument. Columns without a common row then share a sweep forwards, or rows without
        a common column a sweep backwards, or some of both are made, whichever is cheapest; the Jacobian is a
        ``scipy.sparse.csr_array``. The first call tries the pattern in a random direction. ``"auto"`` finds the pattern
        (:func:`sparsity`), once for calls that are alike; ``jacobian(...).at(*args)`` has it, and fills in entries.
    native, fastmath, boundscheck
        Whether and how the sweeps become machine code; see :func:`grad`.

    Returns
    -------
    callable
        Takes the arguments of ``f``. For an argument of shape ``s`` and a result of shape ``r`` the Jacobian has
        shape ``r + s``. Where the argument, or the result, is a tuple, list, dict or object, so is the Jacobian: the
        structure of the result, with that of the argument at each of its leaves, and a block at each leaf of that.

    Raises
    ------
    DifferentiationError
        If ``sparsity`` does not fit the function (AD0412).

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def f(x):
    ...     return x * x
    >>> ad.jacobian(f)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    native = resolve(native, function_of(f, "jacobian"), fastmath, boundscheck)
    if sparsity is not None:
        return _sparse("jacobian", f, wrt, native, sparsity, has_aux, mode)
    from adjoint.api.jacobians import Jacobian  # lazy

    return Jacobian("jacobian", f, checked_wrt(wrt, "jacobian", f), native, has_aux, _mode(mode))


@entrance
def hessian(
    f: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    mode: Mode = None,
    sparsity: Any = None,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
) -> Callable[..., Any]:
    """The matrix of second derivatives of a function that returns a number, forward over reverse.

    Parameters
    ----------
    f, wrt, has_aux
        As those of :func:`grad`.
    mode
        Of the sweeps over the gradient, as for :func:`jacobian`: forward, where nothing else is said.
    sparsity
        Where entries may be other than zero, or ``"auto"``, as for :func:`jacobian`: a few sweeps then
        give all of them. Of an entry and its mirror image one is enough, which saves up to half of the sweeps, and more
        where a row is full: a star colouring (Gebremedhin et al., SIAM J. Sci. Comput. 29, 2007) tells which.
    native, fastmath, boundscheck
        Whether and how the sweeps become machine code; see :func:`grad`.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def f(x):
    ...     return np.sum(x * x * x)
    >>> ad.hessian(f)(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    native = resolve(native, function_of(f, "hessian"), fastmath, boundscheck)
    if sparsity is not None:
        return _sparse("hessian", f, wrt, native, sparsity, has_aux, mode)
    from adjoint.api.jacobians import Jacobian  # lazy

    return Jacobian("hessian", f, checked_wrt(wrt, "hessian", f), native, has_aux, _mode(mode))


@entrance
def sparsity(
    f: Callable[..., Any],
    wrt: int | str = 0,
    *,
    kind: Literal["jacobian", "hessian"] = "jacobian",
    native: Native = None,
    max_entries: int = 100_000_000,
) -> Callable[..., Any]:
    """Where the entries of a Jacobian, or a Hessian, may be other than zero.

    The function is run on sets of elements of the argument (activity analysis element by element). The pattern is
    structural: it does not depend on the values of floats. Where floats choose a branch it is that of both sides.

    Parameters
    ----------
    f
        A function that returns a number or an array of floats; for a Hessian a number.
    wrt
        The argument, by its index or its name: a float, or an array of these.
    kind
        ``"jacobian"`` or ``"hessian"``: the pattern of the first or of the second derivatives.
    native
        Whether machine code finds it.
    max_entries
        How many entries there may be at most.

    Returns
    -------
    callable
        Takes the arguments of ``f``, and returns a ``scipy.sparse.csr_array`` of truths, of shape ``(m, n)`` for a
        result of ``m`` numbers and an argument of ``n``, in the order of ``ravel``. Its method ``explain`` takes them
        too, and says in words for which other calls the pattern holds.

    Raises
    ------
    DifferentiationError
        AD0412 if the argument or the result is something else, or if there are more than ``max_entries``.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def f(x):
    ...     return x[1:] * x[:-1]
    >>> ad.sparsity(f)(np.ones(3)).toarray()
    array([[ True,  True, False],
           [False,  True,  True]])
    """
    from adjoint.api.sparse.patterns import Sparsity  # lazy

    if kind not in ("jacobian", "hessian"):
        raise ValueError(f"kind={kind!r}: it is 'jacobian' or 'hessian'")
    if isinstance(wrt, tuple):
        raise error("AD0412", None, "several arguments share it: give one in wrt")
    return Sparsity(f, checked_wrt(wrt, "sparsity", f), kind, resolve(native, function_of(f, "sparsity")), max_entries)


def _mode(mode: Any) -> Mode:
    if mode not in (None, "forward", "reverse"):
        raise ValueError(f"mode={mode!r}: it is 'forward', 'reverse' or None")
    return mode  # type: ignore[no-any-return]


def _sparse(
    kind: str, f: Callable[..., Any], wrt: Wrt, native: Native, sparsity: Any, has_aux: bool, mode: Mode
) -> Callable[..., Any]:
    if has_aux or mode is not None:
        raise error("AD0412", None, "has_aux= and mode= are not for sparse matrices", helps=("leave one of them out",))
    from adjoint.api.sparse.derivatives import SparseDerivative  # lazy

    if isinstance(wrt, tuple):
        raise error("AD0412", None, "several arguments share it: give one in wrt")
    return SparseDerivative(kind, f, checked_wrt(wrt, kind, f), native, sparsity)


for _operator in (grad, value_and_grad, jacobian, hessian, sparsity):
    _operator.__adjoint_operator__ = _operator.__name__  # type: ignore[union-attr]
