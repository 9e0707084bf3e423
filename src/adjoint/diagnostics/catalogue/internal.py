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
}
