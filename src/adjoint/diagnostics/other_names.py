"""What other systems call things, and what to write here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adjoint.diagnostics.similar import similar


def _table(*rows: tuple[str, str]) -> dict[str, str]:
    """Rows with the names that mean the same in their first column."""
    return {name: answer for names, answer in rows for name in names.split()}


NAMES = _table(
    ("jit njit", "ad.grad(f, native=True) compiles derivatives, ad.compile(f) the function"),
    ("vmap vectorize", "write a loop, or let NumPy broadcast; for many directions in one sweep: ad.jvps"),
    ("pmap", "ad.grad(f, native=True, threads=4) runs loops in threads"),
    ("remat recompute", "ad.checkpoint(f) computes a call again in the reverse sweep"),
    ("custom_vjp custom_gradient primitive Function", "@ad.derivative_of(f) declares a derivative as a pullback"),
    ("custom_jvp defjvp", "@ad.differential_of(f) declares a derivative in forward mode"),
    ("defvjp", "@ad.derivative_of(f) declares a derivative as a pullback"),
    ("jacfwd jacrev", "ad.jacobian(f) takes the mode that needs fewer sweeps; mode= says which"),
    ("elementwise_grad egrad", "ad.grad(lambda x: np.sum(f(x))) has the slope at each element"),
    (
        "tree_map tree_util tree tree_flatten tree_leaves tree_unflatten",
        "ad.ravel(model) gives a vector and the way back",
    ),
    ("ravel_pytree flatten flatten_util", "ad.ravel(model) gives a vector and the way back"),
    ("numpy np jnp", "import numpy as np: NumPy itself is differentiated"),
    ("random", "np.random.default_rng(seed), with the numbers handed over as arguments"),
    ("lax scan cond while_loop fori_loop switch", "for, while and if are differentiated as they stand"),
    ("no_grad detach stop_grad", "ad.stop_gradient(x) counts as a constant"),
    ("Variable Tensor tensor array Parameter", "floats and NumPy arrays are differentiated as they are"),
    ("gradient gradients derive", "ad.grad(f)(x)"),
    ("GradientTape tape", "there is none: ad.grad(f)(x) reads the source of f"),
    ("grad_and_value value_and_gradient value_with_gradient", "ad.value_and_grad(f)(x)"),
    ("pullback value_with_pullback", "value, pullback = ad.vjp(f, x)"),
    ("Module Layer", "any dataclass of arrays is a model, ad.nn has layers, and ad.optim trains them"),
    ("linear_transpose", "ad.transpose(f, x)"),
    ("make_jaxpr jaxpr", "ad.stages(f, x) shows what becomes of a function"),
    ("debug_nans detect_anomaly", "ad.grad(f, debug=True) names the line at which a gradient stops being finite"),
    ("config enable_x64", "numbers are what NumPy makes of them: float64 where nothing else is said"),
    ("check_grads gradcheck", "ad.testing.check_grads(f, x)"),
    ("adam Adam sgd SGD optimizers optax", "ad.optim.Adam and its relatives"),
    ("device_put device_get block_until_ready", "leave it out: all runs at once, in memory"),
    ("hess hessian_vector_product", "ad.hessian(f)(x); times a direction, ad.hvp(f, (x,), (x_dot,))"),
)

_WRT = "argnums argnum argnames arg args inputs with_respect_to"
KEYWORDS = _table(
    (_WRT, "write wrt="),
    ("create_graph retain_graph", "leave it out: derivatives nest, as ad.grad(ad.grad(f))"),
    ("jit nopython compiled backend parallel", "write native=True"),
    ("num_threads workers", "write native=True, threads=4"),
    ("holomorphic", "leave it out: complex arguments are taken as they are"),
    ("allow_int", "leave it out, and write integers as floats"),
    ("static_argnums static_argnames", "leave it out: strings, flags and functions are constants already"),
    ("nan_check check_nans detect_anomaly", "write debug=True"),
    ("aux return_aux", "write has_aux=True"),
    ("lr step_size eta", "write learning_rate="),
    ("eps", "write epsilon="),
    ("b1 betas", "write beta1=, beta2="),
    ("params parameters model", "leave it out: the model is handed to update(model, along=gradient)"),
)


METHODS = _table(
    ("append extend", "an array does not grow: collect items in a list, and make an array of it"),
    ("backward", "there is no tape: ad.grad(f)(x) is the gradient"),
    ("grad requires_grad requires_grad_", "nothing is marked: ad.grad(f)(x) is the gradient"),
    ("detach", "ad.stop_gradient(x) counts as a constant"),
    ("numpy cpu cuda", "leave it out: this is NumPy's already"),
    ("at", "arrays are written in place: x[i] = value, x[i] += value"),
    ("norm", "np.linalg.norm(x)"),
)


def elsewhere(name: str) -> tuple[str, ...]:
    """The help for an attribute that arrays of other systems have."""
    return (METHODS[name],) if name in METHODS else ()


def attribute(name: str, known: Iterable[str]) -> str:
    """What to say of a public name that there is not."""
    said = f"module 'adjoint' has no attribute {name!r}"
    if name in NAMES:
        return f"{said}; here: {NAMES[name]}"
    found = similar(name, known)
    return said if found is None else f"{said}; did you mean {found!r}?"


def keyword(function: Callable[..., Any], named: Mapping[str, Any]) -> str | None:
    """What to say of the keywords that a public function does not have; None where that is not what is wrong."""
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    unknown = next((name for name in named if name not in known), None)
    if unknown is None:
        return None
    answer = KEYWORDS.get(unknown)
    if answer is not None and unknown in _WRT.split():
        answer += repr(named[unknown])
    if answer is not None and (answer.startswith("leave") or answer.split()[1].partition("=")[0] in known):
        return answer
    close = similar(unknown, known)
    return f"did you mean {close}=?" if close is not None else f"it takes {', '.join(known)}"
