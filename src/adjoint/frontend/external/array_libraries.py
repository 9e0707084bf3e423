"""Functions and methods of other libraries of arrays, as the functions of NumPy that mean the same.

A function of the array API standard means what NumPy's function of that name means. Of PyTorch's own functions and
methods those are here that do, with other names for parameters; the rest is refused.
"""

from __future__ import annotations

import ast
import functools
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Method, TupleValue, Value
from adjoint.records import dataclass
from adjoint.types.array_libraries import Library, name_of_dtype, words

_STANDARD = words(
    "abs acos acosh add all any arange argmax argmin argsort asarray asin asinh atan atan2 atanh bitwise_and "
    "bitwise_or bitwise_xor broadcast_to ceil clip concat conj copysign cos cosh count_nonzero cumulative_prod "
    "cumulative_sum diff divide empty empty_like equal exp expand_dims expm1 eye flip floor floor_divide full "
    "full_like greater greater_equal hypot imag isfinite isinf isnan less less_equal linspace log log10 log1p "
    "log2 logaddexp logical_and logical_not logical_or matmul matrix_transpose max maximum mean min minimum "
    "moveaxis multiply negative nonzero not_equal ones ones_like permute_dims positive pow prod real reciprocal "
    "remainder repeat reshape roll round searchsorted sign sin sinh sort sqrt square squeeze stack std subtract "
    "sum take take_along_axis tan tanh tensordot tile tril triu trunc var where zeros zeros_like einsum"
)
_STANDARD_LINALG = words(
    "cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_transpose outer pinv qr "
    "slogdet solve svd svdvals tensordot trace vector_norm"
)
_OTHER_NAMES: dict[str, Any] = {
    "cumulative_sum": np.cumsum,
    "cumulative_prod": np.cumprod,
    "linalg.cross": np.cross,
    "linalg.matmul": np.matmul,
    "linalg.matrix_transpose": np.matrix_transpose,
    "linalg.outer": np.outer,
    "linalg.tensordot": np.tensordot,
}
_MADE = frozenset(words("arange empty eye full linspace ones zeros"))
"""Functions that make arrays, of the dtype that is the library's first choice."""
_NAMESPACES = {
    "torch": ("array_api_compat.torch",),
    "cupy": ("array_api_compat.cupy", "cupy"),
    "jax": ("jax.numpy",),
    "array_api_strict": ("array_api_strict",),
    "numpy": ("array_api_compat.numpy",),
}
"""Where functions of the standard are, by library."""

# PyTorch's own

_TORCH_SAME = words(
    "abs acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh ceil conj "
    "copysign cos cosh diag einsum exp exp2 expm1 eye floor hypot imag isfinite isinf isnan log log10 log1p log2 "
    "logaddexp matmul maximum minimum moveaxis negative ones ones_like zeros zeros_like outer pow real reciprocal "
    "reshape round sign sin sinh sqrt square swapaxes tan tanh tensordot tile trace tril triu trunc where full "
    "full_like linspace arange dot mean sum prod cumsum cumprod flip roll stack squeeze vstack hstack "
    "column_stack all any argmax argmin max min std var count_nonzero add subtract multiply divide true_divide "
    "logical_and logical_or logical_not broadcast_to ravel"
)
_TORCH_NAMES: dict[str, Any] = {
    "amax": np.max,
    "amin": np.min,
    "cat": np.concatenate,
    "concat": np.concatenate,
    "concatenate": np.concatenate,
    "clamp": np.clip,
    "clip": np.clip,
    "clone": np.copy,
    "mul": np.multiply,
    "div": np.divide,
    "sub": np.subtract,
    "mm": np.matmul,
    "mv": np.matmul,
    "neg": np.negative,
    "transpose": np.swapaxes,
    "permute": np.transpose,
    "unsqueeze": np.expand_dims,
    "numel": np.size,
    "flatten": np.ravel,
}
_TORCH_LINALG = words(
    "norm cholesky det eigh eigvalsh inv slogdet solve vector_norm matrix_norm matrix_power pinv svdvals"
)
_ALONE = ("max", "min")
_TORCH_KEYWORDS = {
    "dim": "axis",
    "dim0": "axis1",
    "dim1": "axis2",
    "keepdim": "keepdims",
    "dims": "axis",
    "shifts": "shift",
}
_TORCH_ATTRIBUTES = frozenset(words("T dtype imag item mT ndim real shape"))
_TORCH_METHODS = frozenset(
    words(
        "abs all any argmax argmin clip conj cumprod cumsum diagonal dot max mean min prod ravel reshape round std "
        "sum squeeze swapaxes trace var"
    )
)
"""What tensors have that means what it means for arrays of NumPy."""
_TORCH_METHODS_OF_NUMPY: dict[str, Any] = {
    **{
        name: getattr(np, name)
        for name in words(
            "arccos arccosh arcsin arcsinh arctan arctanh ceil cos cosh exp expm1 floor isfinite isinf isnan log log10 "
            "log1p log2 maximum minimum moveaxis outer reciprocal sign sin sinh sqrt square tan tanh tile tril triu "
            "trunc matmul flip roll"
        )
    },
    **{
        name: _TORCH_NAMES[name]
        for name in words("amax amin clamp clone mul div sub mm mv neg unsqueeze numel permute")
    },
    "view": np.reshape,
    "pow": np.power,
    "add": np.add,
    "t": np.transpose,
}
"""Methods of tensors that arrays of NumPy do not have."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The function of NumPy that a function of another library means.

    Attributes
    ----------
    function
        That function.
    library
        The library whose function it is.
    own
        Whether its parameters have the names of PyTorch.
    alone
        Whether it means that only where it is given nothing but an array.
    """

    function: Any
    library: str
    own: bool = False
    alone: bool = False


@functools.lru_cache(maxsize=8)
def _meanings(library: str, modules: tuple[str, ...]) -> dict[int, Meaning]:
    """The functions of loaded namespaces, by their identities."""
    found: dict[int, Meaning] = {}
    for module in modules:
        _enter_standard(found, library, sys.modules[module])
    if library == "torch":
        _enter_torch(found, sys.modules["torch"])
    return found


def _enter_standard(found: dict[int, Meaning], library: str, module: types.ModuleType) -> None:
    for prefix, names in (("", _STANDARD), ("linalg.", _STANDARD_LINALG)):
        home = getattr(module, "linalg", None) if prefix else module
        for name in names:
            function = getattr(home, name, None)
            numpys = _OTHER_NAMES.get(prefix + name) or getattr(np.linalg if prefix else np, name, None)
            if function is not None and numpys is not None and function is not numpys:
                found.setdefault(id(function), Meaning(numpys, library))
    if library in ("jax", "cupy"):
        for home, numpys_home in ((module, np), (getattr(module, "linalg", None), np.linalg)):
            for name in dir(numpys_home):
                function, numpys = getattr(home, name, None), getattr(numpys_home, name)
                if callable(numpys) and callable(function) and function is not numpys and not isinstance(numpys, type):
                    found.setdefault(id(function), Meaning(numpys, library))


def _enter_torch(found: dict[int, Meaning], torch: types.ModuleType) -> None:
    for name in (*_TORCH_SAME, *_TORCH_NAMES):
        function, numpys = getattr(torch, name, None), _TORCH_NAMES.get(name) or getattr(np, name, None)
        if function is not None and numpys is not None:
            found.setdefault(id(function), Meaning(numpys, "torch", True, name in _ALONE))
    for name in _TORCH_LINALG:
        found.setdefault(id(getattr(torch.linalg, name)), Meaning(getattr(np.linalg, name), "torch", own=True))


def meaning_of(constant: Any) -> Meaning | None:
    """What a function of another library means; None for anything else."""
    module = getattr(constant, "__module__", None) or type(constant).__module__
    root = module.partition(".")[0] if isinstance(module, str) else ""
    library = {"jaxlib": "jax", "array_api_compat": ""}.get(root, root)
    for name in (library,) if library in _NAMESPACES else () if library else tuple(_NAMESPACES):
        modules = tuple(each for each in _NAMESPACES[name] if each in sys.modules)
        if name == "torch" and "torch" not in sys.modules:
            continue
        found = _meanings(name, modules).get(id(constant))
        if found is not None:
            return found
    return None


Call = tuple[Value, list[Value], dict[str, Value]]
"""A function, and its arguments."""


def as_numpys(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Call | None:
    """A call of a function of another library as one of a function of NumPy; None where it is none."""
    own = isinstance(constant, _TorchMethod)
    meaning = Meaning(constant.function, "torch", True, constant.alone) if own else meaning_of(constant)
    if meaning is not None:
        return _as_numpys(lo, meaning, list(args), dict(kwargs), node)
    if lo.settings.target.library is not None and _is_of(constant, lo.settings.target.library):
        name = getattr(constant, "__name__", "this")
        raise lo.problem("AD0603", node, f"{name!r} is not known to mean what a function of NumPy does", name=name)
    return None


def _is_of(constant: Any, library: Library) -> bool:
    """Whether a function is one of a library itself, in which nobody looks."""
    module = getattr(constant, "__module__", None) or type(constant).__module__
    return str(module).partition(".")[0] in (library.name, f"{library.name}lib") and callable(constant)


def gives_namespace(constant: Any) -> bool:
    """Whether a function gives the namespace of arrays: ``array_namespace(x)``, ``x.__array_namespace__()``.

    Packages have copies of ``array_api_compat`` among their modules.
    """
    return constant is np.ndarray.__array_namespace__ or _copy_of_compat(constant) is not None


def _copy_of_compat(constant: Any) -> str | None:
    """What stands before the name of a copy of ``array_api_compat`` of which this is the function."""
    if getattr(constant, "__name__", None) not in ("array_namespace", "get_namespace"):
        return None
    before, found, after = str(getattr(constant, "__module__", "")).partition("array_api_compat.")
    return before if found and after == "common._helpers" else None


def namespace(library: Library | None, constant: Any) -> types.ModuleType:
    """The namespace of the standard that such a function gives for arrays of a library."""
    name = _NAMESPACES["numpy" if library is None else library.name][0]
    before = _copy_of_compat(constant) if name.startswith("array_api_compat") else None
    return importlib.import_module(f"{before or ''}{name}")


def _as_numpys(
    lo: Lowerer, meaning: Meaning, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Call:
    """The call with NumPy's names of parameters."""
    name = getattr(meaning.function, "__name__", "this")
    if meaning.own:
        args, kwargs = _torch_arguments(lo, meaning, args, kwargs, node)
    if "device" in kwargs:
        _check_device(lo, kwargs.pop("device"), node)
    if "correction" in kwargs:
        kwargs["ddof"] = kwargs.pop("correction")
    if name in _MADE and "dtype" not in kwargs and _is_float(name, args, kwargs):
        kwargs["dtype"] = ir.Const(np.dtype(_first_choice(meaning.library)))
    if name == "matrix_transpose":
        return ir.Const(np.swapaxes), [*args, ir.Const(-1), ir.Const(-2)], kwargs
    return ir.Const(meaning.function), args, kwargs


def _is_float(name: str, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether what is made is of floats: of whole numbers, ``arange`` and ``full`` make arrays of whole numbers."""
    if name == "full":
        value = kwargs.get("fill_value", args[1] if len(args) > 1 else None)
        return _is_float_value(value)
    return name != "arange" or any(map(_is_float_value, (*args, *kwargs.values())))


def _is_float_value(value: Value | None) -> bool:
    if isinstance(value, ir.Const):
        return isinstance(value.value, float)
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Scalar) and value.type.kind == "float"


def _first_choice(library: str) -> str:
    if library == "torch":
        return name_of_dtype(sys.modules["torch"].get_default_dtype())
    if library == "jax":
        return "float64" if sys.modules["jax"].config.jax_enable_x64 else "float32"
    return "float64"


def _check_device(lo: Lowerer, device: Value, node: ast.AST | None) -> None:
    """Refuses arrays made on another device than that of the arguments."""
    library = lo.settings.target.library
    if isinstance(device, ir.Const) and library is not None and device.value is not None:
        wanted = str(device.value)
        if wanted not in (library.device, library.device.partition(":")[0]):
            raise lo.problem("AD0605", node, f"this is made on {wanted!r}, and the arguments are of {library}")


def _torch_arguments(
    lo: Lowerer, meaning: Meaning, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[list[Value], dict[str, Value]]:
    function = meaning.function
    first = {"tensors": np.concatenate, "input": None}
    for name in first:
        if name in kwargs and not args:
            args = [kwargs.pop(name)]
    if function in (np.transpose, np.reshape, np.tile) and len(args) > 2:
        args = [args[0], TupleValue(tuple(args[1:]))]
    if function in (np.zeros, np.ones) and args and not isinstance(args[0], TupleValue) and _are_extents(args):
        args = [TupleValue(tuple(args))]
    if function in (np.zeros, np.ones) and "size" in kwargs:
        args = [kwargs.pop("size")]
    if function is np.tensordot and "dims" in kwargs:
        kwargs["axes"] = kwargs.pop("dims")
    if function is np.transpose and "dims" in kwargs:
        kwargs["axes"] = kwargs.pop("dims")
    if meaning.alone and (len(args) > 1 or kwargs):
        label = "with more than an array, this gives a pair, or something else than NumPy's"
        raise lo.problem("AD0603", node, label, name=function.__name__, helps=("call amax or amin",))
    if function in (np.std, np.var):
        kwargs = _with_correction(lo, args, kwargs, node)
    if "requires_grad" in kwargs:
        raise lo.problem("AD0606", node, "a tensor is made that requires a gradient of PyTorch")
    return args, {_TORCH_KEYWORDS.get(name, name): value for name, value in kwargs.items()}


def _with_correction(
    lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> dict[str, Value]:
    """The arguments of a standard deviation, which PyTorch corrects for one degree of freedom."""
    if len(args) > 1 and isinstance(args[1], ir.Const) and isinstance(args[1].value, bool):
        raise lo.problem("AD0603", node, "say unbiased= or correction= by name", name="std")
    unbiased = kwargs.pop("unbiased", ir.Const(True))
    if not isinstance(unbiased, ir.Const):
        raise lo.problem("AD0603", node, "unbiased= is not a constant", name="std")
    return {"correction": ir.Const(int(unbiased.value)), **kwargs}


def _are_extents(args: list[Value]) -> bool:
    return all(
        (isinstance(arg, ir.Const) and isinstance(arg.value, int))
        or (isinstance(arg, ir.Var) and isinstance(arg.type, ir.Scalar) and arg.type.kind == "int")
        for arg in args
    )


# Attributes


def constant_of(value: Any) -> Any:
    """NumPy's dtype for that of another library; None for anything else."""
    root = type(value).__module__.partition(".")[0]
    if root == "torch" and type(value).__name__ == "dtype":
        return _dtype(value)
    if root == "array_api_strict" and type(value).__name__ == "DType":
        return _dtype(value)
    return _dtype(value) if type(value).__name__ == "_ScalarMeta" and root in ("jax", "jaxlib") else None


def _dtype(value: Any) -> np.dtype[Any] | None:
    try:
        return np.dtype(value.__name__ if isinstance(value, type) else name_of_dtype(value))
    except TypeError:
        return None


def attribute(lo: Lowerer, base: ir.Var, name: str, node: ast.AST | None) -> Value | None:
    """An attribute of an array of another library; None where NumPy's means the same."""
    library = lo.settings.target.library
    if library is None or not isinstance(base.type, (ir.Array, ir.Scalar, ir.Number)) or _is_pythons(base):
        return None
    if name == "device":
        return ir.Const(library.device)
    if library.name != "torch" or name in _TORCH_ATTRIBUTES or not hasattr(class_of_arrays(library), name):
        return None
    numpys = getattr(np, name, None) if name in _TORCH_METHODS else _TORCH_METHODS_OF_NUMPY.get(name)
    if numpys is not None:
        return Method(ir.Const(_TorchMethod(numpys, name)), base)
    label = f"what {name!r} of a tensor means is not what it means for an array of NumPy, or not known"
    raise lo.problem("AD0603", node, label, name=name, helps=("call a function of NumPy, or of the standard",))


def _is_pythons(base: ir.Var) -> bool:
    return isinstance(base.type, ir.Scalar) and base.type.dtype is None


class _TorchMethod:
    """A method of tensors, called as a function."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function = function
        self.alone = name in _ALONE
        self.__module__ = "torch"


def class_of_arrays(library: Library) -> type:
    """The class of a library's arrays."""
    name = {"torch": "Tensor", "jax": "Array", "cupy": "ndarray"}.get(library.name)
    module = sys.modules[library.name]
    found: type = type(module.zeros(())) if name is None else getattr(module, name)
    return found
