"""Lowering that starts again whenever it finds out something that it must know from its beginning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.diagnostics import Diagnostic, DifferentiationError, Span, diagnostic
from adjoint.diagnostics.diagnostic import Label
from adjoint.differentiation.zeros.called_supports import SupportsLost
from adjoint.frontend.calls.opaque.library_classes import causes
from adjoint.frontend.data.element_types import are_laid_out_alike, sites_of_objects_at
from adjoint.frontend.data.outside.known_sets import opens_known_sets
from adjoint.frontend.data.outside.scalar_replacement import refused_apart
from adjoint.frontend.entry.captured import Captured, Guard
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.state.attempts import Settings
from adjoint.frontend.interpreter.state.signals import Problem, Restart, TakenInside
from adjoint.ir.checked import checked
from adjoint.ir.walk import statements_in
from adjoint.records import dataclass, field, replace
from adjoint.runtime import display
from adjoint.runtime.objects import Checkpoints
from adjoint.types.array_libraries import Library

if TYPE_CHECKING:
    from adjoint.frontend.differentiation.linear_maps import Differential

MAX_ATTEMPTS = 200
MOST_BEFORE_ANEW = 20_000
"""After how many statements no other way to lower is tried.

What one of them helps took 4,000 at most before it; where none did, refusals came after 34,000 and more, and minutes.
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """A function that stays one, and of how many calls inlining took how many statements."""

    name: str
    calls: int
    statements: int


@dataclass(frozen=True, slots=True)
class Entry:
    """What a call compiles to, before it is printed."""

    function: ir.Function
    captured: tuple[Captured, ...]
    guards: tuple[Guard, ...]
    argument_guards: tuple[tuple[tuple[Any, ...], int], ...] = ()
    adjoint: ir.Function | None = None
    """For a pullback: the second half, a function of the residuals and of the cotangents of the results."""
    seeds: tuple[tuple[Any, ...], ...] = ()
    """For a pullback: where in the structure of the result the leaves lie that take these cotangents."""
    warnings: tuple[Diagnostic, ...] = ()
    definitions: Mapping[Span, Span] = field(default_factory=dict)
    """Where what is called by a name is defined, by the places of the calls."""
    unseen: tuple[str, ...] = ()
    """Why classes and methods of libraries are not looked into."""
    differential: Differential | None = None
    """What takes tangents of the arguments to the tangent of the result, from the same residuals."""
    component: tuple[Any, ...] = ()
    """For an adjoint: the way from the value to the component that the seed is a cotangent of."""
    checkpoints: type[Checkpoints] | None = None
    """For an adjoint that takes checkpoints: their class."""
    kept: tuple[Kept, ...] = ()
    library: Library | None = None
    """The library of the arrays that go in, where it is not NumPy."""
    attempts: int = 1
    """How often lowering was started: again whenever something was found out that it must know from its beginning."""
    went_back: int = 0
    """How often it went back to a statement or a call meanwhile, for what is about what that makes."""
    recomputes: bool = True
    """Whether a result that is not a number may be computed again: not where the program may decide by a derivative."""


def attempt(build: Callable[[Lowerer], Entry], settings: Settings | None = None) -> Entry:
    """Runs ``build`` until it goes through with all that it found out.

    Where a structure is refused that objects make which refer to each other, these are put into lists. Where functions
    that stay calls may be why something is refused, they are inlined. Where a container is refused whose items have
    several structures, a number beside each says which it has: at once, where these would be several all the same.
    """
    settings = settings or Settings()
    try:
        return _attempt_linked(build, settings)
    except (DifferentiationError, RecursionError) as refusal:
        if settings.tagged or not settings.mixed or settings.beyond_links:
            raise
        if not (_is_about_structure(refusal) or _is_opaque(refusal)) or _is_late(settings):
            raise
        first = refusal
    try:
        return _attempt_linked(build, settings.begun_anew(settings.linked, tagged=True))
    except (DifferentiationError, RecursionError):
        raise first from None


def _attempt_linked(build: Callable[[Lowerer], Entry], settings: Settings) -> Entry:
    """The same, as far as no number beside an item says which structure it has."""
    try:
        return _attempt(build, settings)
    except (DifferentiationError, RecursionError) as refusal:
        first = refusal
    if _is_late(settings):
        raise first
    if settings.beyond_links and not settings.tagged and _is_about_structure(first):
        tagged = settings.begun_anew(settings.linked, tagged=True)
        with suppress(DifferentiationError, RecursionError):
            return _attempt_linked(build, tagged)
        settings.attempts, settings.went_back = tagged.attempts, tagged.went_back
    of_linked = None
    may_be_linked = bool(settings.may_be_linked) and not settings.linked and not _is_late(settings)
    is_linked = may_be_linked and _is_about_structure(first)
    if is_linked:
        linked = settings.begun_anew(frozenset(settings.may_be_linked))
        try:
            return _attempt_linked(build, linked)
        except (DifferentiationError, RecursionError) as refusal:
            if linked.refused_linked or not _is_about_structure(refusal):
                of_linked = refusal
        settings.attempts, settings.went_back = linked.attempts, linked.went_back
    if not isinstance(first, DifferentiationError) or not _may_be_by_calls(settings, first) or _is_late(settings):
        raise of_linked or first
    again = _attempt if is_linked else _attempt_linked
    try:
        return again(build, settings.begun_anew(settings.linked, inlined=True))
    except (DifferentiationError, RecursionError):
        if of_linked is None:
            raise
    raise of_linked


def _is_late(settings: Settings) -> bool:
    """Whether so much was tried that another way to lower would only have a refusal come later."""
    return settings.lowered[0] >= MOST_BEFORE_ANEW


def _may_be_by_calls(settings: Settings, refusal: DifferentiationError) -> bool:
    """Whether something may have been refused because functions stay calls."""
    if settings.patience > 1:  # they do not where they need not
        return False
    return bool(settings.often or settings.kept or settings.inlined or isinstance(refusal, SupportsLost))


def _is_about_structure(refusal: DifferentiationError | RecursionError) -> bool:
    return isinstance(refusal, RecursionError) or any(each.code == "AD0402" for each in refusal.diagnostics)


def _is_opaque(refusal: DifferentiationError | RecursionError) -> bool:
    """Whether something is not looked into, or of no known kind, perhaps for a structure in what it holds."""
    return isinstance(refusal, DifferentiationError) and any(
        each.code in ("AD0201", "AD0401") for each in refusal.diagnostics
    )


def _is_settled(lo: Lowerer) -> bool:
    """Whether what functions that stay ones return can be what it is; else what to do the next time is noted."""
    if not lo.run_data.definitions:
        return are_laid_out_alike(lo)
    from adjoint.frontend.functions.returned_arrays import results_are_settled  # lazy
    from adjoint.frontend.functions.storage_unification import settle_memory  # lazy

    settle_memory(lo)
    return results_are_settled(lo) and are_laid_out_alike(lo)


def _tells_owners_apart(lo: Lowerer, *problems: Diagnostic) -> bool:
    """Whether the types of numbers did not tell what the program asks for; the next time they do.

    What is certain to raise may be so only because an integer counts as a float.
    """
    data, settings = lo.run_data, lo.settings
    data.asks_for_kinds |= any(problem.code == "AD0213" for problem in (*data.diagnostics.values(), *problems))
    owners = lo.types.have_met and data.asks_for_owners and not settings.owners_told_apart
    kinds = lo.types.kinds_have_met and data.asks_for_kinds and not settings.kinds_told_apart
    settings.owners_told_apart |= owners
    settings.kinds_told_apart |= kinds
    return owners or kinds


def _built(build: Callable[[Lowerer], Entry], lo: Lowerer) -> Entry:
    try:
        return build(lo)
    finally:
        lo.settings.lowered[0] += lo.run_data.steps


def _attempt(build: Callable[[Lowerer], Entry], settings: Settings) -> Entry:
    from adjoint.frontend.interpreter.interpreter import Interpreter  # lazy

    for _ in range(MAX_ATTEMPTS):
        lo = Interpreter(settings)
        settings.attempts += 1
        try:
            entry = _built(build, lo)
            if lo.run_data.has_grown or not _is_settled(lo) or _tells_owners_apart(lo):
                continue
            if opens_known_sets(lo, entry.function):
                continue
        except NeedsRuntime as need:
            sites = set(original_sites(need.sites))
            refused = refused_apart(lo, sites)
            if refused is not None:
                raise _refusal(lo, refused) from None
            if sites <= settings.bare_sites:
                raise _stuck(lo) from need
            if sites <= settings.runtime_sites:
                settings.bare_sites.update(sites)
            settings.runtime_sites.update(sites)
            settings.runtime_sites.update(sites_of_objects_at(lo, sites))
            continue
        except Restart:
            continue
        except TakenInside:
            settings.target = replace(settings.target, recomputes=False)
            continue
        except RecursionError:
            if settings.nested <= settings.called:
                raise
            settings.called |= settings.nested
            continue
        except Exception as error:
            if lo.run_data.has_grown or (isinstance(error, DifferentiationError) and not _is_settled(lo)):
                continue
            if _tells_owners_apart(lo, *([error.diagnostic] if isinstance(error, Problem) else ())):
                continue
            match error:
                case Problem():
                    raise _refusal(lo, error.diagnostic) from None
                case SupportsLost():
                    raise
                case DifferentiationError():
                    raise _refusal(lo, *error.diagnostics) from None
                case joins.TooManyOptions(span=span):
                    raise _refusal(
                        lo, diagnostic("AD0402", span, "a value has too many different structures")
                    ) from None
                case _ if lo.run_data.diagnostics:
                    # After a problem the function is not whole: what went wrong is its consequence.
                    raise _refusal(lo) from error
            raise
        if lo.run_data.diagnostics:
            if _tells_owners_apart(lo):
                continue
            raise _refusal(lo, *hidden_problems(entry.function))
        if lo.run_data.loose or lo.run_data.given_objects:
            from adjoint.frontend.interpreter.sharing import shared_and_written  # lazy

            shared = shared_and_written(lo, entry.function)
            if shared:
                raise _refusal(lo, *shared)
        checked(entry.function, "lowering")
        kept = tuple(
            Kept(code.name, sum(each.calls for each in repeated), sum(each.statements for each in repeated))
            for code, repeated in settings.kept.items()
        )
        return replace(
            entry,
            kept=kept,
            attempts=settings.attempts,
            went_back=settings.went_back,
            recomputes=settings.target.recomputes,
        )
    raise _stuck(lo)


CONSEQUENCES = ("AD0401", "AD0406", "AD0407")
"""What follows where nothing is known of the value of a statement that was refused."""


def _refusal(lo: Lowerer, *last: Diagnostic) -> DifferentiationError:
    """The exception for all problems that were found, without those that others entail."""
    definitions = lo.run_data.called_values
    unseen = causes(lo)
    problems = (*lo.run_data.diagnostics.values(), *last)
    found = [with_definition(definitions, unseen, problem) for problem in problems]
    first = _one_of_each_place([problem for problem in found if problem.code not in CONSEQUENCES])
    return DifferentiationError(first or lo.run_data.diagnostics.values() or found)


def _one_of_each_place(problems: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The problems without those behind another at the same place, which entails them."""
    places: set[Span] = set()
    found = []
    for problem in problems:
        if problem.span is None or problem.span not in places:
            found.append(problem)
        if problem.span is not None:
            places.add(problem.span)
    return found


_UNSEEN = ("AD0201", "AD0307", "AD0407")


def with_definition(definitions: Mapping[Span, Span], unseen: tuple[str, ...], problem: Diagnostic) -> Diagnostic:
    """A refusal of a call of what is not visible: with the place where that is defined, and why it is not visible."""
    if problem.code in _UNSEEN:
        problem = problem.with_notes(*unseen)
    place = None if problem.span is None else definitions.get(problem.span)
    if place is None or problem.code != "AD0201":
        return problem
    return replace(problem, labels=(*problem.labels, Label(place, "the function is defined here")), helps=_CARRYING)


_CARRYING = (
    "let its type say that it carries its derivatives: f: ad.Fn[[float], float]",
    "or make it from a pullback: ad.differentiable_function(lambda x: (value, pullback))",
    "or declare its derivative: @ad.derivative_of(fn)",
    "or hand it ad.stop_gradient(x), if the result shall count as a constant",
)


def hidden_problems(function: ir.Function) -> list[Diagnostic]:
    """What the transforms would refuse in a function that is not transformed because of other problems."""
    found: list[Diagnostic] = []
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Derived):
            derived = statement.callee
            unknown = {
                call.span
                for call in statements_in(derived.function.body)
                if isinstance(call, ir.Call) and call.callee is display.call and isinstance(call.args[0], ir.Var)
            }
            with suppress(Exception):  # the function is not whole
                from adjoint.differentiation.reachability import Dependence  # lazy

                problems = Dependence(derived.function, derived.wrt, derived.outputs).problems
                found += [problem for problem in problems if problem.span not in unknown]
    return found


def _stuck(lo: Lowerer) -> DifferentiationError:
    found = lo.problem("AD0901", None, "the structure of the objects in this function does not settle")
    return DifferentiationError(found.diagnostic)
