"""Python's syntax for arrays of another library, with the meaning that it has for arrays of NumPy.

An element is a number: a copy, which later stores do not change. Indices may be lists, and slices go backwards.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from adjoint.types.array_libraries import name_of_dtype

if TYPE_CHECKING:
    from adjoint.runtime.array_libraries.names import Names

_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "Div": operator.itruediv,
    "MatMult": operator.imatmul,
    "Pow": operator.ipow,
    "FloorDiv": operator.ifloordiv,
    "Mod": operator.imod,
    "BitOr": operator.ior,
    "BitAnd": operator.iand,
    "BitXor": operator.ixor,
}
_OUT_OF_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "MatMult": operator.matmul,
    "Pow": operator.pow,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "BitOr": operator.or_,
    "BitAnd": operator.and_,
    "BitXor": operator.xor,
}


class Operations:
    """Those of one library on one device."""

    slice = builtins.slice

    def __init__(self, names: Names) -> None:
        self.names = names
        self.library = names.library
        self.is_array = names.is_array

    # Attributes and methods

    def attribute(self, x: Any, name: str) -> Any:
        """``x.name``"""
        if self.is_array(x):
            found = _ATTRIBUTES.get(name)
            return getattr(x, name) if found is None else found(self.names, x)
        if name == "kind" and type(x).__module__.partition(".")[0] in ("torch", "array_api_strict"):
            return kind_of(x)
        if name == "type" and not hasattr(x, "type"):
            return lambda value: self.names.asarray(value, dtype=x)
        return getattr(x, name)

    def method(self, x: Any, name: str) -> Callable[..., Any]:
        """``x.name``, which is called."""
        if not self.is_array(x):
            return getattr(x, name)  # type: ignore[no-any-return]
        if name == "tolist":
            raise TypeError("tolist() copies an array to Python's memory: leave it an array")
        function = getattr(self.names, name)
        if name in ("reshape", "transpose"):
            return lambda *args, **kwargs: function(x, args[0] if len(args) == 1 else args, **kwargs)
        return lambda *args, **kwargs: function(x, *args, **kwargs)

    def positive(self, x: Any) -> Any:
        """``+x``: a copy."""
        return self.names.copy(x) if self.is_array(x) else +x

    def converted(self, dtype: str, x: Any) -> Any:
        """``np.float64(x)``: a number stays one of Python, which takes the dtype of the arrays that it meets."""
        if self.is_array(x):
            return self.names.astype(x, dtype)
        return complex(x) if dtype.startswith("complex") else float(x) if dtype.startswith("float") else int(x)

    def differs_from_zero(self, x: Any) -> Any:
        """``x != 0``, also of truths, which strict libraries do not compare with numbers."""
        return x if self.is_array(x) and name_of_dtype(x.dtype) == "bool" else x != 0

    def length(self, x: Any) -> int:
        """``len(x)``"""
        return int(x.shape[0]) if self.is_array(x) and x.ndim else len(x)

    def items(self, x: Any) -> Any:
        """What ``for`` draws from ``x``."""
        return _Items(self, x) if self.is_array(x) else x

    # Reads

    def get(self, x: Any, index: Any) -> Any:
        """``x[index]``"""
        if not self.is_array(x):
            return x[index]
        if type(index) is int:
            found = x[index] if x.ndim == 1 else x[index, ...]
            return self._element(found) if found.ndim == 0 else found
        items = self._normal(x, index)
        forward, backward = self._forward(x, items)
        array = self._array_beside_slices(items)
        if array is not None:
            found = self.names.take(x, items[array], array)
        else:
            found = x[tuple(forward)]
        if backward:
            found = self.names.xp.flip(found, axis=tuple(backward))
        return self._element(found) if found.ndim == 0 else found

    def _element(self, x: Any) -> Any:
        return self.names.copy(x) if self.library.views_elements else x

    def _normal(self, x: Any, index: Any) -> list[Any]:
        """The index, with an item for each axis but those that an ellipsis stands for."""
        items = [self._item(item) for item in (index if isinstance(index, tuple) else (index,))]
        if any(item is Ellipsis for item in items):
            place = next(place for place, item in enumerate(items) if item is Ellipsis)
            if any(self._is_places(item) for item in items):
                missing = x.ndim - sum(self._axes_of(item) for item in items)
                items[place : place + 1] = [slice(None)] * missing
            return items
        if sum(self._axes_of(item) for item in items) < x.ndim:
            if any(self._is_places(item) for item in items):
                return items + [slice(None)] * (x.ndim - sum(self._axes_of(item) for item in items))
            items.append(Ellipsis)
        return items

    def _item(self, item: Any) -> Any:
        if isinstance(item, (list, range)):
            return self.names.asarray(list(item))
        if isinstance(item, bool):
            return self.names.asarray(item)
        return item

    def _is_places(self, item: Any) -> bool:
        return self.is_array(item) and name_of_dtype(item.dtype) != "bool"

    def _axes_of(self, item: Any) -> int:
        """How many axes of an array an item of its index stands for."""
        if item is None or item is Ellipsis:
            return 0
        return item.ndim if self.is_array(item) and name_of_dtype(item.dtype) == "bool" else 1

    def _array_beside_slices(self, items: list[Any]) -> int | None:
        """The axis along which places are taken, where the other axes are whole."""
        if self.library.name != "array_api_strict":
            return None
        arrays = [place for place, item in enumerate(items) if self._is_places(item)]
        others = [item for item in items if not self._is_places(item)]
        simple = len(arrays) == 1 and others and all(item == slice(None) for item in others)
        return arrays[0] if simple else None

    def _forward(self, x: Any, items: list[Any]) -> tuple[list[Any], list[int]]:
        """The index with slices forwards and within bounds, and the axes of the result that are to be turned then."""
        if self.library.takes_any_slice or all(_is_plain(item) for item in items):
            return items, []
        found: list[Any] = []
        backward: list[int] = []
        axis = result_axis = 0
        for item in items:
            if item is Ellipsis:
                skipped = x.ndim - sum(self._axes_of(other) for other in items)
                axis, result_axis = axis + skipped, result_axis + skipped
            elif isinstance(item, slice):
                places = range(x.shape[axis])[item]
                if places.step < 0:
                    backward.append(result_axis)
                    places = places[::-1]
                item = slice(places.start, places.stop, places.step) if places else slice(0, 0)
                axis, result_axis = axis + 1, result_axis + 1
            else:
                axis += self._axes_of(item)
                result_axis += 1 if item is None else 0
            found.append(item)
        return found, backward

    # Arithmetic

    def binary(self, symbol: str, a: Any, b: Any) -> Any:
        """``a + b``, and the like: NumPy's dtypes where whole numbers meet floats, or are divided."""
        if self.library.name in ("torch", "array_api_strict") and (self.is_array(a) or self.is_array(b)):
            a, b = self._promoted(symbol, a, b), self._promoted(symbol, b, a)
            if symbol == "MatMult" and a.dtype != b.dtype:
                a, b = (self.names.astype(x, self.names.result_type(a, b), copy=False) for x in (a, b))
        return _OUT_OF_PLACE[symbol](a, b)

    def _promoted(self, symbol: str, x: Any, other: Any) -> Any:
        """``x``, as floats where it is an array of whole numbers that meets floats, or is divided."""
        if not self.is_array(x) or self.names.is_floating(x.dtype):
            return x
        if self.is_array(other) and self.names.is_floating(other.dtype):
            return self.names.astype(x, other.dtype)
        is_float = isinstance(other, float) or symbol == "Div"
        return self.names.astype(x, self.names.float64) if is_float else x

    # Writes

    def put(self, x: Any, index: Any, value: Any) -> Any:
        """``x[index] = value``; the array that has it."""
        if not self.is_array(x):
            x[index] = value
            return x
        items, backward = self._forward(x, self._normal(x, index))
        if backward:
            value = self._turned(x, items, value, backward)
        if self.library.name == "array_api_strict":
            items, value = self._strictly(x, items, value)
        if self.library.name == "jax":
            return x.at[tuple(items)].set(value)
        x[tuple(items)] = self._stored(x, value)
        return x

    def _stored(self, x: Any, value: Any) -> Any:
        """A value as an array of a library that is strict stores it."""
        if self.library.name == "torch" and self.is_array(value) and value.dtype != x.dtype:
            return value.to(x.dtype)
        if self.library.name == "array_api_strict":
            return self.names.asarray(value, dtype=x.dtype)
        return value

    def _turned(self, x: Any, items: list[Any], value: Any, backward: list[int]) -> Any:
        shape = x[tuple(items)].shape
        return self.names.xp.flip(self.names.broadcast_to(self.names.asarray(value), shape), axis=tuple(backward))

    def _strictly(self, x: Any, items: list[Any], value: Any) -> tuple[list[Any], Any]:
        """An index without new axes, and the value without them: the standard has them in reads only."""
        items = [int(item) if self._is_places(item) and item.ndim == 0 else item for item in items]
        if all(item is not None for item in items):
            return items, value
        shape = x[tuple(items)].shape
        items = [item for item in items if item is not None]
        value = self.names.broadcast_to(self.names.asarray(value, dtype=x.dtype), shape)
        return items, self.names.reshape(value, x[tuple(items)].shape)

    def put_augmented(self, x: Any, index: Any, symbol: str, value: Any) -> Any:
        """``x[index] += value``, and the like."""
        if not self.is_array(x):
            held = x[index]
            is_number = self.is_array(held) and held.ndim == 0  # which others may hold, too
            x[index] = (_OUT_OF_PLACE if is_number else _IN_PLACE)[symbol](held, value)
            return x
        return self.put(x, index, self.binary(symbol, self.get(x, index), value))

    def augmented(self, x: Any, symbol: str, value: Any) -> Any:
        """``x += value``, and the like: in place, where arrays can be written."""
        if not self.is_array(x):
            return _IN_PLACE[symbol](x, value)
        result = self.binary(symbol, x, value)
        if not self.library.writes:
            return self.names.astype(self.names.broadcast_to(result, x.shape), x.dtype, copy=False)
        x[...] = self._stored(x, result)
        return x

    def add_at(self, x: Any, index: Any, values: Any) -> Any:
        """``np.add.at(x, index, values)``; the array that has the sums."""
        items = self._normal(x, index)
        if self.library.name == "jax":
            return x.at[tuple(items)].add(values)
        if self.library.name == "cupy":
            self.names.xp.add.at(x, tuple(items), values)
            return x
        xp, size = self.names.xp, self.names.size(x)
        places = self.get(self.names.reshape(self.names.arange(size), x.shape), tuple(items))
        values = self.names.broadcast_to(self.names.asarray(values, dtype=x.dtype), places.shape)
        flat, added = self.names.ravel(places), self.names.ravel(values)
        if self.library.name == "torch":
            coordinates: list[Any] = []
            for extent in reversed(x.shape):
                coordinates.append(flat % extent)
                flat = flat // extent
            x.index_put_(tuple(reversed(coordinates)), added, accumulate=True)
            return x
        hits = xp.expand_dims(flat, axis=0) == xp.expand_dims(self.names.arange(size), axis=1)
        sums = xp.sum(xp.where(hits, xp.expand_dims(added, axis=0), self.names.zeros((), x.dtype)), axis=1)
        x[...] = x + self.names.reshape(sums, x.shape)
        return x


def _is_plain(item: Any) -> bool:
    """Whether an item of an index is taken by every library: no slice backwards, or beyond the end."""
    return not isinstance(item, slice) or (item.start is None and item.stop is None and (item.step or 1) > 0)


def kind_of(dtype: Any) -> str:
    """The letter that NumPy has for the kind of a dtype."""
    name = name_of_dtype(dtype)
    return "b" if name == "bool" else {"bfloat16": "f"}.get(name, name[0])


_ATTRIBUTES: dict[str, Callable[[Names, Any], Any]] = {
    "T": lambda names, x: names.transpose(x),
    "mT": lambda names, x: names.swapaxes(x, -1, -2),
    "size": lambda names, x: names.size(x),
    "flat": lambda names, x: Operations(names).items(names.ravel(x)),
    "real": lambda names, x: names.real(x),
    "imag": lambda names, x: names.imag(x),
}


class _Items:
    """The items of an array along its first axis, forwards or backwards."""

    def __init__(self, operations: Operations, array: Any) -> None:
        self._operations = operations
        self._array = array

    def __len__(self) -> int:
        return int(self._array.shape[0])

    def __getitem__(self, place: int) -> Any:
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self._operations.get(self._array, place)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))
