"""What follows a loop on the kind of its exit, put back where it came from.

The IR leaves a loop with a kind and decides after the loop what the kind means. A person returns from within the
loop, or writes ``for ... else``. ``return_from_loops`` rewrites the first; ``finish_of`` recognises the second.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator

from adjoint import ir
from adjoint.codegen.placement.uses import Uses
from adjoint.ir.rebuild import map_blocks, substitute
from adjoint.ir.walk import leaves, statements_in, vars_used
from adjoint.records import dataclass, replace

_FEW = 3


@dataclass(frozen=True, slots=True)
class _Question:
    """``exit == kind`` right after a loop: what follows if so, and otherwise."""

    answer: ir.Var
    kind: int
    exited: ir.Block
    otherwise: ir.Block


@dataclass(frozen=True, slots=True)
class Finish:
    """A loop and what follows it as ``for ... else``.

    ``exited`` is what follows an exit of this kind, ``exhausted`` the ``else`` clause. ``follows`` says that
    ``exited`` comes after the loop; otherwise it stands at the exit itself, and both hand values to ``targets``.
    """

    kind: int
    exited: ir.Block
    exhausted: ir.Block
    targets: tuple[ir.Var, ...]
    follows: bool


def exits_of(loop: ir.Loop) -> Iterator[ir.Exit]:
    """The places where a loop is left. Exits of inner loops are their own."""
    return (leaf for leaf in leaves(loop.body) if isinstance(leaf, ir.Exit))


def return_from_loops(function: ir.Function) -> ir.Function:
    """Puts a ``return`` or ``raise`` that follows a loop on one kind of exit at that exit."""
    return replace(function, body=_restore(function.body))


def _restore(block: ir.Block) -> ir.Block:
    statements = tuple(map_blocks(statement, _restore) for statement in block.statements)
    terminator = block.terminator
    if isinstance(terminator, ir.Branch):
        then, orelse = _restore(terminator.then), _restore(terminator.orelse)
        terminator = ir.Branch(terminator.cond, then, orelse, terminator.span)
    block = ir.Block(statements, terminator)
    while True:
        smaller = _restore_last_loop(block)
        if smaller is None:
            return block
        block = smaller


def _restore_last_loop(block: ir.Block) -> ir.Block | None:
    """The block with one question after its last loop answered inside the loop, if that can be done."""
    if len(block.statements) < 2 or not isinstance(block.terminator, ir.Branch):
        return None
    loop, test = block.statements[-2:]
    if not isinstance(loop, ir.Loop):
        return None
    question = _question(loop, test, block.terminator)
    if question is None or any(question.answer in vars_used(side) for side in (question.exited, question.otherwise)):
        return None
    before = block.statements[:-2]
    kinds = {leaf.kind for leaf in exits_of(loop)} | ({0} if loop.over is not None else set())
    if kinds <= {question.kind}:
        return ir.Block((*before, loop, *question.exited.statements), question.exited.terminator)
    if question.kind not in kinds:
        return ir.Block((*before, loop, *question.otherwise.statements), question.otherwise.terminator)
    if _may_move(question.exited, loop, question.kind):
        moved = _with_exits_replaced(loop, question.kind, question.exited)
        return ir.Block((*before, moved, *question.otherwise.statements), question.otherwise.terminator)
    rest = kinds - {question.kind}
    if len(rest) == 1 and _may_move(question.otherwise, loop, (kind := rest.pop())):
        moved = _with_exits_replaced(loop, kind, question.otherwise)
        return ir.Block((*before, moved, *question.exited.statements), question.exited.terminator)
    return None


def _question(loop: ir.Loop, test: object, choice: ir.If | ir.Branch) -> _Question | None:
    match test:
        case ir.Call(targets=(answer,), callee=callee, args=(asked, ir.Const(value=int() as kind)), kwargs=()) if (
            loop.exit is not None and asked is loop.exit and choice.cond is answer and not answer.named
        ):
            if callee is operator.eq:
                return _Question(answer, kind, choice.then, choice.orelse)
            if callee is operator.ne:
                return _Question(answer, kind, choice.orelse, choice.then)
    return None


def _may_move(block: ir.Block, loop: ir.Loop, kind: int) -> bool:
    """Whether what follows an exit may stand at it: it ends the function, and it is short or stands there once."""
    if kind == 0 or not all(isinstance(leaf, (ir.Return, ir.Raise)) for leaf in leaves(block)):
        return False
    if loop.exit in vars_used(block):
        return False
    sites = [leaf for leaf in exits_of(loop) if leaf.kind == kind]
    if not block.statements and not isinstance(block.terminator, ir.Branch):
        return not _reads_undefined(block, loop, sites)
    size = sum(1 for _ in statements_in(block))
    return len(sites) == 1 and size <= _FEW and not _reads_undefined(block, loop, sites)


def _reads_undefined(block: ir.Block, loop: ir.Loop, sites: list[ir.Exit]) -> bool:
    used = vars_used(block)
    return any(
        var in used and isinstance(value, ir.Undefined)
        for site in sites
        for var, value in _handed_out(loop, site).items()
    )


def _handed_out(loop: ir.Loop, leaf: ir.Exit) -> dict[ir.Var, ir.Atom]:
    return dict(zip(loop.targets, leaf.values, strict=True))


def _with_exits_replaced(loop: ir.Loop, kind: int, block: ir.Block) -> ir.Loop:
    return replace(loop, body=_replaced(loop, loop.body, kind, block))


def _replaced(loop: ir.Loop, body: ir.Block, kind: int, block: ir.Block) -> ir.Block:
    terminator = body.terminator
    if isinstance(terminator, ir.Branch):
        then = _replaced(loop, terminator.then, kind, block)
        orelse = _replaced(loop, terminator.orelse, kind, block)
        return ir.Block(body.statements, ir.Branch(terminator.cond, then, orelse, terminator.span))
    if isinstance(terminator, ir.Exit) and terminator.kind == kind:
        here = substitute(block, _handed_out(loop, terminator))
        return ir.Block((*body.statements, *here.statements), here.terminator)
    return body


def finish_of(block: ir.Block, position: int, uses: Uses) -> tuple[Finish, int] | None:
    """Reads the loop at a position and what follows it as ``for ... else``.

    Returns
    -------
    The finish, and the position of the first statement after it. None where this is no ``for ... else``.
    """
    loop = block.statements[position]
    if not isinstance(loop, ir.Loop) or loop.over is None or loop.exit is None or uses.count(loop.exit) != 1:
        return None
    rest = block.statements[position + 1 :]
    if not rest:
        return None
    choice = rest[1] if len(rest) > 1 else block.terminator
    if not isinstance(choice, (ir.If, ir.Branch)):
        return None
    question = _question(loop, rest[0], choice)
    if question is None or uses.count(question.answer) != 1:
        return None
    if any(question.answer in vars_used(side) for side in (question.exited, question.otherwise)):
        return None  # it is also what one side yields
    kinds = {leaf.kind for leaf in exits_of(loop)}
    if question.kind == 0 and len(kinds) == 1:
        question = _Question(question.answer, kinds.pop(), question.otherwise, question.exited)
    elif kinds != {question.kind}:
        return None
    if isinstance(choice, ir.Branch):
        if any(isinstance(leaf, ir.Yield) for leaf in leaves(question.otherwise)):
            return None
        return Finish(question.kind, question.exited, question.otherwise, (), True), len(block.statements)
    sites = sum(1 for _ in exits_of(loop))
    simple = not question.exited.statements and isinstance(question.exited.terminator, ir.Yield)
    if sites > 1 and not simple:
        return None
    return Finish(question.kind, question.exited, question.otherwise, choice.targets, False), position + 3
