"""Objects: their attributes, their classes, how they are made."""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import sys
import threading
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics.other_names import elsewhere
from adjoint.diagnostics.similar import did_you_mean
from adjoint.frontend.calls.emitted_calls import call_any
from adjoint.frontend.calls.empty_lists import see_dtype, see_rank
from adjoint.frontend.data.making import new_dict
from adjoint.frontend.data.outside.lookups import note
from adjoint.frontend.data.tagged_items import taken
from adjoint.frontend.entry import inputs
from adjoint.frontend.entry.captured import CONSTANT, has_fields
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.values import (
    NONE,
    Cell,
    Closure,
    GeneratorObject,
    Held,
    Method,
    Partial,
    Pullback,
    Record,
    Ref,
    SliceValue,
    SuperValue,
    TupleValue,
    Union,
    Value,
)
from adjoint.frontend.iterators.coming_back import come_back
from adjoint.frontend.library import python_functions
from adjoint.frontend.objects import class_customs
from adjoint.frontend.objects.array_metadata import metadata
from adjoint.frontend.objects.classes import class_of, is_object, is_polynomial, missing_of_some, note_owner, seen
from adjoint.frontend.objects.fields import put_attribute
from adjoint.frontend.objects.linked import field_type, referent, refuse_none
from adjoint.rules import registry
from adjoint.rules.types_of_values import abstract
from adjoint.types.array_libraries import are_loaded
from adjoint.types.classes.constant_types import EXAMPLES
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.structure import CONTAINERS, DICTS, is_namedtuple_class

_MISSING = object()
_OF_SLICES = ("start", "stop", "step")


def attribute(lo: Lowerer, base: Value, name: str, node: ast.AST | None, *, bare: bool = False) -> Value:
    """``base.name``; ``bare`` is past any ``__getattribute__`` of the class."""
    cls = class_of(lo, base) if is_object(lo, base) and not bare else None
    if cls is not None and class_customs.looks_up_by_itself(lo, cls, node):
        return lo.call(ir.Const(cls.__getattribute__), [base, ir.Const(name)], {}, node)
    match base:
        case Union():
            return on_each_option(lo, base, lambda option: attribute(lo, option, name, node), node)
        case ir.Const():
            return _attribute_of_constant(lo, base.value, name, node)
        case Ref():
            record = lo.store[base]
            assert isinstance(record, Record)
            if record.cls not in CONTAINERS:
                part = record.get(name)
                if part is not None:
                    return lo.known_part(base, part)
            return _through_class(lo, base, record.cls, name, node)
        case TupleValue(cls=cls):
            fields = getattr(cls, "_fields", ())
            if name in fields:
                return base.items[fields.index(name)]
            return _through_class(lo, base, cls, name, node)
        case SuperValue(owner=owner, receiver=Union() as union):
            return on_each_option(lo, union, lambda one: attribute(lo, SuperValue(owner, one), name, node), node)
        case SuperValue(owner=owner, receiver=receiver):
            found_class = class_of(lo, receiver)
            if isinstance(receiver, ir.Const) and isinstance(receiver.value, type):
                found_class = type(receiver.value) if issubclass(owner, type) else receiver.value
            if found_class is None:
                raise lo.problem("AD0301", node, "the class of the object that 'super()' stands for is not known")
            cls = found_class
            place = next(k for k, each in enumerate(cls.__mro__) if owner in (each, seen(each)))
            for parent in cls.__mro__[place + 1 :]:
                if name in parent.__dict__:
                    inputs.guard_lookup(lo, parent, name, parent.__dict__[name])
                    assigned = _assigned(lo, parent, name, node)
                    return assigned or bind(lo, receiver, cls, name, parent.__dict__[name], node, home=parent)
            raise lo.mistake(AttributeError, node, f"no base class has an attribute {name!r}")
        case ir.Var():
            return _attribute_of_variable(lo, base, name, node)
        case SliceValue(lower=lower, upper=upper, step=step) if name in _OF_SLICES:
            return (lower, upper, step)[_OF_SLICES.index(name)]
        case Closure(source=source):
            if name in ("__name__", "__qualname__"):
                return ir.Const(source.name)
            cell = base.attributes.get(name)
            if cell is not None and cell in lo.store:
                return _held_by(lo, cell, node)
            if base.function is not None:
                return _attribute_of_constant(lo, base.function, name, node)
        case Method():
            if name == "__self__":
                return base.receiver
            if name == "__func__":
                return base.function
            return attribute(lo, base.function, name, node)
        case GeneratorObject(frame=frame) if hasattr(types.GeneratorType, name):
            come_back(lo, base)
            label = f"the generator is asked for {name!r}"
            helps = ("go through it with a loop, or write a class with a method",)
            raise lo.problem("AD0104", node, label, helps=helps, name=frame.source.name)
        case Partial() if name in ("func", "args"):
            return base.function if name == "func" else TupleValue(base.args)
        case Pullback() if name == "each":
            return Method(ir.Const(python_functions.each), base)
    raise lo.problem("AD0301", node, f"the attribute {name!r} of this value is not known")


def _attribute_of_constant(lo: Lowerer, owner: Any, name: str, node: ast.AST | None) -> Value:
    if registry.is_closed(type(owner)) and not registry.is_harmless(type(owner), name):
        return _declared_attribute(lo, ir.Const(owner), type(owner), name, node)
    if isinstance(owner, type):
        found = inspect.getattr_static(owner, name, _MISSING)
        if registry.is_closed(owner) and not registry.is_harmless(owner, name):
            function = getattr(found, "__func__", found)
            if not registry.is_defined(function):
                raise _undeclared(lo, owner, name, node)
        if isinstance(found, classmethod):
            inputs.guard_lookup(lo, owner, name, found)
            return Method(ir.Const(found.__func__), ir.Const(owner))
        if _lists_key_paths(found):
            return Method(ir.Const(found.function), ir.Const(owner))
    assigned = _assigned(lo, owner, name, node)
    if assigned is not None:
        return assigned
    if isinstance(owner, inspect.Signature) and name == "parameters":
        return new_dict(lo, [(each, ir.Const(parameter)) for each, parameter in owner.parameters.items()], node)
    try:
        value = getattr(owner, name)
    except AttributeError:
        raise no_attribute(lo, described(owner), name, dir(owner), node) from None
    if isinstance(owner, types.ModuleType) and are_loaded():
        from adjoint.frontend.external.array_libraries import constant_of  # lazy

        value = constant_of(value) or value
    if isinstance(value, Held):
        return _held_by(lo, value, node)
    if isinstance(owner, (types.ModuleType, type)):
        return inputs.captured(lo, value, ("attribute", owner, name), name, node)
    if name in getattr(owner, "__dict__", ()) and not (isinstance(owner, (enum.Enum, np.finfo)) or _is_our_own(owner)):
        return inputs.captured(lo, value, ("attribute", owner, name), name, node)
    if is_polynomial(owner):
        from adjoint.frontend.library.arrays.functions import polynomial_of  # lazy

        return attribute(lo, polynomial_of(lo, ir.Const(owner), node), name, node)
    if isinstance(value, types.MethodType) and is_marked(type(owner), CONSTANT):
        return Method(ir.Const(value.__func__), ir.Const(owner))
    return ir.Const(value)


def _assigned(lo: Lowerer, owner: Any, name: str, node: ast.AST | None) -> Value | None:
    """What an attribute of a function, class or module holds that the function assigns; None for others."""
    cell = _variable_of(lo, owner, name)
    return None if cell is None or lo.store.get(cell, ir.UNDEFINED) is ir.UNDEFINED else _held_by(lo, cell, node)


def _held_by(lo: Lowerer, cell: Cell, node: ast.AST | None) -> Value:
    from adjoint.frontend.syntax.names import held_by  # lazy

    return held_by(lo, cell, node)


def presence_of(lo: Lowerer, owner: Any, name: str) -> Value | None:
    """Whether an object has an attribute that the function assigns, and that was not there before; None for others."""
    cell = _variable_of(lo, owner, name)
    flag = None if cell is None else lo.run_data.presence.get(cell)
    note(lo, flag)
    return None if flag is None else lo.store[flag]


def _variable_of(lo: Lowerer, owner: Any, name: str) -> Cell | None:
    """The variable that an attribute of a function, class or module is that the function assigns."""
    known = lo.run_data.globals
    if not known:
        return None
    if isinstance(owner, type):
        owner = next((base for base in owner.__mro__ if name in vars(base) or (id(base), name) in known), owner)
    return known.get((id(vars(owner)) if isinstance(owner, types.ModuleType) else id(owner), name))


def _is_our_own(owner: Any) -> bool:
    """Whether an object is one of the library's functions: what these have nobody changes."""
    return str(getattr(owner, "__module__", "")).startswith("adjoint.")


def no_attribute(lo: Lowerer, owner: str, name: str, known: Iterable[object], node: ast.AST | None) -> Exception:
    public = [each for each in known if not str(each).startswith("__")]
    label, helps = f"{owner} has no attribute {name!r}", did_you_mean(name, public) or elsewhere(name)
    return lo.mistake(AttributeError, node, label, code="AD0211", helps=helps, name=name)


def described(value: Any) -> str:
    name = getattr(value, "__name__", None)
    return repr(name) if name else f"an object of class {type(value).__name__!r}"


def _attribute_of_variable(lo: Lowerer, base: ir.Var, name: str, node: ast.AST | None) -> Value:
    cls = class_of(lo, base)
    note_owner(lo, base, lambda number: number if name == "__class__" else hasattr(number, name))
    if name == "__class__" and isinstance(base.type, (ir.Scalar, ir.Array, ir.Number)):
        return lo.open.call(type, base) if cls is None else ir.Const(cls)
    if isinstance(base.type, ir.Reference):
        return _attribute_of_linked(lo, base, base.type.cls, name, node)
    match base.type:
        case ir.Instance(fields=fields) if name in fields:
            held = _given_in_field(lo, base, name)
            if isinstance(held, (types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
                return ir.Const(held)
            if fields[name] == ir.Opaque(type(None)):
                return NONE  # as far as is known: what else is put there starts this again
            target = ir.Var(name, fields[name])
            lo.emit(ir.Load(target, base, ir.Attribute(name), lo.span(node)))
            if held is not None:
                lo.run_data.given_objects[target] = held
            return taken(lo, target, node)
        case ir.Instance(cls=cls):
            return _through_class(lo, base, cls, name, node)
        case ir.Array() | ir.Scalar() | ir.Number():
            if lo.settings.target.library is not None:
                from adjoint.frontend.external import array_libraries  # lazy

                found = array_libraries.attribute(lo, base, name, node)
                if found is not None:
                    return found
            owner = np.ndarray if isinstance(base.type, ir.Number) or cls is None else cls
            return _attribute_of_number(lo, base, owner, name, node)
        case ir.Tuple(items=items) if name in getattr(cls, "_fields", ()):
            place = cls._fields.index(name)  # type: ignore[union-attr]
            target = ir.Var(name, items[place])
            lo.emit(ir.Load(target, base, ir.Subscript((ir.Const(place),)), lo.span(node)))
            return target
        case ir.List() | ir.Dict() | ir.Tuple():
            assert cls is not None
            held = list if isinstance(base.type, ir.List) and hasattr(cls, name) else cls
            return _through_class(lo, base, held, name, node)
    if cls is not None and not isinstance(base.type, ir.Opaque):
        return _through_class(lo, base, cls, name, node)
    if cls in (*EXAMPLES, str):
        return _attribute_of_constant_class(lo, base, cls, name, node)
    if cls is not None:
        found = _followed_attribute(lo, base, cls, name, node)
        if found is not None:
            return found
        if registry.is_closed(cls) and not registry.is_harmless(cls, name):
            return _declared_attribute(lo, base, cls, name, node)
    return _loaded(lo, base, name, node)


def _loaded(lo: Lowerer, base: ir.Var, name: str, node: ast.AST | None) -> Value:
    """What an object has under a name when the derivative runs, of which nothing is known."""
    target = ir.Var(name, ir.Opaque())
    lo.emit(ir.Load(target, base, ir.Attribute(name), lo.span(node)))
    return target


def _given_in_field(lo: Lowerer, base: ir.Var, name: str) -> Any:
    """The function or object that a field of an object from outside holds, which nothing assigns; None for others."""
    owner = lo.run_data.given_objects.get(base)
    is_assigned = owner is None or (type(owner), name) in lo.settings.fields_assigned
    held = None if is_assigned else getattr(owner, "__dict__", {}).get(name)
    if not (isinstance(held, (types.FunctionType, types.BuiltinFunctionType, np.ufunc)) or has_fields(held)):
        return None
    lo.run_data.fields_taken.add((type(owner), name))
    return held


def _attribute_of_linked(lo: Lowerer, base: ir.Var, cls: type, name: str, node: ast.AST | None) -> Value:
    """An attribute of an object that others of its class refer to, or None."""
    held = field_type(lo, base, name)
    if held is not None:
        is_none = held == ir.Opaque(type(None))  # of all of them, as far as it is known
        return NONE if is_none else _attribute_of_variable(lo, referent(lo, base, node), name, node)
    refuse_none(lo, base, node)
    return _through_class(lo, base, cls, name, node)


def _attribute_of_constant_class(lo: Lowerer, base: ir.Var, cls: type, name: str, node: ast.AST | None) -> Value:
    """An attribute or a method of a text, a date or a span of time, which carries no derivative."""
    found = inspect.getattr_static(cls, name, _MISSING)
    if found is _MISSING:
        raise no_attribute(lo, f"a value of class {cls.__name__!r}", name, dir(cls), node)
    if isinstance(found, types.MethodDescriptorType):
        return Method(ir.Const(found), base)
    if isinstance(found, types.ClassMethodDescriptorType):
        return ir.Const(getattr(cls, name))
    target = ir.Var(name, abstract(getattr(EXAMPLES.get(cls, ""), name)))
    lo.emit(ir.Load(target, base, ir.Attribute(name), lo.span(node)))
    return target


def _followed_attribute(lo: Lowerer, base: ir.Var, cls: type, name: str, node: ast.AST | None) -> Value | None:
    """An attribute of an object of SciPy or NumPy that does not vary, and may be given what does; None for others."""
    home = cls.__module__
    if cls.__name__ == "SuperLU":
        from adjoint.frontend.external.sparse.values import attribute_of_factors  # lazy

        return attribute_of_factors(base, name)
    if home.startswith("scipy.sparse."):
        from adjoint.frontend.external.sparse import matrices as sparse_matrices  # lazy

        return sparse_matrices.attribute(lo, base, name, node)
    if home.startswith("scipy.spatial.transform."):
        from adjoint.frontend.external import rotation_calls  # lazy

        return rotation_calls.attribute(base, name)
    if home.startswith("numpy.random.") or cls.__name__ == "Random":
        from adjoint.frontend.external.random import calls as random_calls  # lazy

        return random_calls.drawing(base, name)
    if home == "numba.experimental.jitclass.boxing" and callable(getattr(cls, name, None)):
        label = f"{name!r} is a method of an object of the jitclass {cls.__name__!r}, which machine code holds"
        helps = ("make the object inside of the function", "or hand over one of the class without its decorator")
        raise lo.problem("AD0201", node, label, helps=helps)
    return None


def _declared_attribute(lo: Lowerer, base: Value, cls: type, name: str, node: ast.AST | None) -> Value:
    """What rules say of an attribute or a method of a class of another library."""
    fact = registry.attribute_of(cls, name)
    if fact is not None:
        return call_any(lo, fact, [base], node)
    meaning = registry.method_of(cls, name)
    if meaning is not None:
        return Method(ir.Const(meaning), base)
    raise _undeclared(lo, cls, name, node)


def _undeclared(lo: Lowerer, cls: type, name: str, node: ast.AST | None) -> Exception:
    label = f"what {name!r} of the class {cls.__name__!r} does is not known to a derivative"
    return lo.problem("AD0201", node, label, helps=("call it outside of the function that is differentiated",))


def _attribute_of_number(lo: Lowerer, base: ir.Var, owner: type, name: str, node: ast.AST | None) -> Value:
    if name == "flat" and isinstance(base.type, (ir.Array, ir.Scalar)):
        from adjoint.frontend.library.arrays.writers import flat  # lazy

        return flat(lo, base if isinstance(base.type, ir.Array) else lo.open.call(np.asarray, base), node)
    dtype = base.type.dtype if isinstance(base.type, (ir.Array, ir.Scalar)) else None
    if dtype is not None:
        lo.run_data.asked_for_dtypes.append(base)
        see_dtype(lo, dtype, name)
        if name == "dtype" or (name == "device" and lo.settings.target.library is None):
            return ir.Const(dtype if name == "dtype" else "cpu")  # as NumPy says of all of its own
        if name == "itemsize" or (name == "nbytes" and isinstance(base.type, ir.Scalar)):
            return ir.Const(dtype.itemsize)
    callee = registry.attribute_of(owner, name)
    if callee is not None:
        if name == "ndim" and isinstance(base.type, ir.Array) and base.type.dims is not None:
            see_rank(lo, len(base.type.dims))
            return ir.Const(len(base.type.dims))
        return call_any(lo, callee, [base], node)
    callee = registry.method_of(owner, name)
    if callee is not None:
        return Method(ir.Const(callee), base)
    found = inspect.getattr_static(owner, name, _MISSING)
    if found is _MISSING:
        what = "a number or an array" if isinstance(base.type, ir.Number) else f"a value of class {owner.__name__!r}"
        raise missing_of_some(lo, base, name, node) or no_attribute(lo, what, name, dir(owner), node)
    if callable(found):
        return Method(ir.Const(found), base)
    return metadata(lo, base, name, node)


def _lists_key_paths(member: Any) -> bool:
    """Whether a member of a class lists key paths, of the class or of an object."""
    mixin = sys.modules.get("adjoint.keypaths.mixin")
    return mixin is not None and isinstance(member, mixin.Listing)


def _warn_of_override(lo: Lowerer, cls: type, name: str) -> None:
    """Warns where a member of a class overrides one that is declared to be differentiable, and is not declared."""
    if "adjoint.declarations.asserted" not in sys.modules:
        return  # nothing was declared
    from adjoint.declarations import asserted  # lazy

    base = asserted.overridden(cls, name)
    if base is not None:
        warning = asserted.lacking(cls, name, base)
        if warning not in lo.run_data.warnings:
            lo.run_data.warnings.append(warning)


def _through_class(lo: Lowerer, receiver: Value, cls: type, name: str, node: ast.AST | None) -> Value:
    if name in ("_replace", "_asdict") and is_namedtuple_class(cls):
        return Method(ir.Const(getattr(python_functions, f"namedtuple{name}")), receiver)
    assigned = _assigned(lo, cls, name, node)
    if assigned is not None:
        return assigned
    for base in cls.__mro__:
        if name in base.__dict__:
            inputs.guard_lookup(lo, cls, name, base.__dict__[name])
            _warn_of_override(lo, cls, name)
            return bind(lo, receiver, cls, name, base.__dict__[name], node)
    if name == "__class__":
        return ir.Const(seen(cls))
    if name == "__dict__" and issubclass(cls, threading.local):  # which has one without a descriptor
        return _table_of(lo, receiver, node)
    for base in cls.__mro__:
        if "__getattr__" in base.__dict__:
            return lo.call(ir.Const(base.__dict__["__getattr__"]), [receiver, ir.Const(name)], {}, node)
    record = lo.store.get(receiver) if isinstance(receiver, Ref) else None
    own = record.keys if isinstance(record, Record) and record.cls not in CONTAINERS else ()
    if cls in DICTS and isinstance(record, Record) and name in record.keys:
        label, helps = f"a dict has no attribute {name!r}", (f"its items are read by their keys: [{name!r}]",)
        raise lo.mistake(AttributeError, node, label, code="AD0211", helps=helps, name=name)
    if cls in (list, tuple) and hasattr(np, name):
        label, helps = f"a {cls.__name__} has no attribute {name!r}", (f"np.{name}(...) takes lists, too",)
        raise lo.mistake(AttributeError, node, label, code="AD0211", helps=helps, name=name)
    raise no_attribute(lo, f"an object of class {cls.__name__!r}", name, [*own, *dir(cls)], node)


def _table_of(lo: Lowerer, receiver: Value, node: ast.AST | None) -> Value:
    from adjoint.frontend.objects.own_attributes import table_of  # lazy

    return table_of(lo, receiver, node)


def bind(
    lo: Lowerer,
    receiver: Value,
    cls: type,
    name: str,
    found: Any,
    node: ast.AST | None,
    home: type | None = None,
) -> Value:
    """What a member of a class is to an object; ``home`` is the class that has it, where ``cls`` may have another."""
    home = home or cls
    match found:
        case property() | types.FunctionType() if isinstance(receiver, ir.Const) and receiver.value is cls:
            return ir.Const(found)  # super(C, cls).name: there is no object
        case property(fget=getter):
            return lo.call(ir.Const(getter), [receiver], {}, node)
        case functools.cached_property():
            return _cached(lo, receiver, name, found, node)
        case staticmethod():
            return ir.Const(found.__func__)
        case functools.singledispatchmethod():
            return Method(ir.Const(found), receiver)
        case classmethod():
            return Method(ir.Const(found.__func__), ir.Const(cls))
        case _ if _lists_key_paths(found):
            return Method(ir.Const(found.function), receiver)
        case Held():
            return _held_by(lo, found, node)
        case types.MemberDescriptorType() | types.GetSetDescriptorType():
            if name == "__class__":
                return ir.Const(seen(cls))
            if name == "__dict__":
                return _table_of(lo, receiver, node)
            origin = receiver.origin if isinstance(receiver, Ref) else receiver
            if isinstance(origin, ir.Var) and class_customs.is_held_in_machine_code(found):
                return _loaded(lo, origin, name, node)
            raise lo.mistake(AttributeError, node, f"the attribute {name!r} is not assigned", code="AD0304")
        case types.FunctionType() | types.MethodDescriptorType() | types.WrapperDescriptorType():
            return Method(ir.Const(found), receiver)
        case types.ClassMethodDescriptorType():
            return ir.Const(found.__get__(None, cls))
    if hasattr(type(found), "__get__") and callable(found):
        return Method(ir.Const(found), receiver)
    get = class_customs.method_of_descriptor(found, "__get__")
    if get is not None:
        descriptor = inputs.captured(lo, found, ("static", home, name), name, node)
        return lo.call(ir.Const(get), [descriptor, receiver, ir.Const(cls)], {}, node)
    if hasattr(type(found), "__get__"):
        raise lo.problem("AD0301", node, f"the descriptor {name!r} of class {cls.__name__!r} is not supported")
    return inputs.captured(lo, found, ("attribute", home, name), name, node)


def _cached(lo: Lowerer, receiver: Value, name: str, found: Any, node: ast.AST | None) -> Value:
    """What a ``cached_property`` computes when it is read first: an attribute of the object from then on."""
    if not isinstance(receiver, Ref):
        raise lo.problem("AD0301", node, f"whether {name!r}, a cached property, was computed before is not known")
    value = lo.call(ir.Const(found.func), [receiver], {}, node)
    put_attribute(lo, receiver, name, value, node)
    return value
