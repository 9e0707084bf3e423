"""What one attempt at lowering takes down, and what is known from the attempts before."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Mapping
from typing import Any

from adjoint import ir
from adjoint.diagnostics import Diagnostic
from adjoint.diagnostics.spans import Span
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.state.blocks import Open
from adjoint.frontend.interpreter.state.conditions import Conditions
from adjoint.frontend.interpreter.values import Cell, Closure, Local, Record, Ref, RuntimeSites, Site, Value
from adjoint.records import dataclass, field, replace
from adjoint.target import ALL_INLINED, PYTHON, Target

Form = dict[str, joins.Shape]
"""What is known of the arguments of a call."""


PATIENCE = 20

Path = tuple[Any, ...]
"""A way to an input, by identities."""
Kept = tuple[int | None, str]
"""A variable: the identity of what has it, where that outlives the call, or how many calls out it is, negative; and
its name."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """Calls of a function that one could serve, and how many statements they took, inlined."""

    form: Form
    calls: int
    statements: int


@dataclass(eq=False, slots=True)
class WrittenOutside:
    """What functions write whose derivative is declared, each with what to say if the program reads it.

    Attributes
    ----------
    variables, attributes
        Variables, and attributes of objects, that are bound anew, by the identity of what has them and their names:
        with the owner, and whether they carry no derivative afterwards if they carried none.
    things
        Arrays, containers and objects that are changed, by identity.
    entered
        The objects, containers and arrays that the program has from outside.
    """

    variables: dict[tuple[int, str], tuple[Any, bool, Any]] = field(default_factory=dict)
    attributes: dict[tuple[int, str], tuple[Any, bool, Any]] = field(default_factory=dict)
    things: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    entered: list[tuple[Any, Value]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.variables or self.attributes or self.things)


@dataclass(eq=False, slots=True)
class Run:
    """What one attempt at lowering takes from outside the function."""

    root: Any = None
    """The function that is differentiated."""
    all_constant: bool = False
    """Everything captured is a constant: for functions of rules."""
    of_users: bool = False
    """Those are rules of users, which may capture what changes."""
    captured: dict[Any, Value] = field(default_factory=dict)
    ways: dict[Path, tuple[Any, str]] = field(default_factory=dict)
    """How these were captured, and what they are called."""
    outside: dict[Any, Value] = field(default_factory=dict)
    """What captured variables and objects held on entry: true on every path, wherever it was looked up first."""
    objects: dict[int, Value] = field(default_factory=dict)
    given_objects: dict[ir.Var, Any] = field(default_factory=dict)
    """The objects from outside that exist at run time, as they are where lowering begins."""
    fields_taken: set[tuple[type, str]] = field(default_factory=set)
    """Their fields that were taken for the functions and objects that they hold there."""
    told_apart: dict[Site, Any] = field(default_factory=dict)
    """The objects that others of their kind cannot stand for: a derivative is declared of them or of their methods."""
    cells: dict[int, Cell] = field(default_factory=dict)
    contents: dict[Cell, Any] = field(default_factory=dict)
    """The cells of function objects in which variables live that are captured."""
    given: dict[Cell, tuple[ir.Var, int]] = field(default_factory=dict)
    """Of those that functions among the arguments capture: the function, and the place among its cells."""
    globals: dict[tuple[int, str], Cell] = field(default_factory=dict)
    """Global variables, and attributes of functions and classes, that the call assigns: by what has them, and name."""
    is_bound: dict[Cell, Cell] = field(default_factory=dict)
    """Of variables of which handlers ask whether they are bound: those that tell."""
    presence: dict[Cell, Cell] = field(default_factory=dict)
    """Of those that were not there when the call began: the variables that tell whether they are."""
    places: dict[Cell, ir.Atom] = field(default_factory=dict)
    """Where variables live that outlive the call and are assigned."""
    inputs: list[Any] = field(default_factory=list)
    guards: list[Any] = field(default_factory=list)
    whole_inputs: dict[ir.Var, Path] = field(default_factory=dict)
    """Integers that are given, and could be taken for known."""
    outside_writes: list[ir.Var] = field(default_factory=list)
    """What is written of which global or captured variables may hold the memory."""
    reasons: list[Diagnostic] = field(default_factory=list)
    """Why paths end by an exception that is certain: told where none returns."""
    argument_guards: list[tuple[tuple[Any, ...], int]] = field(default_factory=list)
    """Integers, and lengths of lists, that the specialisation takes for known."""
    sites_of_storage: list[tuple[ir.Storage, Site]] = field(default_factory=list)
    counted_lists: list[tuple[ir.Storage, Path]] = field(default_factory=list)
    """Lists of which an integer that is given says how often they repeat items."""
    made: list[ir.Var] = field(default_factory=list)
    """Containers and objects that exist at run time, as they are made."""
    set_later: set[tuple[type, str]] = field(default_factory=set)
    """Attributes, by their classes, that an object lacks when it is made, and that are assigned later."""
    asked_for: set[str] = field(default_factory=set)
    """Attributes of which the program asks at run time whether an object has them."""
    come_to: list[Site] = field(default_factory=list)
    """All places that were asked for, in order."""
    loose: list[tuple[ir.Var, Any]] = field(default_factory=list)
    """Containers that are given, whose items are told apart at run time only, with what they are now."""
    diagnostics: dict[tuple[str, Span | None], Diagnostic] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)
    known_sets: dict[int, Any] = field(default_factory=dict)
    """Sets from outside of which it was taken for known what lies in them, by identity."""
    asked_classes: dict[type, None] = field(default_factory=dict)
    """Classes whose special methods were looked for."""
    asks_for_kinds: bool = False
    """Whether something depends on whether a number is a float, an integer or a truth value."""
    promotes_items: bool = False
    """Whether a container holds an integer as a float."""
    asked_for_dtypes: list[ir.Var] = field(default_factory=list)
    """Arrays of which the dtype was taken for known."""
    asks_for_owners: bool = False
    """Whether something depends on whether a number is one of Python or of NumPy."""
    arguments: dict[int | str, Any] = field(default_factory=dict)
    """The arguments of the call for which this is lowered, for messages."""
    closures: dict[Any, Closure] = field(default_factory=dict)
    defaults_taken: set[tuple[Any, int | str | None]] = field(default_factory=set)
    """Default values that calls take, by function and place or name; None for all of a function."""
    changed: list[tuple[Ref, Record, Record]] = field(default_factory=list)
    """Arguments that the function of an inner derivative changed: what they held, and what they hold after it."""
    taken_over: set[tuple[Ref, Any]] = field(default_factory=set)
    """Of these, the parts of which it is known what they hold, by their names."""
    stored_constants: list[tuple[ir.Var, ir.Var, str, Span | None]] = field(default_factory=list)
    """What is stored in fields that carry no derivative, the constants that are read there, the fields, and where."""
    checkpointed: dict[ast.AST, tuple[ir.Atom, ...]] = field(default_factory=dict)
    """Loops that keep few of their states: how many, in what memory, how many on disk."""
    has_marks: bool = False
    """Whether there are calls that are run again."""
    activations: list[tuple[ast.AST, tuple[Value, ...], object]] = field(default_factory=list)
    """The functions being inlined, outermost first, with their arguments."""
    surgery: bool = False
    """Whether cotangents are changed somewhere."""
    behind_blocks: dict[ir.Var, tuple[ir.Var, str]] = field(default_factory=dict)
    """What variables are behind blocks of the reverse sweep: what they were before, and their names."""
    flow: bool = False
    """Whether derivatives of values are asked for, whose flow the end of the function shows."""
    declared: list[Any] = field(default_factory=list)
    """The declared derivatives being followed, outermost first."""
    written: WrittenOutside = field(default_factory=WrittenOutside)
    """What functions write outside whose derivative is declared."""
    made_by: dict[Value, Any] = field(default_factory=dict)
    """What calls of libraries' functions gave that are not looked into, with the functions."""
    functions: dict[types.CodeType, types.FunctionType] = field(default_factory=dict)
    """Functions made here that capture nothing, as code that is not visible is handed them."""
    memos: dict[Any, Value] = field(default_factory=dict)
    """Functions that remember what they gave, and that call themselves: what stands for them in the call at hand."""
    made_with: dict[ir.Var, tuple[ir.Atom, ...]] = field(default_factory=dict)
    """What functions of which nobody sees the body were given that may vary, by the variable of their result."""
    caught: set[ir.Var] = field(default_factory=set)
    """The exceptions that handlers have names for."""
    conditions: Conditions = field(default_factory=Conditions)
    called_values: dict[Span, Span] = field(default_factory=dict)
    """Where functions of which nobody sees the body are called by a name, and where that name gets its value."""
    originals: set[ir.Var] = field(default_factory=set)
    """What functions gave whose derivative is declared, where they were called as they stand."""
    repeated: dict[ast.AST, int] = field(default_factory=dict)
    """How often each function was inlined in itself."""
    emitted: int = 0
    """How many statements were emitted so far."""
    steps: int = 0
    """How many statements of the source were followed so far."""
    most_steps: int = sys.maxsize
    """After how many of them :class:`TooMuch` is raised."""
    inlined: dict[ast.AST, tuple[Repeated, ...]] = field(default_factory=dict)
    """How many statements inlined calls of a function took."""
    has_grown: bool = False
    """Whether something was found out that concerns what was lowered before: this starts again when it is through."""
    again: int = 0
    """How often something was lowered again on its own."""
    definitions: dict[Any, Any] = field(default_factory=dict)
    lookups: list[Any] = field(default_factory=list)
    """What functions that stay ones, and are being lowered, have looked up outside of themselves, innermost last."""
    received: dict[Ref, Mapping[Any, Value]] = field(default_factory=dict)
    """Objects that they are handed or that they return: what there was before their call."""
    sets: dict[ir.Var, Any] = field(default_factory=dict)
    """Sets that were made empty, by variable, and where in the source."""
    makes_records: bool = False
    makes_of_items: bool = False
    """Whether an array is made of a list of unknown length, which has another dtype or rank where the list is empty."""
    """Whether an array of records was made."""
    pools: dict[Site, ir.Var] = field(default_factory=dict)
    """The lists of all objects of classes whose objects refer to each other."""
    scope: tuple[Any, ...] = ()
    """Which function makes them: the whole, or one whose derivative is taken inside."""
    starts: dict[tuple[Any, ...], list[ir.Statement]] = field(default_factory=lambda: {(): []})
    """By function, what makes the lists where it begins."""
    watches: list[list[ir.Statement]] = field(default_factory=list)
    """Where statements are taken down while they are emitted."""
    handled: int = 0
    """How many ``try`` statements are around whose handlers may go on."""
    choices: int = 0
    """Of how many values, that may have one of several structures or lengths, one is being looked at."""
    together: int = 1
    """How many structures these values have together: for each of them the code that is being lowered runs."""
    raising: int = 0
    """How much was emitted in them that may raise."""
    written_through: set[Site] = field(default_factory=set)
    """Containers from outside whose items are known one by one, and which are written: they were of several kinds."""
    empty_boxes: dict[ir.Var, Site] = field(default_factory=dict)
    """Those of variables that are not bound before: which ``try`` statement they are for."""
    boxes: dict[Cell, tuple[ir.Var, ...]] = field(default_factory=dict)
    """The lists of one item in which variables are kept for handlers."""
    torn: dict[ir.Var, tuple[Site, Cell, int]] = field(default_factory=dict)
    """What stands for variables that may have been written or not, with the ``try`` statement that knows, and how many
    calls out of it the variable is."""
    classes: dict[Site, int] = field(default_factory=dict)
    """How often each statement was run that defines a class."""
    generator_classes: dict[ast.AST, dict[frozenset[tuple[str, Cell]], type]] = field(default_factory=dict)
    """The classes of generators that are objects: by function, and by the variables that it captures."""
    handed_out: list[Any] = field(default_factory=list)
    """Arrays that recursive functions return."""
    loops: list[tuple[Site, frozenset[Cell]]] = field(default_factory=list)
    """The loops of which it is being found out what they carry, outermost first, with what they assign."""
    alone: dict[ir.Var, Open | None] = field(default_factory=dict)
    """Variables of loops that alone have what may be an array: parameters, with the body, and what is left behind."""
    relied_on: set[ir.Var] = field(default_factory=set)
    """Those of them that were written as if that was so."""
    prologue: Open = field(default_factory=Open)
    """Loads from arguments and captured data, before everything else."""


@dataclass(eq=False, slots=True)
class Settings:
    """What is known beforehand, and what earlier attempts at lowering found out."""

    target: Target = PYTHON
    attempts: int = 0
    """How often lowering was started."""
    lowered: list[int] = field(default_factory=lambda: [0])
    """How many statements were lowered in all attempts, whichever way."""
    went_back: int = 0
    """How often it went back to a statement or a call."""
    runtime_sites: RuntimeSites = field(default_factory=RuntimeSites)
    bare_sites: RuntimeSites = field(default_factory=RuntimeSites)
    """Where objects are made that must exist at run time before their ``__init__`` has run."""
    texts_told_apart: set[Site] = field(default_factory=set)
    """Where lists are made of which it must be known which text is taken: it names an attribute."""
    unrolled: set[Site] = field(default_factory=set)
    """Loops over known ranges in which structures are made that cannot exist at run time."""
    one_by_one: set[Site] = field(default_factory=set)
    """Loops that change what their items are computed from, so that these cannot be computed before them."""
    by_position: set[Site] = field(default_factory=set)
    """Loops through lists that grow, shrink or are put in another order meanwhile."""
    linked: frozenset[type] = frozenset()
    """Classes whose objects refer to each other: all of one lie in one list."""
    refused_linked: bool = False
    """Whether such an object is handed on as a whole, which cannot be."""
    may_be_linked: set[type] = field(default_factory=set)
    """Those of which that could be so."""
    tagged: bool = False
    """Whether what lies in a container may have one of several structures: a number beside it says which."""
    made_functions: dict[Any, type[ir.MadeFunction]] = field(default_factory=dict)
    """The classes of tuples that stand for functions, by what these have in common."""
    mixed: set[ast.AST | None] = field(default_factory=set)
    """Where something was refused that would be possible then, by this attempt and those before."""
    beyond_links: bool = False
    """Whether items were refused of several structures that are none either where classes are linked."""
    written_matrices: bool = False
    """Whether what varies is written into sparse matrices that are filled entry by entry."""
    lists_have_items: bool = False
    """Whether lists of which arrays are made have to have items, since dtypes or ranks of arrays are asked for."""
    fields_apart: bool = False
    """Whether what varies is written into arrays of records, of which each field is an array then."""
    stepped: set[Site] = field(default_factory=set)
    """Where iterators are made to which the program comes back: objects, which know their place."""
    not_alone: set[tuple[Site, str]] = field(default_factory=set)
    """Loops with variables that may hand on an array to the next iteration that others have, too."""
    growing: set[tuple[Site, str]] = field(default_factory=set)
    """Loops with variables that hold ever longer tuples."""
    open_sets: set[int] = field(default_factory=set)
    """Sets from outside, by identity, with which more is done than asking what lies in them."""
    kinds_told_apart: bool = False
    """Whether it has to be known of numbers whether they are floats, integers or truth values."""
    owners_told_apart: bool = False
    """Whether it has to be known of numbers whether they are Python's or NumPy's."""
    fixed_sites: set[Site] = field(default_factory=set)
    """List arguments whose length must be known."""
    apart: dict[Site, Diagnostic] = field(default_factory=dict)
    """Containers from outside that are known item by item, as these have several structures: what is refused if not."""
    single_sites: set[Site] = field(default_factory=set)
    """List arguments of whose objects more is asked than arrays of their fields can tell."""
    site_types: dict[Site, ir.Type] = field(default_factory=dict)
    guesses: dict[Any, ir.Scalar | None] = field(default_factory=dict)
    """By place in the source: what a list that starts empty is taken to hold that is made there; None for nothing."""
    unkept: set[tuple[Site, str]] = field(default_factory=set)
    """By ``try`` statement, variables that cannot be kept so, and are not bound before."""
    boxed: dict[Site, dict[Kept, None]] = field(default_factory=dict)
    """By ``try`` statement, the variables that are kept where handlers find them."""
    classes: dict[Any, Local] = field(default_factory=dict)
    """Classes that are defined inside functions: by statement, and how often that was run before."""
    object_sets: set[Any] = field(default_factory=set)
    """Where in the source sets are made that hold objects which are equal to themselves only."""
    tracked: set[tuple[ast.AST, str]] = field(default_factory=set)
    """Variables, by function and name, with respect to which derivatives of values are asked for."""
    adjoined: set[ast.AST] = field(default_factory=set)
    """Functions inside of which adjoints are defined."""
    called: set[Any] = field(default_factory=set)
    """Code of functions that call themselves: called, not inlined."""
    nested: set[Any] = field(default_factory=set)
    """Code of functions that were being inlined several times in themselves."""
    often: set[Any] = field(default_factory=set)
    """Code of functions that are called because they are in themselves so often."""
    kept: dict[Any, tuple[Repeated, ...]] = field(default_factory=dict)
    """Code of functions that are called because inlining repeats too much: how many calls took how many statements."""
    inlined: set[Any] = field(default_factory=set)
    """Code of functions that cannot stay calls."""
    rules_inlined: bool = False
    """Whether those of the definitions of library functions are inlined, which say by their values what they cover."""
    forms: dict[Any, list[Form]] = field(default_factory=dict)
    """For which structures of arguments functions are lowered that stay calls."""
    captured_numbers: dict[Any, dict[Any, ir.Const | None]] = field(default_factory=dict)
    """What is known of the numbers that these find outside, by code and the way to the number; None: not the same."""
    numbers_kept: set[Any] = field(default_factory=set)
    """Code of those that cannot be given such numbers."""
    widened: set[Any] = field(default_factory=set)
    """Code of functions that call themselves with ever other numbers that are known."""
    patience: int = 1
    """How many times as often a function may be inlined in itself: more where calling it is refused."""
    copied_results: set[Any] = field(default_factory=set)
    """Functions that call themselves and return arrays of their own that are written elsewhere."""
    shared_results: set[Any] = field(default_factory=set)
    """Functions that call themselves and return memory that others have, and that is written."""
    uncovered: dict[tuple[Any, Span | None], str] = field(default_factory=dict)
    """Definitions that said of a call, by its place, that they do not cover it, and what it is that they do not."""
    constant_inputs: set[Path] = field(default_factory=set)
    """Paths of integer inputs whose value must be known."""
    lifted: dict[Path, tuple[Any, str]] = field(default_factory=dict)
    """What is captured and written: the way to it, by identities, and the way itself and what it is called."""
    assigned_outside: dict[Any, tuple[Any, str]] = field(default_factory=dict)
    """Variables that outlive the call and that it assigns: the dict, the function, class or cell, and the name."""
    unseen: dict[Any, Diagnostic] = field(default_factory=dict)
    """Classes and methods of libraries that are not looked into, with what was in the way."""
    wanted: set[Any] = field(default_factory=set)
    """Functions of libraries that are given constants, and looked into: what they give is called, or written."""
    fields_assigned: set[tuple[type, str]] = field(default_factory=set)
    """Fields of objects from outside that it assigns: which function or object they hold is not known."""
    assigned_in_classes: set[tuple[ast.AST, str]] = field(default_factory=set)
    """Attributes that the function assigns, of classes that are defined inside of it: by statement and name."""
    loop_shapes: dict[Any, dict[Any, joins.Shape]] = field(default_factory=dict)

    def unroll(self, loop: Site | frozenset[Path]) -> bool:
        """Whether it is new that a loop is to be unrolled, or that inputs which bound it must be known for that."""
        if isinstance(loop, Site):
            if loop in self.unrolled:
                return False
            self.unrolled.add(loop)
        else:
            if loop <= self.constant_inputs:
                return False
            self.constant_inputs |= loop
        self.runtime_sites.clear()
        self.bare_sites.clear()
        self.site_types.clear()
        return True

    def begun_anew(self, linked: frozenset[type], *, inlined: bool = False, tagged: bool = False) -> Settings:
        """Nothing is known but these classes; the functions that were called stay inlined for as long as can be."""
        target = replace(self.target, inlined=ALL_INLINED) if inlined else self.target
        patience = PATIENCE if inlined else 1
        again = Settings(target, self.attempts, went_back=self.went_back, linked=linked, patience=patience)
        again.made_functions, again.lowered = self.made_functions, self.lowered
        again.tagged, again.mixed = tagged or self.tagged, self.mixed
        return again
