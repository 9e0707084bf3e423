"""The pass: in each block, what array statements do between other statements becomes loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.alias import Aliases
from adjoint.analysis.memory.array_layout import asks_layouts
from adjoint.ir.rebuild import map_blocks, substitute
from adjoint.ir.views import with_views_in_memory
from adjoint.ir.walk import operands, read_counts, targets_of
from adjoint.native.costs import LONGEST_SEGMENT
from adjoint.native.fusion.generate import Generator
from adjoint.native.fusion.nodes.complexes import part_of_numbers
from adjoint.native.fusion.nodes.recognize import Recognizer
from adjoint.native.fusion.nodes.terms import Extent, Map, Node, Operand, Other, Reduce, Write
from adjoint.native.fusion.plan import Plan
from adjoint.native.fusion.ranks import with_known_ranks
from adjoint.native.fusion.schedule import Schedule
from adjoint.native.fusion.shapes import Shapes
from adjoint.runtime.array_functions import arrays


def fuse(function: ir.Function) -> ir.Function:
    """The function with its element-wise statements and reductions as loops over scalars.

    What loops make lies in C order. Where the program asks how its arrays lie, NumPy makes them.
    """
    if asks_layouts(function):
        return function
    return with_views_in_memory(_Fusion(with_views_in_memory(with_known_ranks(function))).run())


class _Fusion:
    def __init__(self, function: ir.Function) -> None:
        self._function = function
        self._uses = read_counts(function.body)
        self._shapes = Shapes(function)
        self._aliases = Aliases(function)
        self._renamed: dict[ir.Var, ir.Atom] = {}

    def run(self) -> ir.Function:
        body = self._block(self._function.body)
        if self._renamed:
            body = substitute(body, self._renamed)
        return ir.Function(self._function.name, self._function.params, body, self._function.doc)

    def _block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        segment: list[ir.Statement] = []
        for statement in block.statements:
            if _may_move(statement) and len(segment) < LONGEST_SEGMENT:
                segment.append(statement)
                continue
            statements += self._segment(segment)
            segment = []
            if _may_move(statement):
                segment.append(statement)
            else:
                statements.append(map_blocks(statement, self._block))
        statements += self._segment(segment)
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = ir.Branch(end.cond, self._block(end.then), self._block(end.orelse), end.span)
        return ir.Block(tuple(statements), end)

    def _segment(self, segment: Sequence[ir.Statement]) -> Sequence[ir.Statement]:
        if not any(map(_is_about_arrays, segment)):
            return segment
        self._shapes.start_segment()
        reader = Recognizer(self._shapes, self._aliases)
        found = [(statement, reader.read(statement)) for statement in segment]
        known: Counter[ir.Var] = Counter()
        for statement, nodes in found:
            if nodes is not None:
                known.update(atom for atom in operands(statement) if isinstance(atom, ir.Var))
        live = {var for statement in segment for var in targets_of(statement) if self._uses[var] > known[var]}
        nodes = self._nodes(found, live)
        if all(isinstance(node, Other) for node in nodes):
            return segment
        return self._fused(nodes, live)

    def _nodes(self, found: Sequence[tuple[ir.Statement, list[Node] | None]], live: set[ir.Var]) -> list[Node]:
        parts: list[list[Node]] = []
        for order, (statement, nodes) in reversed(list(enumerate(found, 1))):
            if nodes is None or (_is_only_read(statement, nodes) and not live.isdisjoint(targets_of(statement))):
                nodes = [Other(order=order, axes=(), operands=_as_operands(statement), statement=statement)]
                live.update(atom for atom in operands(statement) if isinstance(atom, ir.Var))
            parts.append(nodes)
        result = [node for part in reversed(parts) for node in part]
        for node in result:
            if isinstance(node, (Map, Reduce)) and isinstance(node.target.type, ir.Array):
                if self._aliases.is_written(node.target):
                    live.add(node.target)
            elif isinstance(node, Write):
                live.add(node.base)
        return result

    def _fused(self, nodes: Sequence[Node], live: set[ir.Var]) -> Sequence[ir.Statement]:
        plan = Plan(nodes, live, self._aliases, self._shapes.are_apart)
        inputs = {
            node: {leaf.atom for part in node.operands for leaf in plan.leaves(part) if isinstance(leaf.atom, ir.Var)}
            for node in plan.nodes
        }
        schedule = Schedule(plan.nodes, plan.dependences(self._relied_on(plan)), inputs)
        generator = Generator(plan, schedule, self._shapes.checks)
        generator.run()
        self._renamed.update(generator.renamed)
        return generator.statements

    def _relied_on(self, plan: Plan) -> dict[Node, list[Extent]]:
        """The extents that a node relies on, those included that were compared to find them."""
        found: dict[Node, list[Extent]] = {}
        for node in plan.nodes:
            parts = list(plan.parts(node))
            own = [axis.extent for part in parts for axis in part.axes]
            own += [operand.atom for part in parts for operand in part.operands if isinstance(operand.atom, Extent)]
            own += [place.wrap for leaf in plan.all_leaves(node) for place in leaf.places if place.wrap is not None]
            latest = max(part.order for part in parts)
            roots = {extent.find(latest) for extent in own}
            for check in self._shapes.checks:
                if check.order <= latest and any(extent.find(latest) in roots for extent in check.extents):
                    own += check.extents
            found[node] = own
        return found


def _is_only_read(statement: ir.Statement, nodes: Sequence[Node]) -> bool:
    """Whether a statement makes a view, or what is asked only for its shape: as memory it is better left as it is."""
    is_empty = isinstance(statement, ir.Call) and statement.callee is arrays.empty_sum
    return not nodes or is_empty or part_of_numbers(statement) is not None


def _as_operands(statement: ir.Statement) -> tuple[Operand, ...]:
    return tuple(Operand(atom) for atom in operands(statement) if isinstance(atom, ir.Var))


def _may_move(statement: ir.Statement) -> bool:
    """Whether a statement only computes, reads arrays, or writes one."""
    match statement:
        case ir.Call(targets=targets, callee=callee) if targets and not isinstance(
            callee, (ir.Definition, ir.Function)
        ):
            return effects_of(statement).pure
        case ir.Load():
            return True
        case ir.Store(base=ir.Var(type=ir.Array())):
            return True
        case _:
            return False


def _is_about_arrays(statement: ir.Statement) -> bool:
    return any(isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array) for atom in operands(statement))
