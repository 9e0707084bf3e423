"""New specialisations: a call is lowered, transformed, printed and loaded."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.draws import draws
from adjoint.codegen.python import emit
from adjoint.codegen.texts import MOST_LEVELS, Emitted, load, too_many_levels
from adjoint.diagnostics import Diagnostic, DifferentiationError, diagnostic
from adjoint.diagnostics.errors import warn
from adjoint.diagnostics.request import request_note
from adjoint.differentiation.finish import finish
from adjoint.differentiation.zeros.called_supports import SupportsLost
from adjoint.dispatch import targets
from adjoint.dispatch.aliasing.opaque_calls import unseen_calls_of
from adjoint.dispatch.aliasing.opaque_containers import holders_of
from adjoint.dispatch.keys import Seen, key_of
from adjoint.dispatch.options import Native, in_background, is_strict, options_of
from adjoint.dispatch.specialize import Specialization, lock
from adjoint.dispatch.speculative import Speculative
from adjoint.frontend.calls.levels import as_deep_as_needed
from adjoint.frontend.data.outside.captured_by_rules import noting
from adjoint.frontend.entry.captured import differentiated
from adjoint.frontend.entry.restarts import Entry, with_definition
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.blocks import Open
from adjoint.gc_pause import Compilation
from adjoint.ir.walk import statements_in
from adjoint.passes import Context
from adjoint.pipeline import EXPAND, PLAIN, SPECULATE, SPECULATING, TOUCH_UP, run
from adjoint.progress import differentiating
from adjoint.records import replace
from adjoint.runtime.freed_memory import keep_freed_memory
from adjoint.runtime.objects import put_attribute, put_item
from adjoint.sources.users_places import at_users_places
from adjoint.target import ALL_INLINED, PYTHON, Target
from adjoint.types.array_libraries import Library


def _too_deep(failure: RecursionError) -> Diagnostic:
    """What to do where the compiler went too deep: into functions, or into branches inside one another."""
    depth: Counter[str] = Counter()
    blocks: set[int] = set()
    trace = failure.__traceback__
    while trace is not None:
        depth[trace.tb_frame.f_code.co_name] += 1
        blocks.update(id(held) for held in trace.tb_frame.f_locals.values() if isinstance(held, ir.Block))
        trace = trace.tb_next
    in_branches = max(depth[Lowerer.branch.__name__], depth[Open.seal.__name__], len(blocks))
    return too_many_levels() if in_branches > MOST_LEVELS else diagnostic("AD0902", None)


_FORWARD = ("jvp", "jvps")
"""The operators that need no cotangent."""


def compiled(
    lower: Callable[[Target], Entry], operator: Any, function: Any, native: Native, seen: Seen
) -> tuple[Specialization, tuple[Diagnostic, ...]]:
    """A new specialisation; whatever is in its way is told together with who asked for it."""
    try:
        return as_deep_as_needed(
            lambda: _made(lower, operator, function, native, seen), forward=operator[0] in _FORWARD
        )
    except DifferentiationError as refusal:
        problems = refusal.diagnostics
        cause: BaseException | None = refusal.__cause__
    except RecursionError as failure:
        problems = (_too_deep(failure),)
        cause = failure
    except Exception as failure:
        if native and not is_strict(native):
            return _interpreted(lower, operator, function, failure, seen)
        problems = (diagnostic("AD0901", None, f"{type(failure).__name__}: {failure}".splitlines()[0]),)
        cause = failure
    note = request_note(operator[0], function)
    notes = () if note is None else (note,)
    raise DifferentiationError(*(problem.with_notes(*notes) for problem in at_users_places(problems))) from cause


def _made(
    lower: Callable[[Target], Entry], operator: Any, function: Any, native: Native, seen: Seen
) -> tuple[Specialization, tuple[Diagnostic, ...]]:
    found: Specialization | None
    with noting() as captured_by_rules:
        target = replace(targets.target_of(function, native), recomputes=operator[0] in SPECULATING)
        entry = lower(target)
        target = replace(target, recomputes=target.recomputes and entry.recomputes)
        try:
            try:
                found = _with_calls(lower, entry, function, native, seen, target)
            except DifferentiationError as refusal:
                if not entry.kept and not isinstance(refusal, SupportsLost):
                    raise
                target = replace(target, inlined=ALL_INLINED)
                entry = lower(target)
                found = compile_entry(entry, function, native, seen, target, speculates=target.recomputes)
        except DifferentiationError as refusal:
            problems = (with_definition(entry.definitions, entry.unseen, problem) for problem in refusal.diagnostics)
            raise DifferentiationError(*problems) from refusal.__cause__
    found.guards += tuple(captured_by_rules.values())
    return found, entry.warnings


def _with_calls(
    lower: Callable[[Target], Entry], entry: Entry, function: Any, native: Native, seen: Seen, target: Target
) -> Specialization:
    """A derivative in which functions may stay functions.

    Across calls it is not known what a selection left out. Where that matters a result is not a number, and is computed
    again with functions that tell; where it cannot be computed again, they tell from the start.
    """
    found = compile_entry(entry, function, native, seen, target, speculates=target.recomputes)
    if not target.recomputes or not (entry.kept or _calls_functions(found.function)):
        return found
    from adjoint.differentiation.zeros.speculation import has_singular_slopes, is_noticed  # lazy

    speculates, runs_once = isinstance(found.call, Speculative), is_noticed(found.function)
    if (runs_once or not entry.kept) and not speculates and not has_singular_slopes(found.function):
        return found
    if runs_once:
        target = replace(target, recomputes=False)  # a derivative of a derivative was made while it was lowered
        return compile_entry(lower(target), function, native, seen, target)
    before = found.call
    quick = before.quick if isinstance(before, Speculative) else before
    notes_errors = isinstance(before, Speculative) and before.notes_errors
    telling = functools.partial(_telling, replace(found), lower, function, native, target)
    found.call = _speculative(quick, telling, found.function, notes_errors=notes_errors)
    return found


def _speculative(
    quick: Any, make: Callable[..., Specialization], function: ir.Function, *, notes_errors: bool
) -> Speculative:
    from adjoint.differentiation.zeros.speculation import prints  # lazy

    silent = functools.partial(make, silent=True) if prints(function) else None
    return Speculative(quick, make, silent, notes_errors=notes_errors)


def _calls_functions(function: ir.Function) -> bool:
    return any(
        type(each) is ir.Call and isinstance(each.callee, ir.Definition) for each in statements_in(function.body)
    )


def _telling(
    calling: Specialization,
    lower: Callable[[Target], Entry],
    function: Any,
    native: Native,
    target: Target,
    *,
    silent: bool = False,
) -> Specialization:
    """What stands for a derivative with calls where it matters what a selection left out; it takes the same inputs."""
    with lock, Compilation(), differentiating(function):
        target = replace(target, recomputes=False)
        try:
            other = compile_entry(lower(target), function, native, None, target, silent=silent)
        except DifferentiationError:
            target = replace(target, inlined=ALL_INLINED)
            other = compile_entry(lower(target), function, native, None, target, silent=silent)
        before = [item.path for item in calling.captured]
        root, first = differentiated(function), len(calling.function.params) - len(before)

        def call(*inputs: Any) -> Any:
            own = dict(zip(before, inputs[first:], strict=True))
            captured = [own[item.path] if item.path in own else item.read(root) for item in other.captured]
            return other.call(*inputs[:first], *captured)

        found = _standing_in(calling, other.call, other.function, other.emitted)
        if before == [item.path for item in other.captured]:
            return found
        return replace(found, captured=other.captured, captured_keys=other.captured_keys, in_place_of=call)


def _interpreted(
    lower: Callable[[Target], Entry], operator: Any, function: Any, failure: Exception, seen: Seen
) -> tuple[Specialization, tuple[Diagnostic, ...]]:
    """What stands for a specialisation for machine code that a fault of the compiler prevents."""
    from adjoint.native.compile.not_native import NotNative, reason_of_fault  # lazy

    found, warnings = compiled(lower, operator, function, False, seen)
    return found, (*warnings, NotNative(reason_of_fault(failure)).problem)


def compile_entry(
    entry: Entry,
    function: Any,
    native: Native = False,
    seen: Seen | None = None,
    target: Target = PYTHON,
    *,
    speculates: bool = False,
    silent: bool = False,
) -> Specialization:
    """Prints and loads a lowered entry.

    Where it ``speculates``, it runs without supports as long as results are numbers. Where it is ``silent``, what the
    program prints is left out.
    """
    library = entry.library
    if library is not None:
        _refuse_machine_code(library, native)
        target, speculates = replace(target, library=library), False
    context = Context(target)
    whole = run(EXPAND, entry.function, context)
    if silent:
        whole = _without_prints(whole)
    speculates &= entry.adjoint is None
    present = run(SPECULATE, whole, context) if speculates else whole
    quick = run(PLAIN, present, context) if speculates else present
    finished = run(TOUCH_UP, quick, context)
    emitted = emit_for(library, finished)
    adjoint = adjoint_emitted = finished_adjoint = None
    if entry.adjoint is not None:
        finished_adjoint = finish(entry.adjoint, target=target)
        native = _native_halves(finished, finished_adjoint, native)
        adjoint_emitted = emit_for(library, finished_adjoint)
        adjoint = load_for(function, finished_adjoint, adjoint_emitted, native, library)
    differential = differential_emitted = None
    if entry.differential is not None:
        from adjoint.frontend.differentiation.linear_maps import finished as finished_differential_of  # lazy

        finished_differential = finished_differential_of(entry.differential.function, target)
        differential_emitted = emit_for(library, finished_differential)
        differential = load_for(function, finished_differential, differential_emitted, native, library)
    changed = _changed(finished)
    first = len(finished.params) - len(entry.captured)
    changed.update(finished.params[first + place] for place, item in enumerate(entry.captured) if item.is_written)
    written = tuple(
        place
        for place, param in enumerate(finished.params)
        if param in changed or (isinstance(param.type, (ir.Array, ir.List, ir.Dict)) and param.type.storage.written)
    )
    root = differentiated(function)
    seen = dict(seen or {})
    keys = tuple([key_of(item.read(root), seen) for item in entry.captured])
    found = Specialization(
        load_for(function, finished, emitted, native, library),
        finished,
        emitted,
        entry.captured,
        keys,
        entry.guards,
        written,
        entry.argument_guards,
        entry.seeds,
        adjoint,
        adjoint_emitted,
        native=native,
        adjoint_function=finished_adjoint,
        differential=differential,
        differential_emitted=differential_emitted,
        linear=entry.differential,
        component=entry.component,
        checkpoints=entry.checkpoints,
        target=target,
        draws=draws(finished),
        holders=holders_of(finished),
        unseen=unseen_calls_of(finished),
    )
    if quick is not whole:
        with_supports = functools.partial(_with_supports, replace(found), whole, function, target)
        found.call = _speculative(found.call, with_supports, whole, notes_errors=quick is not present)
    return found


def _without_prints(function: ir.Function) -> ir.Function:
    from adjoint.differentiation.zeros.speculation import without_prints  # lazy

    return without_prints(function)


def _with_supports(
    quick: Specialization, whole: ir.Function, function: Any, target: Target, *, silent: bool = False
) -> Specialization:
    """What stands for a derivative without supports where they matter."""
    with lock, Compilation(), differentiating(function):
        if silent:
            whole = _without_prints(whole)
        finished = run(TOUCH_UP, whole, Context(target))
        emitted = emit(finished)
        return _standing_in(quick, load_for(function, finished, emitted, quick.native), finished, emitted)


def _standing_in(
    quick: Specialization, call: Callable[..., Any], function: ir.Function, emitted: Emitted
) -> Specialization:
    """What takes the place of a derivative whose results are not numbers."""
    return replace(quick, call=call, function=function, emitted=emitted, door=None, lanes={}, further=None, ways=None)


def _native_halves(primal: ir.Function, adjoint: ir.Function, native: Native) -> Native:
    """Whether the halves of a derivative are compiled: both or neither, where one relies on what the other keeps."""
    if not native:
        return native
    from adjoint.native.compile.pullbacks import parted  # lazy

    reason = parted(primal, adjoint)
    if reason is None:
        return native
    if is_strict(native):
        raise DifferentiationError(reason.problem)
    warn(reason.problem)
    return False


def _changed(function: ir.Function) -> set[ir.Atom]:
    """What a function writes to, itself or in something that it holds."""
    found: set[ir.Atom] = set()
    holders: dict[ir.Atom, ir.Atom] = {}
    for statement in statements_in(function.body):
        if type(statement) is ir.Call:
            if statement.callee in (put_attribute, put_item):
                found.add(statement.args[0])
        elif isinstance(statement, ir.Load):
            holders[statement.target] = statement.base
            type_ = statement.target.type
            if isinstance(type_, (ir.Array, ir.List, ir.Dict)) and type_.storage.written:
                found.add(statement.target)
        elif isinstance(statement, ir.Store):
            found.add(statement.base)
    for atom in list(found):
        while atom in holders:
            atom = holders[atom]
            found.add(atom)
    return found


def emit_for(library: Library | None, finished: ir.Function) -> Emitted:
    """The text of a finished derivative."""
    return emit(finished, augments=library is None)


def _refuse_machine_code(library: Library, native: Native) -> None:
    if native:
        label = f"machine code takes arrays of NumPy, and these are of {library.name}"
        raise DifferentiationError(diagnostic("AD0601", None, label))


def load_for(
    function: Any, finished: ir.Function, emitted: Emitted | None, native: Native, library: Library | None = None
) -> Callable[..., Any]:
    """A finished derivative of a function as a callable; ``emitted`` is its text, where it was printed."""
    if library is not None:
        from adjoint.codegen.for_library import load_for_library  # lazy

        return load_for_library(emitted or emit_for(library, finished), library)
    if not native:
        emitted = emitted or emit(finished)
        if any(value is np for value in emitted.namespace.values()):
            keep_freed_memory()
        return load(emitted)
    from adjoint.native.backend import NativeFunction  # lazy

    options = options_of(differentiated(function), native)
    target = targets.target_of(function, native)
    return NativeFunction(finished, options, is_strict(native), target, background=in_background(native))
