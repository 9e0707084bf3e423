"""Where derivatives end that flow through a function: at what is not looked into, has none, or is not to vary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.analysis.dependence.taint import holds_text, reads_tainted, tainted_objects
from adjoint.analysis.memory.reachable import keeper_in, lends_memory, may_keep_in, may_write_anything
from adjoint.diagnostics import Diagnostic, diagnostic
from adjoint.diagnostics.spans import OF_A_RESULT, called_text, is_of_a_result
from adjoint.differentiation.memory.dict_keys import key_problems
from adjoint.differentiation.memory.slots import has_slots, is_container
from adjoint.differentiation.memory.structural import roles_of
from adjoint.ir.join import is_attribute_of_numbers, reads_metadata, type_of_atom
from adjoint.ir.walk import statements_in
from adjoint.rules.kinds import General
from adjoint.rules.registry import is_defined, rule_for
from adjoint.runtime import display, tangents

if TYPE_CHECKING:
    from adjoint.differentiation.reachability import Dependence

OUT_OF_EXCEPTIONS = ("put what varies into a variable or a list before raising, and read it from there",)
_OF_RECORDS = ("keep an array for each field, in a dict or a dataclass",)


_COPIED = "hand it a copy that counts as a constant: np.array(ad.stop_gradient(x))"


def problems_of(dependence: Dependence, function: ir.Function, wrt: Sequence[int]) -> list[Diagnostic]:
    """What cannot be differentiated in a function; of what may be a consequence only the cause."""
    found = [*_opaque_problems(dependence), *_setting_problems(dependence)]
    found += _other_names_of_memory(dependence, function)
    found += _text_problems(dependence, function, wrt)
    found += _memory_problems(dependence, bool(found))
    found += key_problems(function, dependence)
    found = found or _kept_pullbacks(dependence, function)
    return found or _problems_of_written_objects(dependence, function, wrt)


def without_forward(dependence: Dependence, function: ir.Function) -> list[Diagnostic]:
    """Calls of functions that declare a reverse derivative only."""
    found = []
    for statement in statements_in(function.body):
        if not isinstance(statement, ir.Call):
            continue
        rule = rule_for(statement.callee)
        if isinstance(rule, General) and rule.jvp is None and any(map(dependence.active, statement.targets)):
            label = f"{name_of(statement)} declares a reverse derivative only, and forward mode is asked for here"
            found.append(diagnostic("AD0204", statement.span, label, name=name_of(statement)[1:-1]))
    return found


def _kept_pullbacks(dependence: Dependence, function: ir.Function) -> list[Diagnostic]:
    """Pullbacks of function values that lie in a list before they are called: what they depend on is not told."""
    calls = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Call)]
    made = [call for call in calls if isinstance(call.callee, ir.Applied) or _is_with_pullback(call.callee)]
    if not any(any(map(dependence.varies, call.args[1:])) for call in made):
        return []
    useful = _useful_calls(dependence, function, lambda call: _is_pulled_back(call.callee))
    return [_needed_of_opaque(call, "AD0201", name_of(call)) for call in useful]


def _is_with_pullback(callee: Any) -> bool:
    return _is_of_function_values(callee) and callee.__name__ == "with_pullback"


def _is_pulled_back(callee: Any) -> bool:
    return _is_of_function_values(callee) and callee.__name__ == "pulled_back"


def _setting_problems(dependence: Dependence) -> list[Diagnostic]:
    return [
        _setting_problem(call, name, value)
        for call, name, value in dependence.settings
        if dependence.varies(value) and any(map(dependence.active, call.targets))
    ]


def _opaque_problems(dependence: Dependence) -> list[Diagnostic]:
    calls = [
        (call, code, args)
        for call, code in dependence.opaque
        if any(map(dependence.varies, args := (*call.args, *(value for _, value in call.kwargs))))
    ]
    # What is done with the result of an opaque function is a consequence.
    first = [
        (call, code, args)
        for call, code, args in calls
        if any(dependence.varies(arg) and type_of_atom(arg) != ir.Opaque() for arg in args[len(keeper_in(call)) :])
    ]
    problems = (_opaque_problem(dependence, call, code, args) for call, code, args in first or calls)
    return [problem for problem in problems if problem is not None]


def _opaque_problem(dependence: Dependence, call: ir.Call, code: str, args: tuple[ir.Atom, ...]) -> Diagnostic | None:
    """What is wrong with a call of what is not looked into, or has no derivative, and is handed what varies."""
    name = name_of(call)
    if any(map(dependence.active, call.targets)):
        return _needed_of_opaque(call, code, name)
    if code == "AD0201" and may_write_anything(call) and any(_lends_active(dependence, arg) for arg in args):
        label = f"{name} is handed memory that varies, and may write it"
        return diagnostic("AD0303", call.span, label, helps=(_COPIED,))
    if any(map(dependence.active, keeper_in(call))):
        label = f"{name} belongs to an object that is not looked into, and may store what it is handed"
        label = "what is stored here varies" if name == "'__setitem__'" else label
        return diagnostic("AD0307", call.span, label)
    if any(map(dependence.active, may_keep_in(call))):
        label = f"{name} is handed an object that is not looked into, and may store there what it is handed"
        return diagnostic("AD0307", call.span, label)
    return None


def _lends_active(dependence: Dependence, arg: ir.Atom) -> bool:
    return lends_memory(arg) and dependence.active(arg)


def _needed_of_opaque(call: ir.Call, code: str, name: str) -> Diagnostic:
    """The derivative of the result is needed."""
    if call.callee is display.make_set or any(_called(call) is cls for cls in (set, frozenset)):
        return diagnostic("AD0307", call.span, "what varies is put into a set here")
    if isinstance(call.callee, type) and issubclass(call.callee, BaseException):
        label = "the exception carries what varies, and is looked into where it is handled"
        return diagnostic("AD0307", call.span, label, helps=OUT_OF_EXCEPTIONS)
    told = of_other_class(call)
    if told is not None:
        return told
    label = f"{name} has no derivative" if code == "AD0204" else f"the body of {name} is not visible here"
    if "cython" in _name_of_class_called(call) and code == "AD0201":
        label = f"{name} is a function of Cython, of which there is machine code only"
    if _is_of_function_values(call.callee):
        label = "the pullback of a function that is known only at run time is not looked into"
    if is_defined(call.callee):
        code, label = "AD0204", f"{name} has no derivative with these arguments"
    helps = _ways_out(call) if code == "AD0201" else None
    drawn = _about_what_is_drawn(call)
    if drawn is not None:
        label, helps = f"{name} draws at random, and a parameter of it varies", drawn
    return diagnostic(code, call.span, label, helps=helps)


def _other_names_of_memory(dependence: Dependence, function: ir.Function) -> list[Diagnostic]:
    """Attributes of arrays, such as ``base``, by which their numbers are reached from elsewhere."""
    return [
        diagnostic(
            "AD0303",
            load.span,
            f"{load.key.name!r} gives the memory of an array that varies another name",
            helps=("use the array itself",),
        )
        for load in statements_in(function.body)
        if isinstance(load, ir.Load) and isinstance(load.key, ir.Attribute)
        if is_attribute_of_numbers(load) and not reads_metadata(load) and dependence.active(load.target)
    ]


def _text_problems(dependence: Dependence, function: ir.Function, wrt: Sequence[int]) -> list[Diagnostic]:
    """Numbers that are written as text and read again lose their derivative on the way."""
    readers = _useful_calls(dependence, function, _reads_text)
    if not readers:
        return []
    varied = varying(function.body, [function.params[place] for place in wrt], by_choice=False)
    return [_back_from_text(call) for call in readers if any(arg in varied for arg in call.args if holds_text(arg))]


def _problems_of_written_objects(dependence: Dependence, function: ir.Function, wrt: Sequence[int]) -> list[Diagnostic]:
    """The same, where the text was written to an object in between; of several places the first."""
    useful = _useful_calls(dependence, function, lambda call: any(map(_may_be_text, call.args)))
    if not useful:
        return []
    varied = varying(function.body, [function.params[place] for place in wrt], by_choice=False)
    told = tainted_objects(function.body, varied)
    return [_back_from_text(call) for call in useful if reads_tainted(call, told)][:1]


def _useful_calls(dependence: Dependence, function: ir.Function, which: Callable[[ir.Call], bool]) -> list[ir.Call]:
    calls = (statement for statement in statements_in(function.body) if isinstance(statement, ir.Call))
    return [call for call in calls if which(call) and _is_useful(dependence, call)]


def _is_useful(dependence: Dependence, call: ir.Call) -> bool:
    return any(node in dependence.useful for target in call.targets for node in dependence.nodes(target))


def _lends(dependence: Dependence, atom: ir.Atom) -> bool:
    return has_slots(type_of_atom(atom)) and dependence.active(atom)


def _memory_problems(dependence: Dependence, opaque: bool) -> list[Diagnostic]:
    found = []
    records = {load.target for load in dependence.from_records}
    for store in dependence.stores:
        if not dependence.varies(store.value):
            continue
        base = type_of_atom(store.base)
        if isinstance(store.base, ir.Const):
            found.append(diagnostic("AD0302", store.span, "this memory is not an argument of the function"))
        elif names_field(store.base, store.key):
            label = "what is stored here, into an array of records, varies"
            found.append(diagnostic("AD0307", store.span, label, helps=_OF_RECORDS))
        elif is_of_others(store.base) or store.base in records:
            label = "what is stored here, into an array of records or objects, varies"
            found.append(diagnostic("AD0307", store.span, label, helps=_OF_RECORDS))
        elif isinstance(base, ir.Array):
            label = f"a float is stored into an array of {base.dtype}, which cuts it off"
            found.append(diagnostic("AD0408", store.span, label))
        elif not (opaque and isinstance(base, ir.Opaque) and dependence.active(store.base)):
            found.append(diagnostic("AD0307", store.span, "what is stored here varies"))
    found = found or _fields_of_records(dependence)
    found += [
        diagnostic("AD0302", load.span, "what is read here is written to later")
        for load in dependence.foreign
        if dependence.active(load.target) and not dependence.varies(load.base)
    ]
    found += [
        diagnostic("AD0303", call.span, f"{name_of(call)} writes memory that varies")
        for call in dependence.writers
        if any(_lends(dependence, arg) for arg in call.args)
    ]
    found += [
        diagnostic("AD0305", loop.span, "what is drawn here varies")
        for loop, index in dependence.draws
        if dependence.active(index) and not opaque
    ]
    return found


def _fields_of_records(dependence: Dependence) -> list[Diagnostic]:
    """Fields of an array of records in which something varies, as they are read."""
    label = "a field of an array of records is read here, and what lies in it varies"
    return [
        diagnostic("AD0307", load.span, label, helps=_OF_RECORDS)
        for load in dependence.from_records
        if names_field(load.base, load.key) and dependence.active(load.target)
    ]


def _setting_problem(call: ir.Call, name: str, value: ir.Atom) -> Diagnostic:
    """An argument varies that must not."""
    hint = f"'{value.hint}'" if isinstance(value, ir.Var) else "this"
    if isinstance(call.callee, ir.Applied):
        label = f"{hint} varies, and the parameter is marked NoDerivative"
        return diagnostic("AD0204", call.span, label, helps=_UNMARKED, name=name_of(call)[1:-1])
    if _is_of_function_values(call.callee):
        is_given = call.callee.__name__ == "given"
        said = "and the parameter is marked NoDerivative" if is_given else "and is captured by the function value"
        helps = _UNMARKED if is_given else _INSTEAD
        return diagnostic("AD0204", call.span, f"{hint} varies, {said}", helps=helps)
    return diagnostic("AD0204", call.span, f"{name} varies", name=name_of(call)[1:-1])


_UNMARKED = (
    "let the type of the function say that it varies: without NoDerivative there",
    "or hand it ad.stop_gradient(x), if it shall count as a constant",
)


_INSTEAD = ("make it of what does not vary, and hand over what varies as an argument",)


def _is_of_function_values(callee: Any) -> bool:
    return getattr(callee, "__module__", None) == "adjoint.runtime.functions"


def _back_from_text(call: ir.Call) -> Diagnostic:
    helps = ("use the number itself, from before it was made a text",)
    label = "a number that varies comes back from text here"
    return diagnostic("AD0204", call.span, label, helps=helps, name=name_of(call)[1:-1])


def _may_be_text(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Opaque) and atom.type.cls in (None, str, bytes)


def _reads_text(call: ir.Call) -> bool:
    """Whether a call may make numbers of text."""
    if call.callee is tangents.shadow_like:
        return False
    return any(map(holds_text, call.args)) and roles_of(call, is_container) is None


_DRAWN = """
    poisson binomial negative_binomial multinomial geometric hypergeometric logseries zipf choice integers randint
"""


_PATHLESS = """
    dirichlet f noncentral_chisquare noncentral_f power triangular vonmises wald multivariate_normal standard_cauchy rvs
"""


_UNKNOWN_PATH = "transform numbers that do not depend on it: rng.standard_normal(n), rng.uniform(size=n)"


_UNSHIFTED = "numbers drawn do not vary smoothly with it; if it shall count as a constant: ad.stop_gradient(x)"


def _ways_out(call: ir.Call) -> tuple[str, ...] | None:
    """What to do about a call of what is not visible, by the name that the user gave it."""
    callee, name = _called(call), None if call.span is None else called_text(call.span)
    is_of_result = call.span is not None and is_of_a_result(call.span)
    if name is None and not is_of_result:
        return None
    is_lent = may_write_anything(call) and any(isinstance(type_of_atom(arg), ir.Array) for arg in call.args)
    constant = f"or {_COPIED}" if is_lent else OR_CONSTANT
    if name is None:
        return (OF_A_RESULT, constant)
    if isinstance(callee, type):
        return ("write out what it computes, or declare the derivative of a function that calls it", constant)
    return (f"declare its derivative: @ad.derivative_of({name})", constant)


def _about_what_is_drawn(call: ir.Call) -> tuple[str, ...] | None:
    """What is to be done where numbers are drawn at random; None where none are."""
    text = None if call.span is None else called_text(call.span)
    method = name_of(call)[1:-1] if text is None else text.rpartition(".")[2]
    if not _draws(call):
        return None
    if method in _DRAWN.split():
        return (_UNSHIFTED,)
    return (_UNKNOWN_PATH, OR_CONSTANT) if method in _PATHLESS.split() else None


def _draws(call: ir.Call) -> bool:
    """Whether numbers are drawn: by NumPy's own generator, or by a method that was looked up in another one."""
    callee = _called(call)
    if isinstance(callee, ir.Var):
        return callee.type == ir.Opaque(MethodType)
    if getattr(callee, "__name__", "") == "rvs" and type(getattr(callee, "__self__", None)).__module__.startswith(
        "scipy."
    ):
        return True
    return any(getattr(type_of_atom(arg), "cls", None) in _GENERATORS for arg in call.args)


_GENERATORS = (np.random.Generator, np.random.RandomState)


def _called(call: ir.Call) -> Any:
    """What is called: the function, or the variable that holds it."""
    callee = call.callee
    is_handed_over = callee is display.draw or isinstance(callee, ir.Applied)
    if is_handed_over or (getattr(callee, "__name__", "") in ("call", "__call__") and call.args):
        return call.args[0].value if isinstance(call.args[0], ir.Const) else call.args[0]
    return callee


def _name_of_class_called(call: ir.Call) -> str:
    callee = _called(call)
    cls = callee.type.cls if isinstance(callee, ir.Var) and isinstance(callee.type, ir.Opaque) else type(callee)
    return getattr(cls, "__name__", "")


def name_of(call: ir.Call) -> str:
    callee = _called(call)
    if isinstance(callee, ir.Var):
        return f"'{callee.hint}'"
    if isinstance(callee, (ir.Definition, ir.Derived)) and callee.function is not None:
        return f"'{callee.function.name}'"
    return f"'{getattr(callee, '__name__', repr(callee))}'"


def names_field(base: ir.Atom, key: ir.Key | None) -> bool:
    """Whether a field of all records in an array is meant."""
    items = key.items if isinstance(key, ir.Subscript) else ()
    is_array = isinstance(type_of_atom(base), ir.Array) or is_of_others(base)
    return is_array and any(isinstance(item, ir.Const) and isinstance(item.value, str) for item in items)


def is_of_others(base: ir.Atom) -> bool:
    """Whether something is an array of what is no number."""
    type_ = type_of_atom(base)
    return isinstance(type_, ir.Opaque) and type_.cls is np.ndarray


# Classes of numbers and of arrays whose objects carry no derivative: what is said where one is made of what varies


_NUMBERS: dict[type, str] = {
    Decimal: "compute with floats, and round where the value is used: float(x)",
    Fraction: "compute with floats: p / q for Fraction(p, q)",
    timedelta: "compute with seconds, as a float",
    date: "compute with seconds, as a float",
    time: "compute with seconds, as a float",
}
_ARRAYS: tuple[tuple[type, str], ...] = (
    (np.matrix, "keep it an array: x @ y is the product that x * y is of matrices, np.block that of np.bmat"),
    (np.ma.MaskedArray, "keep the mask apart: np.where(mask, 0.0, x), np.sum(x[~mask])"),
    (np.recarray, "keep an array for each field, in a dict or a dataclass"),
    (np.ndarray, "compute with the array itself, np.asarray(x), and keep what the class adds apart"),
)


def of_other_class(call: ir.Call) -> Diagnostic | None:
    """The refusal of a call that makes, of what varies, a number or an array of a class that carries no derivative."""
    cls = call.callee if isinstance(call.callee, type) else _class_of_view(call)
    if cls is None:
        return None
    if cls in _NUMBERS:
        label = f"what varies becomes an object of the class {cls.__name__!r}, which carries no derivative"
        return diagnostic("AD0201", call.span, label, helps=(_NUMBERS[cls], OR_CONSTANT))
    if not issubclass(cls, np.ndarray):
        return None
    if cls is np.ndarray:
        label, helps = "'view' takes the memory of an array that varies for something else", _CONVERTED
        return diagnostic("AD0303", call.span, label, helps=helps)
    label = f"an array that varies becomes one of the class {cls.__name__!r}, whose operators mean something else"
    help_ = next(text for base, text in _ARRAYS if issubclass(cls, base))
    return diagnostic("AD0201", call.span, label, helps=(help_, OR_CONSTANT))


OR_CONSTANT = "or hand it ad.stop_gradient(x), if the result shall count as a constant"
_CONVERTED = ("convert it: a.astype(dtype)",)


def _class_of_view(call: ir.Call) -> Any:
    """The class that ``a.view(...)`` asks for; that of arrays where it asks for a dtype."""
    if call.callee is not np.ndarray.view:
        return None
    asked = [atom.value for atom in (*call.args[1:], *dict(call.kwargs).values()) if isinstance(atom, ir.Const)]
    classes = [each for each in asked if isinstance(each, type) and issubclass(each, np.ndarray)]
    return classes[-1] if classes else np.ndarray
