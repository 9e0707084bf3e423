"""Forward mode: beside every statement the statement of its tangent.

One walk over the regions. A value has a tangent variable, memory has a shadow that the same statements make, read and
write. What is not active has neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from adjoint.analysis.divergence import divergent_messages
from adjoint.analysis.joins import joins
from adjoint.analysis.memory.array_layout import layouts_read
from adjoint.analysis.undefined import may_be_undefined
from adjoint.diagnostics import Diagnostic, DifferentiationError
from adjoint.differentiation.forward.derived_tangents import unkept as why_unkept
from adjoint.differentiation.forward.statements import Forward
from adjoint.differentiation.forward.written_out import _without_derived
from adjoint.differentiation.memory.constant_views import constant_views, unsure_views
from adjoint.differentiation.nondifferentiable import without_forward
from adjoint.differentiation.reachability import Dependence
from adjoint.ir.nodes import Call, Definition, Function, Var
from adjoint.ir.types import Storage
from adjoint.ir.walk import statements_in
from adjoint.pipeline import FORWARD, Context, run
from adjoint.records import dataclass, field
from adjoint.target import PYTHON, Target

Signature = tuple[int, tuple[int, ...], tuple[int, ...]]


def forward(
    function: Function,
    wrt: Sequence[int],
    outputs: Sequence[int],
    *,
    keep_derived: bool = False,
    target: Target = PYTHON,
) -> Function:
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
    function: Function, wrt: Sequence[int], outputs: Sequence[int], keep_derived: bool, target: Target
) -> Function:
    """The forward derivative of a function without dead code."""
    session = Session(keep_derived, target)
    found = session.derive(function, tuple(wrt), tuple(outputs))
    if session.gives_zeros:
        found = Session(keep_derived, target, complete=False).derive(function, tuple(wrt), tuple(outputs))
    return found


@dataclass(slots=True)
class Session:
    """The forward derivatives of called functions that one derivative needs, each made once.

    ``complete`` says that tangents that they are given are zero only where something was left out, ``gives_zeros`` that
    this is not so.
    """

    suffix: ClassVar[str] = "jvp"
    keep_derived: bool
    target: Target
    complete: bool = True
    gives_zeros: bool = False
    definitions: dict[Signature, Definition] = field(default_factory=dict)
    keep: list[Any] = field(default_factory=list)
    unread: list[Function] = field(default_factory=list)
    read: set[Storage] = field(default_factory=set)

    def derive(
        self,
        function: Function,
        wrt: tuple[int, ...],
        outputs: tuple[int, ...],
        *,
        is_called: bool = False,
        complete: bool = True,
    ) -> Function:
        unkept: list[Call] = []
        function, found = _without_derived(function, wrt, outputs, self.keep_derived, self.target, is_called, unkept)
        try:
            return self.derived(function, found, wrt, outputs, complete)
        except DifferentiationError:
            if unkept:
                raise why_unkept(unkept[0]) from None
            raise

    def derived(
        self, function: Function, found: Dependence, wrt: tuple[int, ...], outputs: tuple[int, ...], complete: bool
    ) -> Function:
        views = (*constant_views(function, found.active), *unsure_views(function, found.active))
        problems = [*found.problems, *self.not_forward(function, found), *views, *divergent_messages(function, wrt)]
        if problems:
            raise DifferentiationError(problems)
        _carry_zeros(function, found)
        self.unread.append(function)
        return self.walked(function, found, wrt, outputs, complete)

    def not_forward(self, function: Function, found: Dependence) -> list[Diagnostic]:
        """What has no derivative in this mode."""
        return without_forward(found, function)

    def walked(
        self, function: Function, found: Dependence, wrt: tuple[int, ...], outputs: tuple[int, ...], complete: bool
    ) -> Function:
        return Forward(self, found, wrt, outputs).function(function, complete=complete)

    def gives_computed_zeros(self, call: Call) -> None:
        """Takes down that a function is given tangents that may be zero by chance."""
        self.gives_zeros |= isinstance(call.callee, Definition)

    def layouts_read(self) -> set[Storage]:
        """The memory of which the layout decides what is written, in all functions that are met."""
        while self.unread:
            self.read |= layouts_read(self.unread.pop())
        return self.read

    def definition(self, callee: Definition | Function, wrt: tuple[int, ...], outputs: tuple[int, ...]) -> Definition:
        key = (id(callee), wrt, outputs)
        known = self.definitions.get(key)
        if known is None:
            self.keep.append(callee)
            known = self.definitions[key] = Definition(
                f"{callee.name}_{self.suffix}", None, getattr(callee, "checkpoints", None)
            )
            function = callee.function if isinstance(callee, Definition) else callee
            assert function is not None
            known.function = self.derive(function, wrt, outputs, is_called=True, complete=self.complete)
        return known


def _carry_zeros(function: Function, found: Dependence) -> None:
    """Gives a tangent to what becomes part of something active, but cannot be asked for its zero on every path."""
    undefined = may_be_undefined(function.body)
    flows = [
        (source, target)
        for statement in (statements_in(function.body) if undefined else ())
        for source, target in joins(statement)
        if isinstance(source, Var) and source in undefined
    ]
    before = -1
    while before != len(found.active_nodes):
        before = len(found.active_nodes)
        found.active_nodes.update(source for source, target in flows if found.active(target))


__all__ = ["forward"]
