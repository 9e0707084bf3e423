"""Forward mode: beside every statement the statement of its tangent.

One walk over the regions. A value has a tangent variable, memory has a shadow that the same statements make, read and
write. What is not active has neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from adjoint import ir
from adjoint.analysis.divergence import divergent_messages
from adjoint.analysis.joins import joins, may_be_undefined
from adjoint.analysis.memory.array_layout import layouts_read
from adjoint.diagnostics import Diagnostic, DifferentiationError
from adjoint.differentiation.forward.derived_tangents import unkept as why_unkept
from adjoint.differentiation.forward.statements import Forward
from adjoint.differentiation.forward.written_out import _without_derived
from adjoint.differentiation.memory.constant_views import constant_views, unsure_views
from adjoint.differentiation.nondifferentiable import without_forward
from adjoint.differentiation.reachability import Dependence
from adjoint.differentiation.zeros.called_supports import Carried, carries_supports, refuse_lost_supports
from adjoint.ir.walk import statements_in
from adjoint.passes import Context
from adjoint.pipeline import FORWARD, run
from adjoint.records import dataclass, field, replace
from adjoint.target import PYTHON, Target

Signature = tuple[int, tuple[int, ...], tuple[int, ...]]


def forward(
    function: ir.Function,
    wrt: Sequence[int],
    outputs: Sequence[int],
    *,
    keep_derived: bool = False,
    target: Target = PYTHON,
) -> ir.Function:
    """The forward derivative of a core function.

    Parameters
    ----------
    function
        A core function.
    wrt
        The parameters that have tangents.
    outputs
        The results whose tangents are wanted.
    keep_derived
        Leaves reverse derivatives that the function calls as names, where that can be: the result is to be reversed.
    target
        What the derivative is made for.

    Returns
    -------
    Function
        Its parameters are those of ``function`` and one tangent for each of ``wrt`` (a shadow where the parameter is a
        reference); its results those of ``function`` and one tangent for each of ``outputs``.

    Raises
    ------
    DifferentiationError
        With everything in the function that cannot be differentiated.
    """
    return run(FORWARD, function, Context(target, wrt, outputs, keep_derived=keep_derived))


def with_tangents(
    function: ir.Function, wrt: Sequence[int], outputs: Sequence[int], keep_derived: bool, target: Target
) -> ir.Function:
    """The forward derivative of a function without dead code."""
    known = Zeros()
    while True:
        session = Session(keep_derived, target, known, known)
        found = session.derive(function, tuple(wrt), tuple(outputs))
        if session.zeros == known:
            return found
        known = session.zeros


@dataclass(frozen=True, slots=True)
class Zeros:
    """What is known of the zeros in tangents that called functions take and give.

    Attributes
    ----------
    computed
        They may be zero though nothing was left out.
    partial
        A selection left something out of them.
    asked, lost
        Supports of them are needed; and are not known everywhere.
    """

    computed: bool = False
    partial: bool = False
    asked: bool = False
    lost: bool = False

    @property
    def carried(self) -> bool:
        """Whether supports go from function to function."""
        return self.asked and not self.lost


@dataclass(slots=True)
class Session:
    """The forward derivatives of called functions that one derivative needs, each made once.

    They go by what is ``known`` of zeros; ``zeros`` is what becomes known.
    """

    suffix: ClassVar[str] = "jvp"
    keep_derived: bool
    target: Target
    known: Zeros = Zeros()
    zeros: Zeros = Zeros()
    definitions: dict[Signature, ir.Definition] = field(default_factory=dict)
    forms: dict[ir.Definition, Carried] = field(default_factory=dict)
    keep: list[Any] = field(default_factory=list)
    unread: list[ir.Function] = field(default_factory=list)
    read: set[ir.Storage] = field(default_factory=set)

    def derive(
        self,
        function: ir.Function,
        wrt: tuple[int, ...],
        outputs: tuple[int, ...],
        *,
        is_called: bool = False,
    ) -> ir.Function:
        unkept: list[ir.Call] = []
        function, found = _without_derived(function, wrt, outputs, self.keep_derived, self.target, is_called, unkept)
        try:
            return self.derived(function, found, wrt, outputs, is_called=is_called)
        except DifferentiationError:
            if unkept:
                raise why_unkept(unkept[0]) from None
            raise

    def derived(
        self,
        function: ir.Function,
        found: Dependence,
        wrt: tuple[int, ...],
        outputs: tuple[int, ...],
        *,
        is_called: bool,
    ) -> ir.Function:
        views = (*constant_views(function, found.active), *unsure_views(function, found.active))
        problems = [*found.problems, *self.not_forward(function, found), *views, *divergent_messages(function, wrt)]
        if problems:
            raise DifferentiationError(problems)
        _carry_zeros(function, found)
        _fill_slots(function, found)
        self.unread.append(function)
        return self.walked(function, found, wrt, outputs, is_called=is_called)

    def not_forward(self, function: ir.Function, found: Dependence) -> list[Diagnostic]:
        """What has no derivative in this mode."""
        return without_forward(found, function)

    def walked(
        self,
        function: ir.Function,
        found: Dependence,
        wrt: tuple[int, ...],
        outputs: tuple[int, ...],
        *,
        is_called: bool,
    ) -> ir.Function:
        return Forward(self, found, wrt, outputs).function(function, is_called=is_called)

    def gives_computed_zeros(self, call: ir.Call) -> None:
        """Takes down that a function is given tangents that may be zero by chance."""
        if isinstance(call.callee, ir.Definition):
            self.zeros = replace(self.zeros, computed=True, asked=carries_supports(self.target))

    def leaves_out(self) -> None:
        """Takes down that a selection left something out of what functions are given, or give."""
        self.zeros = replace(self.zeros, partial=carries_supports(self.target))

    def carried(self, call: ir.Call) -> Carried | None:
        """What a forward derivative that is called takes and gives of supports."""
        return self.forms.get(call.callee) if isinstance(call.callee, ir.Definition) and self.known.carried else None

    def asks_supports(self, call: ir.Call) -> None:
        """Takes down that functions have to tell what was left out of their tangents."""
        if isinstance(call.callee, ir.Definition) and carries_supports(self.target):
            if self.known.lost:
                refuse_lost_supports(self.target)
            self.zeros = replace(self.zeros, asked=True)

    def loses_supports(self, call: ir.Call | None = None) -> None:
        """Takes down that somewhere it is not known what was left out."""
        refuse_lost_supports(self.target)
        self.zeros = replace(self.zeros, lost=True)

    def layouts_read(self) -> set[ir.Storage]:
        """The memory of which the layout decides what is written, in all functions that are met."""
        while self.unread:
            self.read |= layouts_read(self.unread.pop())
        return self.read

    def definition(
        self, callee: ir.Definition | ir.Function, wrt: tuple[int, ...], outputs: tuple[int, ...]
    ) -> ir.Definition:
        key = (id(callee), wrt, outputs)
        known = self.definitions.get(key)
        if known is None:
            self.keep.append(callee)
            known = self.definitions[key] = ir.Definition(
                f"{callee.name}_{self.suffix}", None, getattr(callee, "checkpoints", None)
            )
            self.forms[known] = Carried(len(wrt), len(outputs))
            function = callee.function if isinstance(callee, ir.Definition) else callee
            assert function is not None
            known.function = self.derive(function, wrt, outputs, is_called=True)
        return known


def _carry_zeros(function: ir.Function, found: Dependence) -> None:
    """Gives a tangent to what becomes part of something active, but cannot be asked for its zero on every path."""
    undefined = may_be_undefined(function.body)
    flows = [
        (source, target)
        for statement in (statements_in(function.body) if undefined else ())
        for source, target in joins(statement)
        if isinstance(source, ir.Var) and source in undefined
    ]
    before = -1
    while before != len(found.active_nodes):
        before = len(found.active_nodes)
        found.active_nodes.update(source for source, target in flows if found.active(target))


def _fill_slots(function: ir.Function, found: Dependence) -> None:
    """Gives a tangent to all that functions may read of objects with tangents: they do not know which parts vary."""
    for call in statements_in(function.body):
        if isinstance(call, ir.Call) and isinstance(call.callee, (ir.Definition, ir.Function)):
            handed = [arg for arg in call.args if isinstance(arg, ir.Var) and found.active(arg)]
            found.active_nodes.update(
                slot for arg in handed for slot in found.memory.slots(arg.type) if slot in found.useful
            )


__all__ = ["forward"]
