"""Derivatives of the functions that one derivative calls, each made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from adjoint import ir
from adjoint.differentiation.reverse.calls.calling_convention import Halves, Request, Treatment, Treatments, until_known
from adjoint.differentiation.zeros.called_supports import ASKING, Carried, carries_supports, refuse_lost_supports
from adjoint.ir.rebuild import clone_function
from adjoint.ir.walk import operands, statements_in
from adjoint.records import dataclass, field
from adjoint.target import Target

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.pullbacks import Pullback

T = TypeVar("T")
MOST_NAMED = 3
"""How many parameters the name of an adjoint tells."""
_Key = tuple[ir.Definition, tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""A function, the places of the arguments and results that are differentiated, and of those with shared memory."""


@dataclass(slots=True)
class Family:
    """The halves of the functions that one derivative calls, each made once.

    ``by_chance`` has the cotangents that may be zero though nothing was left out, ``shadows`` the memory of cotangents,
    of all functions. Of what ``meets_itself``, calls are made before it is known what its adjoint needs.
    """

    treatments: Treatments
    target: Target
    runs_once: bool = False
    """Whether the second half of a call runs once: then it may use up what the first has kept."""
    halves: dict[Request, Halves] = field(default_factory=dict)
    meets_itself: set[Request] = field(default_factory=set)
    by_chance: set[ir.Var] = field(default_factory=set)
    shadows: set[ir.Var] = field(default_factory=set)
    wholes: dict[_Key, Whole] = field(default_factory=dict)
    pullbacks: dict[_Key, Pullback | None] = field(default_factory=dict)
    origins: dict[ir.Definition, Origin] = field(default_factory=dict)
    asked: dict[ir.Definition, tuple[int, ...]] = field(default_factory=dict)
    """With respect to which parameters functions are differentiated first."""

    def of(self, request: Request) -> Halves:
        """The primal and the adjoint of a function that stays one."""
        known = self.halves.get(request)
        if known is not None:
            if known.adjoint.function is None:
                self.meets_itself.add(request)
            return known
        name = request.definition.name
        adjoint = f"{name}_adjoint{self.difference(request.definition, request.wrt)}"
        halves = Halves(ir.Definition(f"{name}_primal"), ir.Definition(adjoint))
        self.halves[request] = halves
        form = Carried(request.given, request.cotangents)
        can_carry = not request.moves_shadows and request.definition.checkpoints is None
        origin = self.make(halves.adjoint, request.definition, form if can_carry else None)
        if request.definition.checkpoints is not None:
            from adjoint.differentiation.reverse.checkpointing.checkpoints import split_checkpointed  # lazy

            halves.primal.function, halves.adjoint.function = split_checkpointed(request, self)
        else:
            from adjoint.differentiation.reverse.calls.primal_adjoint_split import split_called  # lazy

            halves = self.halves[request] = split_called(request, halves, self, carries=origin.carried is not None)
            self.origins[halves.adjoint] = origin
        return halves

    def difference(self, definition: ir.Definition, wrt: tuple[int, ...]) -> str:
        """What tells an adjoint from the first of its function by name: what it is taken with respect to."""
        function = definition.function
        if function is None or self.asked.setdefault(definition, wrt) == wrt or len(wrt) > MOST_NAMED:
            return ""
        return "_".join(("_wrt", *(function.params[place].hint for place in wrt)))

    @property
    def carries(self) -> bool:
        """Whether anything that is called tells what was left out."""
        return any(origin.carried is not None for origin in self.origins.values())

    def treatment(self, definition: ir.Definition) -> Treatment:
        """How a function is treated, as far as that is known."""
        return self.treatments.get(definition) or Treatment()

    def make(self, adjoint: ir.Definition, definition: ir.Definition, form: Carried | None) -> Origin:
        """Takes down of which function an adjoint is made, and what it takes and gives of supports if it does."""
        carries = self.treatment(definition).carries
        origin = self.origins[adjoint] = Origin(definition, form if carries else None, form is not None)
        return origin

    def learn(self, definition: ir.Definition, more: Treatment) -> None:
        """Takes down how a function is treated; halves that do not know of it are of no use."""
        is_made = any(request.definition is definition for request in self.halves)
        self.treatments.grew |= self.treatments[definition].add(more) and is_made

    def gives_computed_zeros(self, call: ir.Call) -> None:
        """Takes down that a function is given cotangents that may be zero by chance."""
        origin = self._origin(call)
        if origin is None or origin.carried is not None:
            return
        if carries_supports(self.target) and _asks(call.callee):
            self.asks_supports(call)
        self._learn(origin.definition, Treatment(computed_zeros=True))

    def carried(self, call: ir.Call) -> Carried | None:
        """What an adjoint that is called takes and gives of supports."""
        origin = self._origin(call)
        return None if origin is None else origin.carried

    def asks_supports(self, call: ir.Call) -> None:
        """Takes down that a function has to tell what was left out of its cotangents."""
        origin = self._origin(call)
        if origin is None or not carries_supports(self.target):
            return
        if origin.can_carry and not self.treatments[origin.definition].lost:
            self._learn(origin.definition, Treatment(supports=True))
        else:
            refuse_lost_supports(self.target)

    def loses_supports(self, call: ir.Call) -> None:
        """Takes down that a function cannot be given what was left out."""
        origin = self._origin(call)
        assert origin is not None
        self.lose(origin.definition)

    def lose(self, definition: ir.Definition) -> None:
        refuse_lost_supports(self.target)
        self._learn(definition, Treatment(lost=True))

    def leaves_out(self, definition: ir.Definition) -> None:
        """Takes down that a selection left something out of cotangents that a function is given, or that it gives."""
        if carries_supports(self.target):
            self._learn(definition, Treatment(partial=True))

    def _learn(self, definition: ir.Definition, more: Treatment) -> None:
        self.treatments.grew |= self.treatments[definition].add(more)

    def _origin(self, call: ir.Call) -> Origin | None:
        return self.origins.get(call.callee) if isinstance(call.callee, ir.Definition) else None

    def moved(self, definition: ir.Definition) -> set[int]:
        """The parameters of a recursive function in whose memory references move."""
        if definition not in self.treatments:
            from adjoint.differentiation.reverse.memory.moved_references import moved_places  # lazy

            for each, places in moved_places(definition).items():
                self.treatments[each].first |= places
        return self.treatments[definition].first

    def pullback(
        self, definition: ir.Definition, wrt: tuple[int, ...], outputs: tuple[int, ...], lent: tuple[int, ...]
    ) -> Pullback | None:
        """The pullback of a function that needs nothing but arguments and results, where there is one."""
        key = (definition, wrt, outputs, lent)
        if key not in self.pullbacks:
            from adjoint.differentiation.reverse.calls.pullbacks import pullback_of  # lazy

            form = Carried(len(outputs) + len(lent), len(wrt) - len(lent))
            carries = self.treatment(definition).carries
            found = self.pullbacks[key] = pullback_of(definition, wrt, outputs, lent, self, carries=carries)
            if found is not None:
                self.make(found.definition, definition, form)
        return self.pullbacks[key]

    def whole(
        self, definition: ir.Definition, wrt: tuple[int, ...], outputs: tuple[int, ...], lent: tuple[int, ...]
    ) -> Whole:
        """The adjoint of a recursive function that runs it again: it is given the memory of cotangents of arrays."""
        key = (definition, wrt, outputs, lent)
        if key not in self.wholes:
            adjoint = ir.Definition(f"{definition.name}_adjoint")
            self.wholes[key] = Whole(adjoint, ())  # to its own calls
            from adjoint.differentiation.reverse.calls.fused_primal_adjoint import results_of, together  # lazy
            from adjoint.differentiation.reverse.calls.rerun_sweeps import reverse_again, without_results  # lazy

            assert definition.function is not None
            form = Carried(len(outputs) + len(lent), len(wrt) - len(lent))
            origin = self.make(adjoint, definition, form)
            carries = origin.carried is not None
            function = reverse_again(definition.function, wrt, outputs, lent, self, called=definition, carries=carries)
            given = form.results * (2 if carries else 1)
            results = results_of(function, len(operands(function.body.terminator)) - given)
            adjoint.function = without_results(function, len(results))
            known = {whole.adjoint: key[0] for key, whole in self.wholes.items() if whole.results}
            both = together(clone_function(function), definition, adjoint, known)
            if both is not None:
                self.wholes[key] = Whole(both, results)
                self.origins[both] = origin
        return self.wholes[key]


@dataclass(frozen=True, slots=True)
class Origin:
    """Of which function an adjoint is made, what it takes and gives of supports, and whether it could do that."""

    definition: ir.Definition
    carried: Carried | None
    can_carry: bool


def _asks(adjoint: ir.Definition) -> bool:
    """Whether an adjoint, or what it calls, asks what was left out of its cotangents."""
    if adjoint.function is None:
        return True
    from adjoint.differentiation.definitions import with_called  # lazy

    statements = (statement for each in with_called(adjoint.function) for statement in statements_in(each.body))
    return any(isinstance(statement, ir.Call) and statement.callee in ASKING for statement in statements)


@dataclass(frozen=True, slots=True)
class Whole:
    """The adjoint of a recursive function that runs it again, and which results of that it gives before cotangents."""

    adjoint: ir.Definition
    results: tuple[ir.Var, ...]


def with_family(make: Callable[[Family], T], target: Target, *, runs_once: bool = False) -> T:
    """Makes a derivative; again where one call of a recursive function asks for more than others of its halves."""
    return until_known(lambda treatments: make(Family(treatments, target, runs_once)))
