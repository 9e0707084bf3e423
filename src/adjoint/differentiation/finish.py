"""The last touches to a derivative: names become code, conversions that change nothing go."""

from __future__ import annotations

import operator
from collections import Counter

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.known_effects import Effects
from adjoint.analysis.memory.results_of_functions import makes_memory, results_of_their_own
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.differentiation.reverse.residuals.notes import Notes
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.rebuild import rebuild, rebuild_terminator
from adjoint.ir.views import with_views_in_memory
from adjoint.ir.walk import operands, statements_in, terminators_in
from adjoint.optimize.touch_up.zeros_by_shape import without_unread_makers
from adjoint.passes import Context
from adjoint.pipeline import FINISH, run
from adjoint.rules.kinds import Bilinear, Elementwise
from adjoint.rules.registry import rule_for
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.copies import owned
from adjoint.target import PYTHON, Target


def finish(function: ir.Function, notes: Notes | None = None, target: Target = PYTHON) -> ir.Function:
    """A function that is ready to be printed; ``notes`` takes down what its loops keep."""
    return run(FINISH, function, Context(target, notes=notes))


def without_idle_conversions(function: ir.Function) -> ir.Function:
    """Drops ``float(x)`` of a Python float, copies of memory that nobody else has, and what said that it is constant.

    What was converted takes the name of the result. What zeros are made like is not made for them alone.
    """
    function = without_unread_makers(function)
    calls = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Call)]
    if any(call.callee in (np.copy, np.ndarray.copy) for call in calls):
        from adjoint.optimize.touch_up.redundant_copies import without_needless_copies  # lazy

        function = without_needless_copies(function)
        calls = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Call)]
    conversions = [call for call in calls if call.callee in (float, owned, stop_gradient) and len(call.args) == 1]
    if not conversions:
        return function
    made = {target: call for call in calls for target in call.targets}
    copies = any(call.callee is owned for call in conversions)
    holders = _holders(function.body) if copies else Counter()
    returned = _returned_alone(function) if copies else frozenset()
    renamed: dict[ir.Var, ir.Atom] = {}
    names: dict[ir.Var, ir.Var] = {}
    idle: set[ir.Statement] = set()
    for statement in conversions:
        if len(statement.targets) != 1:
            continue
        arg, target = statement.args[0], statement.targets[0]
        if (
            (statement.callee is float and _is_float(arg))
            or (statement.callee is owned and (_is_own(arg, made, holders) or target in returned))
            or (statement.callee is stop_gradient and _is_plain(arg))
        ):
            idle.add(statement)
            if isinstance(arg, ir.Var):
                arg = renamed.get(arg, arg)  # of a conversion that is dropped, too
            if isinstance(arg, ir.Var) and target.named and not arg.named and arg in made and arg not in names:
                names[arg] = ir.Var(target.hint, arg.type, named=True)
            renamed[target] = names.get(arg, arg) if isinstance(arg, ir.Var) else arg
    if not idle:
        return function

    def atom(old: ir.Atom) -> ir.Atom:
        if not isinstance(old, ir.Var):
            return old
        new = renamed.get(old, old)
        return names.get(new, new) if isinstance(new, ir.Var) else new  # a later conversion may have named it

    def binder(old: ir.Var) -> ir.Var:
        return names.get(old, old)

    def block(old: ir.Block) -> ir.Block:
        kept = tuple(rebuild(s, atom, block, binder) for s in old.statements if s not in idle)
        return ir.Block(kept, rebuild_terminator(old.terminator, atom, block))

    without = ir.Function(function.name, function.params, block(function.body), function.doc)
    return with_views_in_memory(without)


def _calls(function: ir.Function, *callees: object) -> bool:
    """Whether one of some functions of Python or NumPy is called anywhere."""
    called = [each.callee for each in statements_in(function.body) if type(each) is ir.Call]
    return any(one is callee for one in called for callee in callees)


def with_sums_as_products(function: ir.Function) -> ir.Function:
    """The function with sums of products, down to one number, as dot products."""
    if _calls(function, unbroadcast):
        from adjoint.optimize.touch_up.dot_products import with_dot_products  # lazy

        return with_dot_products(function)
    return function


def with_products_added_in_place(function: ir.Function) -> ir.Function:
    """The function with outer products that loops add to matrices added in place."""
    if _calls(function, np.outer):
        from adjoint.optimize.touch_up.rank_one_updates import with_rank_one_updates  # lazy

        return with_rank_one_updates(function)
    return function


def with_factors_shared(function: ir.Function) -> ir.Function:
    """The function with matrices factorised once for all that is asked of them."""
    if _calls(function, *_FACTORISING):
        from adjoint.optimize.touch_up.factors_on_tapes import with_factors_kept  # lazy
        from adjoint.optimize.touch_up.shared_factors import with_shared_factors  # lazy

        return with_shared_factors(with_factors_kept(function))
    return function


def with_outer_signs(function: ir.Function) -> ir.Function:
    """The function with signs of factors where their terms are added."""
    if _calls(function, operator.neg):
        from adjoint.optimize.touch_up.outer_signs import signs_outside  # lazy

        return signs_outside(function)
    return function


def with_direct_updates(function: ir.Function) -> ir.Function:
    """The function with its updates of memory, and copies, in their shortest forms."""
    for statement in statements_in(function.body):
        if type(statement) is ir.Store:
            is_long = statement.mode != "set"
        else:
            is_long = type(statement) is ir.Call and statement.callee is np.copy
        if is_long:
            from adjoint.optimize.touch_up.in_place_updates import direct_updates  # lazy

            return direct_updates(function)
    return function


def _holders(body: ir.Block) -> Counter[ir.Var]:
    """How often each variable is handed to something that may hold on to its memory."""
    found: Counter[ir.Var] = Counter()
    views: list[tuple[ir.Var, ir.Atom]] = []
    for statement in statements_in(body):
        atoms = operands(statement)
        if isinstance(statement, ir.Store):
            atoms = tuple(a for a in atoms if a is not statement.base)
            if statement.mode != "set" or statement.key is None or is_array(statement.base):
                continue  # copies what it stores
        elif isinstance(statement, ir.Load) and is_array(statement.base):
            views.append((statement.target, statement.base))
            continue
        elif (isinstance(statement, ir.Load) and not isinstance(statement.target.type, ir.Array)) or (
            isinstance(statement, ir.Call) and _only_reads(statement)
        ):
            continue
        found.update(atom for atom in atoms if isinstance(atom, ir.Var))
    for terminator in terminators_in(body):
        found.update(atom for atom in operands(terminator) if isinstance(atom, ir.Var))
    for view, base in reversed(views):
        if found[view] and isinstance(base, ir.Var):
            found[base] += 1
    return found


def _only_reads(call: ir.Call) -> bool:
    if call.callee is owned:  # it may be dropped: then the result is the memory itself
        return False
    facts = effects_of(call)
    return (
        isinstance(rule_for(call.callee), (Elementwise, Bilinear))
        or all(isinstance(target.type, ir.Scalar) for target in call.targets)
        or (facts.known and facts.fresh and not facts.hands_on)
    )


def _is_float(atom: ir.Atom) -> bool:
    if isinstance(atom, ir.Const):
        return type(atom.value) is float
    return isinstance(atom, ir.Var) and atom.type == ir.Scalar("float")


def _is_plain(atom: ir.Atom) -> bool:
    """Whether something is a number or an array: containers of constants stay apart from others."""
    return isinstance(type_of_atom(atom), (ir.Scalar, ir.Number, ir.Array))


def _is_own(atom: ir.Atom, made: dict[ir.Var, ir.Call], holders: Counter[ir.Var]) -> bool:
    """Whether an array was made here and is handed to nobody but the caller."""
    if isinstance(atom, ir.Const):
        return not hasattr(atom.value, "__array__")
    if not isinstance(atom, ir.Var):
        return False
    if isinstance(atom.type, ir.Scalar):
        return True
    statement = made.get(atom)
    if statement is None or not isinstance(atom.type, ir.Array):
        return False
    return holders[atom] <= 1 and makes_memory(statement, statement.targets.index(atom), effects_of(statement))


def _returned_alone(function: ir.Function) -> frozenset[ir.Atom]:
    """The results of a function that are nobody else's memory even if nothing of it is copied."""
    own = results_of_their_own(function, lambda call: _NO_COPY if call.callee is owned else effects_of(call))
    end = function.body.terminator
    return frozenset(end.values[place] for place in own) if isinstance(end, ir.Return) else frozenset()


_NO_COPY = Effects(view_of=0)
_FACTORISING = (np.linalg.solve, np.linalg.inv, np.linalg.slogdet)
