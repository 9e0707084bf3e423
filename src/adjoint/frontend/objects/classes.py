"""The class of a value, as far as it is known."""

from __future__ import annotations

import ast
import inspect
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.entry.captured import Guard, reader
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import STANDS_FOR, Closure, Method, Record, Ref, SliceValue, TupleValue, Value
from adjoint.runtime.array_functions.sparse import is_any_sparse
from adjoint.sources.library_folders import is_class_of_a_library
from adjoint.types.array_libraries import Library
from adjoint.types.structure import CONTAINERS, is_namedtuple_class

_PYTHON_SCALARS = {"bool": bool, "int": int, "float": float, "complex": complex}
_NUMPY_SCALARS: dict[str, tuple[type, ...]] = {
    "bool": (np.bool_,),
    "int": tuple(np.dtype(code).type for code in np.typecodes["AllInteger"]),
    "float": tuple(np.dtype(code).type for code in np.typecodes["Float"]),
    "complex": tuple(np.dtype(code).type for code in np.typecodes["Complex"]),
}


def class_of(lo: Lowerer, value: Value) -> type | None:
    """``type(value)``, as far as it is known."""
    found = _class_of(lo, value)
    if found is not None and found not in lo.run_data.asked_classes:
        lo.run_data.asked_classes[found] = None
    return found


def _class_of(lo: Lowerer, value: Value) -> type | None:
    match value:
        case ir.Const(value=constant):
            return type(constant)
        case TupleValue(cls=cls):
            return cls
        case Ref():
            record = lo.store[value]
            return record.cls if isinstance(record, Record) else None
        case ir.Var(type=ir.Reference(cls=cls)):
            return cls
        case ir.Var(type=ir.Scalar(kind=kind, dtype=dtype)):
            return _PYTHON_SCALARS[kind] if dtype is None else dtype.type
        case ir.Var(type=ir.Array()):
            return np.ndarray
        case ir.Var(type=ir.List(is_tuple=is_tuple)):
            return tuple if is_tuple else list
        case ir.Var(type=ir.Dict()):
            return dict
        case ir.Var(type=ir.Tuple(cls=cls)):
            return cls
        case ir.Var(type=ir.Instance(cls=cls)):
            return cls
        case ir.Var(type=ir.Opaque(cls=cls)):
            return cls
        case SliceValue():
            return slice
        case Closure():
            return types.FunctionType
        case Method():
            return types.MethodType
        case _:
            return None


def class_seen(lo: Lowerer, value: Value) -> type | None:
    """The class that a program sees: that for which the class of an object here stands."""
    cls = class_of(lo, value)
    return None if cls is None else seen(cls)


def class_told(lo: Lowerer, value: Value, node: ast.AST | None) -> Value | None:
    """What ``type(value)`` gives, where an object that stands for others may say of which class those are."""
    cls = class_of(lo, value)
    if cls is None or not is_any_sparse(seen(cls)):
        return None if cls is None else ir.Const(seen(cls))
    return class_property(lo, value, node)


def class_property(lo: Lowerer, value: Value, node: ast.AST | None) -> Value | None:
    """The class that an object says by a property of its own to be of, as ``isinstance`` asks for it."""
    cls = class_of(lo, value)
    said = None if cls is None or isinstance(value, ir.Const) else inspect.getattr_static(cls, "__class__")
    return lo.call(ir.Const(said.fget), [value], {}, node) if isinstance(said, property) else None


def seen(cls: type) -> type:
    """The class for which another one stands, or the same."""
    stands_for: type = cls.__dict__.get(STANDS_FOR, cls)
    return stands_for


def is_kind_of(cls: type, classes: Any) -> bool | None:
    """Whether a class is one of some classes to a program, or, where definitions ask for their own class, to these.

    None where it is not known which class an object has.
    """
    asked = classes if isinstance(classes, tuple) else (classes,)
    own = tuple(each for each in asked if isinstance(each, type) and STANDS_FOR in each.__dict__)
    if issubclass(seen(cls), classes) or issubclass(cls, own):
        return True
    narrower = is_any_sparse(seen(cls)) and any(map(_is_of_sparse, asked))
    return None if narrower and asked != own else False


def note_registered(lo: Lowerer, cls: type, classes: Any) -> None:
    """Has the specialisation ask again whether a user's class counts as one of some classes: it may be registered."""
    asked = classes if isinstance(classes, tuple) else (classes,)
    if is_class_of_a_library(cls) or all(type(each) is type for each in asked):
        return
    path = ("registered", seen(cls), classes)
    if not (lo.run_data.all_constant or any(guard.path == path for guard in lo.run_data.guards)):
        lo.run_data.guards.append(Guard(path, reader(path), issubclass(seen(cls), classes)))


def _is_of_sparse(cls: Any) -> bool:
    """Whether a class may be one of sparse matrices; linear operators are none."""
    module = getattr(cls, "__module__", "")
    return module.startswith("scipy.sparse") and not module.startswith("scipy.sparse.linalg")


def is_polynomial(value: object) -> bool:
    """Whether a value is one of NumPy's polynomials by their powers."""
    return isinstance(value, np.poly1d) or type(value).__module__ == "numpy.polynomial.polynomial"


_OF_NUMBERS = (*_PYTHON_SCALARS.values(), np.ndarray, *itertools.chain(*_NUMPY_SCALARS.values()))


def note_owner(lo: Lowerer, value: Value, told: Callable[[type], object]) -> None:
    """Notes that the program asks for what is not the same of numbers of Python and of NumPy, or of several kinds."""
    if isinstance(value, ir.Var) and type(value.type) is ir.Scalar and value.type.kind in _NUMPY_SCALARS:
        kind = value.type.kind
        own = told(_PYTHON_SCALARS[kind])
        lo.run_data.asks_for_owners |= any(told(each) != own for each in _NUMPY_SCALARS[kind])
        classes = list(_PYTHON_SCALARS.values())
        narrower = classes[: classes.index(_PYTHON_SCALARS[kind])]
        lo.run_data.asks_for_kinds |= any(told(each) != told(_PYTHON_SCALARS[kind]) for each in narrower)


def missing_of_some(lo: Lowerer, value: ir.Var, name: str, node: ast.AST | None) -> Exception | None:
    """What to raise where it is not known of a number whether it is of a kind that has an attribute; None elsewhere."""
    if not isinstance(value.type, ir.Number) or not any(hasattr(kind, name) for kind in _OF_NUMBERS):
        return None
    label = f"this may be a number that has {name!r}, or one that has not"
    return lo.problem("AD0401", node, label, helps=("say of which kind it is: int(n), float(n)",))


def is_instance(lo: Lowerer, value: Value, classes: Any) -> bool | None:
    """Whether a value is of one of some classes, None where it is not known; raises what ``isinstance`` raises."""
    if lo.settings.target.library is not None and isinstance(value, ir.Var):
        return _is_instance_there(lo.settings.target.library, value, classes)
    cls = class_of(lo, value)
    if cls is not None:
        note_owner(lo, value, lambda number: issubclass(number, classes))
        note_registered(lo, cls, classes)
        return isinstance(value.value, classes) if isinstance(value, ir.Const) else is_kind_of(cls, classes)
    if isinstance(value, ir.Var) and isinstance(value.type, ir.Number):
        found = {issubclass(each, classes) for each in _OF_NUMBERS}
        return found.pop() if len(found) == 1 else None
    return None


def _is_instance_there(library: Library, value: ir.Var, classes: Any) -> bool | None:
    """The same where arrays are of another library: there, what would be a number of NumPy is an array, too."""
    from adjoint.frontend.external.array_libraries import class_of_arrays  # lazy

    candidates: tuple[type, ...] = (class_of_arrays(library),)
    match value.type:
        case ir.Scalar(kind="float" | "complex" as kind, dtype=None):
            candidates = (*candidates, _PYTHON_SCALARS[kind])
        case ir.Scalar(kind=kind, dtype=None):
            candidates = (_PYTHON_SCALARS[kind],)
        case ir.Array() | ir.Scalar():
            pass
        case ir.Number():
            candidates = (*candidates, *_PYTHON_SCALARS.values())
        case ir.Opaque(cls=cls) if cls is not None:
            candidates = (cls,)
        case _:
            return None
    found = {issubclass(each, classes) for each in candidates}
    return found.pop() if len(found) == 1 else None


def is_object(lo: Lowerer, value: Value) -> bool:
    """Whether operators on ``value`` are methods of a user's class."""
    if isinstance(value, Ref):
        record = lo.store[value]
        return isinstance(record, Record) and record.cls not in CONTAINERS
    return isinstance(value, ir.Var) and isinstance(value.type, (ir.Instance, ir.Reference))


def has_source(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and not code.co_filename.startswith("<string>")


def refuse_other_items(lo: Lowerer, cls: type, node: ast.AST | None) -> None:
    """Refuses a class of named tuples that changes what a tuple is: how it is ordered, or gone through."""
    for base in cls.__mro__[: cls.__mro__.index(tuple)]:
        for name in _OF_TUPLES:
            own = base.__dict__.get(name)
            if has_source(getattr(own, "__func__", own)):
                kind = "named tuple" if is_namedtuple_class(cls) else "class of tuples"
                label = f"the {kind} {cls.__name__!r} has a {name!r} of its own"
                raise lo.problem("AD0301", node, label, helps=("use a dataclass",))


_OF_TUPLES = (
    *("__init__", "__getitem__", "__iter__", "__len__", "__contains__", "__bool__", "__hash__"),
    *("__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
)


def refuse_made_again(lo: Lowerer, cls: type, node: ast.AST | None) -> None:
    """Refuses to make a named tuple of its items at run time: the ``__new__`` of its class would see them anew."""
    if is_namedtuple_class(cls) and has_source(cls.__new__):
        label = f"the named tuple {cls.__name__!r}, which has a '__new__' of its own, is handed on as a whole"
        raise lo.problem("AD0301", node, label, helps=("use a dataclass",))
