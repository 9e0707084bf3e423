"""Arrays of other libraries: which library, on which device, of which dtype, by the class of an array alone.

Nothing is imported here, and no array is read: who has an array of a library has imported the library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.records import dataclass

NAMES = ("torch", "jax", "cupy", "array_api_strict")


@dataclass(frozen=True, slots=True)
class Library:
    """A library of arrays, and the device on which the arrays of a call lie.

    Attributes
    ----------
    name
        Its name: that of the package.
    device
        The device as a text; empty where it is not known, as while a function is traced.
    """

    name: str
    device: str

    @property
    def writes(self) -> bool:
        """Whether its arrays can be written in place."""
        return self.name != "jax"

    @property
    def views_elements(self) -> bool:
        """Whether ``x[0]`` of a vector is a view of its memory; in NumPy it is a number."""
        return self.name in ("torch", "cupy")

    @property
    def takes_any_slice(self) -> bool:
        """Whether slices may go backwards and beyond the end, and are views all the same, as in NumPy."""
        return self.name not in ("torch", "array_api_strict")

    def __repr__(self) -> str:
        """As messages call it."""
        return f"{self.name} on {self.device}" if self.device else self.name


_names: dict[type, str] = {}
"""What was found out of classes; empty for those of anything else."""


def name_of(x: Any) -> str:
    """The library of which ``x`` is an array; empty where it is none.

    >>> name_of(np.ones(2))
    ''
    """
    cls = type(x)
    name = _names.get(cls)
    if name is None:
        name = _names[cls] = _name_of_class(cls)
    return name


def _name_of_class(cls: type) -> str:
    root = (cls.__module__ or "").partition(".")[0]
    if root == "jaxlib":
        root = "jax"
    if root not in NAMES or root not in sys.modules:
        return ""
    return root if issubclass(cls, _CLASSES[root](sys.modules[root])) else ""


_CLASSES: dict[str, Callable[[Any], Any]] = {
    "torch": lambda torch: torch.Tensor,
    "jax": lambda jax: (jax.Array, jax.core.Tracer),
    "cupy": lambda cupy: cupy.ndarray,
    "array_api_strict": lambda strict: type(strict.zeros(())),
}


def words(text: str) -> tuple[str, ...]:
    """The words of a text: long lists of names read better so."""
    return tuple(text.split())


def are_loaded() -> bool:
    """Whether another library than NumPy may be meant anywhere."""
    return "array_api_compat" in sys.modules or not sys.modules.keys().isdisjoint(NAMES)


def is_foreign(x: Any) -> bool:
    """Whether ``x`` is an array of another library than NumPy."""
    return name_of(x) != ""


def is_array(x: Any) -> bool:
    """Whether ``x`` is an array, of NumPy or of another library."""
    return isinstance(x, np.ndarray) or name_of(x) != ""


def is_immutable(x: Any) -> bool:
    """Whether ``x`` is an array that cannot be written."""
    return name_of(x) == "jax"


def is_writeable(x: Any) -> bool:
    """Whether ``x`` is an array that can be written."""
    return bool(x.flags.writeable) if isinstance(x, np.ndarray) else name_of(x) not in ("", "jax")


def library_of(x: Any) -> Library:
    """The library and the device of an array of another library."""
    library = Library(name_of(x), device_of(x))
    if library.device:
        _devices.setdefault(library, x.device)
    return library


_devices: dict[Library, Any] = {}


def own_device(library: Library) -> Any:
    """The device of a library's arrays as the library has it; None where it is to choose."""
    return _devices.get(library)


def device_of(x: Any) -> str:
    """The device of an array, as a text; empty where a tracer has none."""
    try:
        return str(x.device)
    except Exception:  # what is traced may have none, and says so in many ways
        return ""


def dtype_of(x: Any) -> np.dtype[Any] | None:
    """NumPy's dtype for that of an array; None where NumPy has none."""
    name = name_of_dtype(x.dtype)
    try:
        return np.dtype(name)
    except TypeError:
        return None


def name_of_dtype(dtype: Any) -> str:
    """The name of a dtype of any library.

    >>> name_of_dtype(np.dtype("float32"))
    'float32'
    """
    name = getattr(dtype, "name", None)
    return name if isinstance(name, str) else str(dtype).rpartition(".")[2]


def shares_memory(a: Any, b: Any) -> bool:
    """Whether two arrays of libraries that can be written may have memory in common."""
    name = name_of(a)
    if name != name_of(b) or name in ("", "jax"):
        return False
    if name == "torch":
        return bool(a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr() and a.numel() and b.numel())
    if name == "cupy":
        return bool(sys.modules["cupy"].may_share_memory(a, b))
    return bool(np.may_share_memory(a._array, b._array))


def arrays_within(value: Any) -> list[Any]:
    """The arrays of other libraries in tuples, lists and dicts, and ``value`` itself."""
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in arrays_within(part)]
    if isinstance(value, dict):
        return [array for part in value.values() for array in arrays_within(part)]
    return [value] if is_foreign(value) else []
