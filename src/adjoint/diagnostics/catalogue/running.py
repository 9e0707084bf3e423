"""AD08xx: derivatives that run."""

from adjoint.diagnostics.entry import Entry

ENTRIES = {
    "AD0801": Entry(
        title="the gradient is not finite",
        helps=("keep the function away from there, or say what it is there: np.sqrt(s) if s > 0.0 else 0.0",),
        explanation="""
            With debug=True a gradient that is infinite or not a number is an error, which names the first line of the
            function at which a cotangent becomes so. There the slope of an operation is infinite, or a product of zero
            and infinity has no value.

                def norm(x):
                    return np.sqrt(np.sum(x * x))            # at x = 0 the slope of the root is infinite

                ad.grad(norm, debug=True)(np.zeros(3))

            The message shows the values there, and the value that was not finite before, if there was one. Keep the
            function away from such a point, or say what its slope is there:

                def norm(x):
                    square = np.sum(x * x)
                    return np.sqrt(square) if square > 0.0 else 0.0
            """,
    ),
}
