"""AD09xx: the compiler itself."""

from adjoint.diagnostics.entry import Entry

ENTRIES = {
    "AD0901": Entry(
        title="internal error of the compiler",
        helps=("please report it, with the function and the message; no wrong derivative was returned",),
        explanation="""
            A check inside the compiler failed. The program is not at fault, and no wrong derivative was returned.
            Please report it with the function and the whole message. Until it is mended, try to write the place it
            names in another way.
            """,
    ),
    "AD0902": Entry(
        title="the function is nested more deeply than Python's limit of recursion allows",
        helps=(
            "allow more before the derivative is made: sys.setrecursionlimit(10_000)",
            "or make a loop of functions that call each other in a long chain",
        ),
        explanation="""
            The compiler goes down into every function that is called, and into every branch and loop, as Python does
            when the program runs; it takes some ten calls of its own for each. Python allows 1,000 in all, which is
            enough for some eighty functions that call one another.

                import sys

                sys.setrecursionlimit(10_000)
                ad.grad(deep)(1.0)

            Functions that call themselves are not meant: they are read once.
            """,
    ),
    "AD0903": Entry(
        title="this version of Python is not understood yet",
        helps=("take an older version of Python",),
        explanation="""
            On a version of Python that Adjoint's tests have not run on, some thirty programs are differentiated first,
            and compared with differences. Where they do not agree, Python reads or compiles programs in a way that
            Adjoint does not know, and no derivative could be trusted. Please report it, with the names of the programs.

                ad.grad(loss)(1.0)                           # refused, as all derivatives are
            """,
    ),
}
