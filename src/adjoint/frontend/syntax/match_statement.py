"""``match``: patterns become conditions and bindings."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.data import making
from adjoint.frontend.data.containers import subscript
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.values import RangeValue, Record, Ref, SliceValue, TupleValue, Union, Value
from adjoint.frontend.iterators.items import known_items
from adjoint.frontend.library import python_functions
from adjoint.frontend.objects.attributes import attribute
from adjoint.frontend.objects.classes import (
    class_of,
    class_property,
    class_seen,
    is_kind_of,
    note_owner,
    note_registered,
    seen,
)
from adjoint.frontend.syntax import assign
from adjoint.frontend.syntax.conditions import truth, truth_of
from adjoint.frontend.syntax.expressions import compare
from adjoint.frontend.syntax.operations import apply_operator
from adjoint.types.structure import DICTS

Then = Callable[[], Value]


def run_match(lo: Lowerer, node: ast.Match) -> None:
    subject = lo.evaluate(node.subject)
    _cases(lo, subject, list(node.cases), node)


def _cases(lo: Lowerer, subject: Value, cases: Sequence[ast.match_case], node: ast.Match) -> Value:
    """Tries one case; where it does not fit, the rest."""
    if not cases:
        return ir.UNDEFINED
    case, rest = cases[0], cases[1:]
    if isinstance(subject, Union):

        def each(option: Value) -> Value:
            if isinstance(node.subject, ast.Name):
                assign.assign_name(lo, node.subject.id, option, node)
            return _cases(lo, option, cases, node)

        return on_each_option(lo, subject, each, node)

    def body() -> Value:
        lo.run(case.body)
        return ir.UNDEFINED

    def otherwise() -> Value:
        return _cases(lo, subject, rest, node)

    conditions: list[Callable[[], Any]] = []
    bindings: list[tuple[str, Value]] = []
    possible = _pattern(lo, case.pattern, subject, conditions, bindings)
    if not possible:
        return otherwise()
    if case.guard is not None:
        guard = case.guard

        def guarded() -> Any:
            _bind(lo, bindings)
            return truth(lo, guard)[0]

        conditions.append(guarded)
        return _chain(lo, conditions, body, otherwise, case.pattern)

    def bound() -> Value:
        _bind(lo, bindings)
        return body()

    return _chain(lo, conditions, bound, otherwise, case.pattern)


def _bind(lo: Lowerer, bindings: list[tuple[str, Value]]) -> None:
    for name, value in bindings:
        lo.rename(value, name)
        assign.assign_name(lo, name, value, None)


def _chain(lo: Lowerer, conditions: list[Callable[[], Any]], then: Then, otherwise: Then, node: ast.AST) -> Value:
    """``then`` where all conditions hold, tested in order."""
    if not conditions:
        return then()
    known = [condition() for condition in conditions[:1]]
    cond = known[0]
    if isinstance(cond, ir.Const):
        return _chain(lo, conditions[1:], then, otherwise, node) if cond.value else otherwise()
    for condition in conditions[1:]:
        other = _lazily(lo, cond, condition, node)
        cond = other
        if isinstance(cond, ir.Const) and not cond.value:
            return otherwise()
    return lo.branch(cond, then, otherwise, node)


def _lazily(lo: Lowerer, cond: Any, condition: Callable[[], Any], node: ast.AST) -> Any:
    return lo.branch(cond, condition, lambda: ir.Const(False), node)


def _pattern(
    lo: Lowerer,
    pattern: ast.pattern,
    subject: Value,
    conditions: list[Callable[[], Any]],
    bindings: list[tuple[str, Value]],
) -> bool:
    """Collects what must hold and what is bound; False where the pattern cannot fit."""
    match pattern:
        case ast.MatchValue(value=expression):
            wanted = lo.evaluate(expression)
            conditions.append(
                lambda: truth_of(lo, apply_operator(lo, operator.eq, [subject, wanted], pattern), pattern)
            )
            return True
        case ast.MatchSingleton(value=constant):
            conditions.append(
                lambda: truth_of(lo, compare(lo, ast.Is(), subject, ir.Const(constant), pattern), pattern)
            )
            return True
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None and not _pattern(lo, inner, subject, conditions, bindings):
                return False
            if name is not None:
                bindings.append((name, subject))
            return True
        case ast.MatchOr(patterns=options):
            return _alternatives(lo, options, subject, conditions, bindings, pattern)
        case ast.MatchSequence(patterns=parts):
            return _sequence(lo, parts, subject, conditions, bindings, pattern)
        case ast.MatchClass():
            return _class(lo, pattern, subject, conditions, bindings)
        case ast.MatchMapping(keys=keys, patterns=parts, rest=rest):
            record = lo.store.get(subject) if isinstance(subject, Ref) else None
            if _is_no_mapping(subject, record):
                return False
            named = [lo.evaluate(key) for key in keys]
            if isinstance(subject, ir.Var) and isinstance(subject.type, ir.Dict):
                return _mapping_at_run_time(lo, pattern, named, subject, conditions, bindings)
            if not isinstance(record, Record) or record.cls not in DICTS:
                raise lo.problem("AD0301", pattern, "a mapping pattern needs a dict")
            for wanted, part in zip(named, parts, strict=True):
                value = record.get(wanted.value) if isinstance(wanted, ir.Const) else None
                if value is None or not _pattern(lo, part, value, conditions, bindings):
                    return False
            if rest is not None:
                others = [(key, value) for key, value in record.parts if ir.Const(key) not in named]
                bindings.append((rest, making.new_dict(lo, others, pattern)))
            return True
    raise lo.problem("AD0301", pattern, "this pattern is not supported")


def _is_no_mapping(subject: Value, record: object) -> bool:
    """Whether no mapping pattern can match."""
    if isinstance(record, Record):
        return not issubclass(seen(record.cls), Mapping)
    if isinstance(subject, ir.Const):
        return not isinstance(subject.value, Mapping)
    is_other = isinstance(subject, ir.Var) and isinstance(
        subject.type, (ir.Array, ir.List, ir.Number, ir.Scalar, ir.Tuple)
    )
    return is_other or isinstance(subject, TupleValue)


def _alternatives(
    lo: Lowerer,
    options: Sequence[ast.pattern],
    subject: Value,
    conditions: list[Callable[[], Any]],
    bindings: list[tuple[str, Value]],
    node: ast.pattern,
) -> bool:
    possible: list[list[Callable[[], Any]]] = []
    for option in options:
        own: list[Callable[[], Any]] = []
        names: list[tuple[str, Value]] = []
        if not _pattern(lo, option, subject, own, names):
            continue
        if not own:
            bindings.extend(names)
            return True
        if names:
            raise lo.problem("AD0301", node, "an alternative that binds names")
        possible.append(own)
    if not possible:
        return False

    def any_holds() -> Any:
        def from_option(index: int) -> Any:
            if index == len(possible):
                return ir.Const(False)
            return _chain(lo, possible[index], lambda: ir.Const(True), lambda: from_option(index + 1), node)

        return from_option(0)

    conditions.append(any_holds)
    return True


def _sequence(
    lo: Lowerer,
    parts: Sequence[ast.pattern],
    subject: Value,
    conditions: list[Callable[[], Any]],
    bindings: list[tuple[str, Value]],
    node: ast.pattern,
) -> bool:
    items = list(subject.items) if isinstance(subject, TupleValue) else making.list_items(lo, subject)
    if items is None and isinstance(subject, ir.Var) and isinstance(subject.type, ir.Tuple):
        items = known_items(lo, subject, node)
    if items is None:
        if isinstance(subject, ir.Var) and isinstance(subject.type, ir.List):
            return _sequence_at_run_time(lo, parts, subject, conditions, bindings, node)
        if not _is_sequence(lo, subject, node):
            return False
        return _sequence(lo, parts, lo.call(ir.Const(list), [subject], {}, node), conditions, bindings, node)
    stars = [place for place, part in enumerate(parts) if isinstance(part, ast.MatchStar)]
    if stars:
        before, after = stars[0], len(parts) - stars[0] - 1
        if len(items) < before + after:
            return False
        star = parts[stars[0]]
        assert isinstance(star, ast.MatchStar)
        if star.name is not None:
            middle = making.new_list(lo, list(items[before : len(items) - after]), node)
            bindings.append((star.name, middle))
        items = [*items[:before], *items[len(items) - after :]]
        parts = [*parts[:before], *parts[before + 1 :]]
    if len(items) != len(parts):
        return False
    return all(_pattern(lo, part, item, conditions, bindings) for part, item in zip(parts, items, strict=True))


def _is_sequence(lo: Lowerer, subject: Value, node: ast.pattern) -> bool:
    """Whether a value is a sequence of the language: an array and a text are none."""
    if isinstance(subject, RangeValue):
        return True
    cls = class_seen(lo, subject)
    if cls is None and isinstance(subject, ir.Var) and not isinstance(subject.type, ir.Number):
        helps = ("make a list of it: match [item for item in items]",)
        raise lo.problem("AD0301", node, "whether this is a sequence is not known", helps=helps)
    return cls is not None and issubclass(cls, Sequence) and not issubclass(cls, (str, bytes, bytearray))


def _sequence_at_run_time(
    lo: Lowerer,
    parts: Sequence[ast.pattern],
    subject: ir.Var,
    conditions: list[Callable[[], Any]],
    bindings: list[tuple[str, Value]],
    node: ast.pattern,
) -> bool:
    """A list whose length is known at run time only: its items are read where it has as many as the pattern."""
    star = next((place for place, part in enumerate(parts) if isinstance(part, ast.MatchStar)), None)
    count = len(parts) if star is None else len(parts) - 1
    length = lo.open.call(len, subject)
    fits = lo.open.call(operator.eq if star is None else operator.ge, length, ir.Const(count))
    conditions.append(lambda: fits)
    for place, part in enumerate(parts):
        if isinstance(part, ast.MatchStar):
            if part.name is not None:
                stop = lo.open.call(operator.sub, length, ir.Const(count - place))
                whole = SliceValue(ir.Const(place), stop, ir.Const(None))
                bindings.append((part.name, _where(lo, fits, subject, whole, node)))
            continue
        index = place if star is None or place < star else place - len(parts)
        if not _pattern(lo, part, _where(lo, fits, subject, ir.Const(index), node), conditions, bindings):
            return False
    return True


def _mapping_at_run_time(
    lo: Lowerer,
    pattern: ast.MatchMapping,
    named: Sequence[Value],
    subject: ir.Var,
    conditions: list[Callable[[], Any]],
    bindings: list[tuple[str, Value]],
) -> bool:
    """A dict whose keys are known at run time only: what lies there is read where all keys of the pattern are."""

    def is_there(key: Value) -> Then:
        return lambda: truth_of(lo, apply_operator(lo, operator.contains, [subject, key], pattern), pattern)

    fits: ir.Atom = ir.Const(True)
    for key in named:
        found = lo.branch(fits, is_there(key), lambda: ir.Const(False), pattern)
        assert isinstance(found, (ir.Var, ir.Const))
        fits = found
    conditions.append(lambda: fits)
    for key, part in zip(named, pattern.patterns, strict=True):
        if not _pattern(lo, part, _where(lo, fits, subject, key, pattern), conditions, bindings):
            return False
    if pattern.rest is not None:
        keys = TupleValue(tuple(named))
        others = python_functions.call(lo, python_functions.without_keys, [subject, keys], pattern)
        bindings.append((pattern.rest, others))
    return True


def _where(lo: Lowerer, fits: ir.Atom, subject: ir.Var, index: Value, node: ast.pattern) -> Value:
    """An item, or a part, of what is long enough for it, or has the key; nobody reads it where it has not."""
    return lo.branch(fits, lambda: subscript(lo, subject, index, node), lambda: ir.UNDEFINED, node)


def _class(
    lo: Lowerer,
    pattern: ast.MatchClass,
    subject: Value,
    conditions: list[Callable[[], Any]],
    bindings: list[tuple[str, Value]],
) -> bool:
    wanted = lo.evaluate(pattern.cls)
    cls = class_of(lo, subject)
    if not isinstance(wanted, ir.Const) or cls is None:
        raise lo.problem("AD0301", pattern, "the class of the subject is not known")
    note_owner(lo, subject, lambda number: issubclass(number, wanted.value))
    note_registered(lo, cls, wanted.value)
    is_one = is_kind_of(cls, wanted.value)
    if is_one is None and isinstance(told := class_property(lo, subject, pattern), ir.Const):
        is_one = issubclass(told.value, wanted.value)
    if is_one is None:
        raise lo.problem("AD0301", pattern, "the class of the subject is not known")
    if not is_one:
        return False
    names = getattr(wanted.value, "__match_args__", ())
    if pattern.patterns and wanted.value in (bool, bytes, dict, float, int, list, str, tuple):
        return _pattern(lo, pattern.patterns[0], subject, conditions, bindings)
    pairs = [*zip(names, pattern.patterns, strict=False), *zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)]
    return all(_pattern(lo, part, attribute(lo, subject, name, pattern), conditions, bindings) for name, part in pairs)
