"""What is known of a value before the program runs.

Types are facts about run-time values that the transforms need: whether a value is a number, an array or a
container, and which memory it may share. Compile-time structure (tuples, objects and closures whose parts are
known) never reaches the IR: the frontend keeps it apart as its leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from adjoint.records import dataclass, field

ScalarKind = Literal["bool", "int", "float", "complex"]
KINDS_OF_DTYPES: dict[str, ScalarKind] = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
Dim = Literal["one", "many", "any"]
"""An array's extent: known to be 1, known not to be 1, or not known."""


def same_dtype(one: np.dtype | None, other: np.dtype | None) -> bool:
    """NumPy finds None equal to the dtype of floats."""
    return one is other or (one is not None and other is not None and one == other)


class Storage:
    """A class of values that may share memory: a node of a union-find forest."""

    __slots__ = ("_parent", "_written")

    def __init__(self, *, written: bool = False) -> None:
        self._parent: Storage | None = None
        self._written = written

    def find(self) -> Storage:
        node = self
        while (parent := node._parent) is not None:
            above = parent._parent
            if above is None:
                return parent
            node._parent = node = above
        return node

    def unite(self, other: Storage) -> None:
        mine, theirs = self.find(), other.find()
        if mine is not theirs:
            theirs._parent = mine
            mine._written |= theirs._written

    @property
    def written(self) -> bool:
        """Whether some statement writes this memory in place."""
        return self.find()._written

    def mark_written(self) -> None:
        self.find()._written = True


class Type:
    """Base of the types."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Scalar(Type):
    """A number: Python's own where ``dtype`` is None, else a NumPy scalar of that dtype."""

    kind: ScalarKind
    dtype: np.dtype | None = None

    def __eq__(self, other: object) -> bool:
        is_one = isinstance(other, Scalar) and self.kind == other.kind and same_dtype(self.dtype, other.dtype)
        return is_one and not isinstance(other, Reference)

    def __hash__(self) -> int:
        return hash((self.kind, self.dtype))


@dataclass(frozen=True, slots=True)
class Reference(Scalar):
    """A whole number that says which of the objects of a class this is, or None, in the list of all of them."""

    cls: type = type(None)
    home: Any = None
    """Which list that is."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self.home == other.home

    def __hash__(self) -> int:
        return hash((Reference, self.cls))


NOWHERE = 1 << 62
"""The place of None among such objects: what asks for it raises."""


@dataclass(frozen=True, slots=True)
class Array(Type):
    """A NumPy array; ``dtype`` and ``dims`` are None where they are not known.

    Storage takes no part in comparison: two arrays of one type may lie in different memory.
    """

    dtype: np.dtype | None
    dims: tuple[Dim, ...] | None
    storage: Storage = field(default_factory=Storage, compare=False, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and self.dims == other.dims and same_dtype(self.dtype, other.dtype)

    def __hash__(self) -> int:
        return hash((self.dtype, self.dims))


@dataclass(frozen=True, slots=True)
class Number(Type):
    """A scalar or an array, it is not known which; never written in place."""

    has_no_axes: bool = False
    """Whether it is known that an array would have no axes."""


@dataclass(frozen=True, slots=True)
class List(Type):
    """A list at run time; all its elements have the type ``element`` (None: nothing is known to be in it).

    One that ``is_tuple`` stands for a tuple whose length is known at run time only, and is never written.
    """

    element: Type | None
    storage: Storage = field(default_factory=Storage, compare=False, repr=False)
    is_tuple: bool = False


@dataclass(frozen=True, slots=True)
class Tuple(Type):
    """A tuple at run time (an element of a list, a result that is handed out); ``cls`` is that of a named tuple."""

    items: tuple[Type, ...]
    cls: type = tuple


class Tagged(tuple[Any, ...]):
    """The class of tuples that stand for what has one of several structures: a number that says which, and a place
    for each, of which the others hold nothing."""

    __slots__ = ()


class TaggedOrNone(Tagged):
    """The same where the first structure is None, which has no place."""

    __slots__ = ()


class MadeFunction(tuple[Any, ...]):
    """The class of tuples that stand for functions made inside the one that is differentiated: what they captured.

    Those of one form have a class of their own.
    """

    __slots__ = ()
    form: ClassVar[Any]
    kind: ClassVar[Any]


@dataclass(frozen=True, slots=True)
class PerPlace(Type):
    """The element type of a list of known length, each place of which has a type of its own.

    The shadow of a tuple is such a list where the items' shadows differ, as those of an array and a number do.
    """

    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Dict(Type):
    """A dict at run time; all its values have the type ``value``."""

    value: Type | None
    storage: Storage = field(default_factory=Storage, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Instance(Type):
    """An object at run time: its class and its fields."""

    cls: type
    fields: Mapping[str, Type] = field(hash=False)
    storage: Storage = field(default_factory=Storage, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Opaque(Type):
    """Anything else; it carries no derivative. ``cls`` is its class where that is known.

    ``signature`` is that of a function value, which is called with its derivatives
    (:class:`adjoint.declarations.function_values.Fn`); ``data`` are attributes that are there, and that no code of the
    class gives.
    """

    cls: type | None = None
    signature: Any = None
    data: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class OneOf(Opaque):
    """One of several functions that are known; which it is, is known at run time only.

    ``order`` are they, by the places where they were found, and None where there may be none.
    """

    order: tuple[Any, ...] = field(default=(), compare=False)
    found: frozenset[Any] = frozenset()


def one_of(*functions: Any) -> OneOf:
    """The type of what is one of these functions."""
    classes = {type(function) for function in functions}
    return OneOf(classes.pop() if len(classes) == 1 else None, order=functions, found=frozenset(functions))


MAX_FUNCTIONS = 8
"""How many functions something may be one of."""


def join_functions(one: Opaque, other: Opaque) -> Opaque | None:
    """What is a function of one type or of the other, or None; nothing where that is not known, or too many."""
    mine, theirs = _functions_of(one), _functions_of(other)
    if not mine or not theirs:
        return None
    both = dict.fromkeys((*mine, *theirs))
    return one_of(*both) if len(both) <= MAX_FUNCTIONS else None


def _functions_of(type_: Opaque) -> tuple[Any, ...]:
    return type_.order if isinstance(type_, OneOf) else (None,) if type_ == OF_NONE else ()


@dataclass(frozen=True, slots=True)
class Pack(Opaque):
    """A tuple of what a function keeps for its adjoint, of which the length is known."""

    count: int = 0


FLOAT = Scalar("float")
INT = Scalar("int")
BOOL = Scalar("bool")
OPAQUE = Opaque()
OF_NONE = Opaque(type(None))


RESIDUAL = "__adjoint_residual__"
"""The attribute of classes whose objects only carry what a call has kept for its pullback."""
_CONSTANT_CLASSES = (str, bytes, int, type(None), type, range, slice, BaseException)


def is_float_dtype(dtype: np.dtype | None) -> bool:
    return dtype is not None and dtype.kind in "fc"


def is_whole_dtype(dtype: np.dtype | None) -> bool:
    """Whether numbers of a dtype are whole numbers or truths, of which none varies."""
    return dtype is not None and dtype.kind in "iub"


def may_be_whole(type_: Type | None) -> bool:
    """Whether a value that carries a derivative on some paths may be of integers on others."""
    return isinstance(type_, Number) or (isinstance(type_, Array) and type_.dtype is None)


def depth_of(type_: Type | None) -> int:
    """How deep containers lie in each other."""
    match type_:
        case List(element=part) | Dict(value=part):
            return 1 + depth_of(part)
        case Tuple(items=items):
            return 1 + max(map(depth_of, items), default=0)
        case PerPlace(items=items):
            return max(map(depth_of, items), default=0)
        case Instance(fields=fields):
            return 1 + max(map(depth_of, fields.values()), default=0)
        case _:
            return 0


def linked_class_in(type_: Type | None) -> type | None:
    """The class of an object that others of its class refer to, or that is in what lies in a container."""
    match type_:
        case Reference(cls=cls):
            return cls
        case List(element=part) | Dict(value=part):
            return linked_class_in(part)
        case Tuple(items=items):
            return next(filter(None, map(linked_class_in, items)), None)
        case Instance(fields=fields):
            return next(filter(None, map(linked_class_in, fields.values())), None)
        case _:
            return None


def options_of(type_: Type | None) -> tuple[Type, ...] | None:
    """The several structures that what lies in a container may have; None where it has one."""
    if not isinstance(type_, Tuple) or not issubclass(type_.cls, Tagged):
        return None
    return (OF_NONE, *type_.items[1:]) if type_.cls is TaggedOrNone else type_.items[1:]


def are_of_one_form(one: Tuple, other: Tuple) -> bool:
    """Whether both tuples stand for what has one of several structures, or neither does."""
    return one.cls is other.cls or not (stands_for_another(one) or stands_for_another(other))


def stands_for_another(type_: Tuple) -> bool:
    """Whether a tuple is none of the user's, but stands for a value of several structures, or for a function."""
    return issubclass(type_.cls, (Tagged, MadeFunction))


def is_tagged_within(type_: Type | None) -> bool:
    """Whether something has several structures in what lies in a container."""
    match type_:
        case List(element=part) | Dict(value=part):
            return is_tagged_within(part)
        case Tuple(items=items):
            return stands_for_another(type_) or any(map(is_tagged_within, items))
        case Instance(fields=fields):
            return any(map(is_tagged_within, fields.values()))
        case _:
            return False


def holds_made_functions(type_: Type | None) -> bool:
    """Whether tuples that stand for functions lie in a container."""
    match type_:
        case List(element=part) | Dict(value=part):
            return holds_made_functions(part)
        case Tuple(items=items):
            return issubclass(type_.cls, MadeFunction) or any(map(holds_made_functions, items))
        case Instance(fields=fields):
            return any(map(holds_made_functions, fields.values()))
        case _:
            return False


def are_tagged_alike(one: Type | None, other: Type | None) -> bool:
    """Whether what lies in containers of two types is laid out in one way."""
    match one, other:
        case (List(element=mine), List(element=theirs)) | (Dict(value=mine), Dict(value=theirs)):
            return mine is None or theirs is None or are_tagged_alike(mine, theirs)
        case Tuple(items=mine), Tuple(items=theirs) if len(mine) == len(theirs) and are_of_one_form(one, other):
            return all(map(are_tagged_alike, mine, theirs))
        case Instance(fields=mine), Instance(fields=theirs):
            return all(are_tagged_alike(mine[name], theirs[name]) for name in mine.keys() & theirs.keys())
        case (Reference(), Opaque()) | (Opaque(), Reference()):
            return False
        case _:
            return not is_tagged_within(one) and not is_tagged_within(other)


def fresh(type_: Type) -> Type:
    """The same type for other memory."""
    match type_:
        case Array(dtype=dtype, dims=dims):
            return Array(dtype, dims)
        case List(element=element):
            return List(
                None if element is None else fresh(element), Storage(written=type_.storage.written), type_.is_tuple
            )
        case Dict(value=value):
            return Dict(None if value is None else fresh(value), Storage(written=type_.storage.written))
        case Tuple(items=items):
            return Tuple(tuple(map(fresh, items)), type_.cls)
        case PerPlace(items=items):
            return PerPlace(tuple(map(fresh, items)))
        case Instance(cls=cls, fields=fields):
            parts = {name: fresh(part) for name, part in fields.items()}
            return Instance(cls, parts, Storage(written=type_.storage.written))
        case _:
            return type_


def relocated(type_: Type, home: Callable[[Storage], Storage]) -> Type:
    """The same type for other memory: ``home`` tells which stands for a class of memory."""
    match type_:
        case Array(dtype=dtype, dims=dims, storage=storage):
            return Array(dtype, dims, home(storage.find()))
        case List(element=element, storage=storage):
            return List(None if element is None else relocated(element, home), home(storage.find()), type_.is_tuple)
        case Dict(value=value, storage=storage):
            return Dict(None if value is None else relocated(value, home), home(storage.find()))
        case Tuple(items=items):
            return Tuple(tuple(relocated(item, home) for item in items), type_.cls)
        case PerPlace(items=items):
            return PerPlace(tuple(relocated(item, home) for item in items))
        case Instance(cls=cls, fields=fields, storage=storage):
            parts = {name: relocated(part, home) for name, part in fields.items()}
            return Instance(cls, parts, home(storage.find()))
        case _:
            return type_


def storage_of(type_: Type | None) -> Storage | None:
    """The class of the memory that a value of this type refers to itself."""
    storage = getattr(type_, "storage", None)
    return storage.find() if isinstance(storage, Storage) else None


def storages(type_: Type | None) -> set[Storage]:
    """The classes of memory that can be reached from values of a type."""
    own = storage_of(type_)
    found = set[Storage]() if own is None else {own}
    match type_:
        case List(element=part) | Dict(value=part):
            return found | storages(part)
        case Tuple(items=items) | PerPlace(items=items):
            return found.union(*map(storages, items))
        case Instance(fields=fields):
            return found.union(*map(storages, fields.values()))
        case _:
            return found


def may_vary(type_: Type | None) -> bool:
    """Whether a value of this type, or one of its parts, may carry a derivative."""
    match type_:
        case Scalar(kind=kind):
            return kind in ("float", "complex")
        case Array(dtype=dtype):
            return dtype is None or is_float_dtype(dtype)
        case OneOf():
            return False
        case Opaque(cls=cls, signature=signature):
            is_constant = cls is not None and (issubclass(cls, _CONSTANT_CLASSES) or hasattr(cls, RESIDUAL))
            return not is_constant and signature is None
        case Tuple(items=items) | PerPlace(items=items):
            return any(map(may_vary, items))
        case None:
            return False
        case _:
            return True


def has_one_layout(type_: Type | None) -> bool:
    """Whether new arrays of a type are laid out in the same way by all who make them: those of one axis are."""
    return isinstance(type_, Array) and type_.dims is not None and len(type_.dims) < 2


def is_written_array(type_: Type | None) -> bool:
    """Whether values of this type are arrays whose memory some statement writes in place."""
    return isinstance(type_, Array) and type_.storage.written


def is_handle(type_: Type | None) -> bool:
    """Whether values of this type are references to memory that has a shadow in the transforms."""
    match type_:
        case Array(storage=storage):
            return storage.written
        case List() | Tuple() | Dict() | Instance():
            return True
        case PerPlace(items=items):
            return any(map(is_handle, items))
        case _:
            return False


def rank_of(type_: Type | None) -> int | None:
    """The number of axes of a number or an array; None where it is not known."""
    match type_:
        case Scalar():
            return 0
        case Array(dims=dims) if dims is not None:
            return len(dims)
        case _:
            return None


def carries_derivative(type_: Type | None) -> bool:
    """Whether a value of this type can vary smoothly, itself or in one of its parts."""
    if type(type_) is Scalar:
        return type_.kind in ("float", "complex")
    match type_:
        case Array(dtype=dtype):
            return dtype is None or is_float_dtype(dtype)
        case Number():
            return True
        case List(element=part) | Dict(value=part):
            return part is None or carries_derivative(part)
        case Tuple(items=items) | PerPlace(items=items):
            return any(carries_derivative(item) for item in items)
        case Instance(fields=fields):
            return any(carries_derivative(item) for item in fields.values())
        case _:
            return False
