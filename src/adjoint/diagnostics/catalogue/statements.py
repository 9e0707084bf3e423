"""AD03xx: statements and memory."""

from adjoint.diagnostics.entry import Entry

ENTRIES = {
    "AD0301": Entry(
        title="cannot differentiate this statement",
        explanation="""
            The statement, or this form of it, is not supported where a derivative depends on it: deleting an item
            that varies, exec() and eval(), the frame of the function, importing inside the function,
            assigning through an object whose class runs code of its own that is not visible.

                def loss(weights):
                    del weights[0]                           # refused
                    return sum(weights)

            Say the same with ordinary assignments, loops and calls:

                def loss(weights):
                    return sum(weights[1:])

            Statements that touch nothing the derivative depends on are never a problem.
            """,
    ),
    "AD0302": Entry(
        title="a value that varies is written to memory that outlives the call",
        helps=("return the value, and keep it where the function is called",),
        explanation="""
            What a function assigns outside of itself, or puts into objects, lists, dicts and arrays that it has
            not made, are plain values afterwards, and constants of the next call. A derivative that is taken inside
            of a differentiated function is another matter: what is assigned there depends on the outer arguments,
            too, and behind the inner derivative nobody would know how.

                best = 0.0

                def loss(x):
                    def energy(y):
                        global best
                        best = y * y                         # refused
                        return best * y

                    return ad.grad(energy)(x) * best

            Return the value (has_aux=True takes a second result), keep it in a list, or write the constant:
            best = ad.stop_gradient(y * y).
            """,
    ),
    "AD0303": Entry(
        title="cannot prove that this write in place is differentiated correctly",
        helps=("write to a copy: y = y.copy()", "or make a new array instead of writing into the old one"),
        explanation="""
            Arrays, lists and objects can be written in place; the derivative then has to know every name that
            leads to the same memory. Here it does not: the memory may be shared with something that is not
            visible, is handed to a function that may write it, or is written by an operation whose result is
            random.

                def loss(x, rng):
                    rng.shuffle(x)                           # refused: which element went where is not known
                    return x[0]

            Write to a copy that nothing else refers to, or make a new array:

                def loss(x, order):
                    return x[order][0]
            """,
    ),
    "AD0304": Entry(
        title="the variable {name|used here} may be unbound",
        helps=("assign it before the branch or the loop",),
        explanation="""
            On some path to this point the variable has no value. Python would raise an UnboundLocalError on that
            path; the derivative needs a value on each.

                def loss(x):
                    if x > 0:
                        scale = 2.0
                    return scale * x                         # refused: unbound if x <= 0

            Assign the variable on every path, most simply before the branch or the loop:

                def loss(x):
                    scale = 1.0
                    if x > 0:
                        scale = 2.0
                    return scale * x
            """,
    ),
    "AD0305": Entry(
        title="cannot differentiate through an iterator",
        helps=("hand over the list or array that it runs through", "or loop over it with 'for'"),
        explanation="""
            An iterator gives each of its values once, and what it gives depends on who has asked before. The
            reverse sweep of a derivative needs them again. So generators cannot be handed in.

                def loss(values):
                    return sum(v * v for v in values)

                ad.grad(loss)(x for x in (1.0, 2.0))         # refused
                ad.grad(loss)([1.0, 2.0])                    # is fine

            Generators, generator expressions, map, filter and zip that are made in the function are fine, whoever
            asks for their items. Those of itertools have to be gone through once, by a loop or by a function; and
            an iterator that a function keeps, as a default value, finds at each call what the last one has left.
            Make a list first: list(itertools.dropwhile(f, values)).

            Of several iterators that are gone through side by side, as by zip, all but one may have to be computed
            before the loop. That is refused where the loop, or another of them, could tell.
            """,
    ),
    "AD0306": Entry(
        title="a list or dict changes while a loop runs through it",
        helps=("loop over a copy: for item in list(items)",),
        explanation="""
            A loop over a dict, a queue, or a list that is gone through backwards needs the number of items before its
            first iteration. A loop over a list, its enumerate or zip asks for it in each iteration, as Python does.

                def loss(table):
                    for key in table:
                        table[key + "!"] = 0.5 * table[key]  # refused; Python raises RuntimeError
                    return sum(table.values())

            Loop over a copy, for key in list(table), or build a second container.
            """,
    ),
    "AD0307": Entry(
        title="a value that varies is stored in an object that Adjoint cannot look into",
        helps=("use a list, a dict, or a dataclass",),
        explanation="""
            The derivative follows values through lists, tuples, dicts, arrays and objects of classes written in
            Python, and through collections.deque, defaultdict, OrderedDict and Counter. It cannot follow them into a
            set, a logger, or an object of an extension module: what is read back from there would count as a constant.

                def loss(x):
                    table = collections.ChainMap()
                    table["x"] = x * x                       # refused
                    return table["x"]

            Use a list, a dict or a dataclass. To store a plain number on the side, for a plot say, store
            ad.stop_gradient(x * x).
            """,
    ),
    "AD0308": Entry(
        title="a value that varies is assigned in 'try' before a statement that may raise",
        helps=("move the assignment after the statement that may raise, or out of the 'try'",),
        explanation="""
            When a later statement raises, the handler runs with what was assigned until then. Numbers, arrays, lists,
            dicts and objects are kept for that; a tuple or a function is not, and of what variables hold that did not
            exist before only numbers and arrays are. Neither can be known how far a function came that calls itself,
            or a block in a context manager that is not np.errstate or warnings.catch_warnings.

                def loss(x, w):
                    pair = (x, x)
                    try:
                        pair = (x * 2, x)                    # refused: pair may or may not have been replaced below
                        z = 1 / w
                    except ZeroDivisionError:
                        z = 0.0
                    return pair[0] * z

            Move the assignment after what may raise, or out of the try statement. Variables that are not read behind
            the exception are fine, whatever they hold.
            """,
    ),
    "AD0309": Entry(
        title="this cannot be run again",
        helps=("move it out of what is run again",),
        explanation="""
            The derivative of ad.checkpoint(f)(x), and of a loop over ad.checkpointed(...), keeps little: what is
            missing in the reverse sweep is computed again. So running it again must give the same, and nobody may see
            that it happened.

                def loss(x, rng):
                    for i in ad.checkpointed(range(1000), snapshots=10):
                        x = x + 0.1 * rng.normal()           # refused: other numbers the second time
                    return x

            Draw the numbers before the loop and index them inside; print and record outside of it. Arrays may be
            written: states are copied. A variable that refers to one array now and another one later may not be written
            through: assign the elements, u[:] = v.
            """,
    ),
    "AD0310": Entry(
        title="the name {name|used here} is not defined",
        explanation="""
            Nothing in the function, around it, or in its module has this name, and Python has none built in. Python
            would raise a NameError when that runs; Adjoint sees it before.

                def loss(x, scale):
                    return x * scael                         # refused: scale is meant

            Correct the name, or import it. A global variable has to have a value when the derivative is made.
            """,
    ),
    "AD0311": Entry(
        title="an object that outlives the call is written",
        helps=("return the value, and keep it where the function is called",),
        explanation="""
            An attribute or an item is assigned of an object that is a constant for the derivative: a member of an
            enumeration, a class with a metaclass of its own. Adjoint follows what lists, dicts, arrays and objects hold
            that a function is given or captures, global variables, and attributes of functions, classes and modules,
            but not these.

                class Level(enum.Enum):
                    LOW = 1

                def loss(x):
                    Level.LOW.calls = 1                      # refused: an attribute of a member
                    return x * x

            Return what is to be kept beside the value, and keep it outside; or count in a global variable, or in an
            attribute of a function:

                def loss(x):
                    loss.calls += 1
                    return x * x

                loss.calls = 0
            """,
    ),
    "AD0312": Entry(
        title="processes may not agree on whether they exchange these messages",
        helps=("decide by what all processes have: the sum of comm.Allreduce, the number of the process, of the step",),
        explanation="""
            A message has two ends. Where the data of one process decide whether it sends or receives, others may wait
            for what never comes; and so would their derivatives. So whatever decides about messages has to be the same
            for all, or not be data: constants, arguments that are not differentiated, the number of the process, and
            what all processes receive alike, as the sum of Allreduce, of Allgather and Bcast.

                def loss(x, comm):
                    if np.sum(x) > 0.0:                      # refused: each process has an x of its own
                        comm.Allreduce(MPI.IN_PLACE, x)
                    return np.sum(x)

            Decide by a number that all have:

                    if comm.allreduce(np.sum(x)) > 0.0:
                        comm.Allreduce(MPI.IN_PLACE, x)

            The same holds for loops that data end, for exceptions that are handled, and for what a function that
            calls itself sends.
            """,
    ),
    "AD0313": Entry(
        title="there is no {name|Jacobian} of a function that exchanges messages",
        helps=("multiply it with one direction: ad.jvp, ad.vjp, ad.hvp",),
        explanation="""
            The arguments and results of all processes together are what such a function maps, and each process has a
            part of both. A column of its Jacobian belongs to one argument of one process: the others have zero tangents
            then. So a process by itself has no Jacobian, no Hessian, and no series.

                def total(x, comm):
                    return comm.allreduce(np.sum(x * x))

                ad.hessian(total)(x, comm)                   # refused

            Multiply with directions that all processes have a part of, each at its place:

                ad.hvp(total, (x, comm), (v, None))
            """,
    ),
}
