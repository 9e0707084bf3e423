"""AD023x: derivatives changed, or asked for, in the flow of a function."""

from adjoint.diagnostics.entry import Entry

ENTRIES = {
    "AD0230": Entry(
        title="what takes the place of a cotangent does not fit it",
        helps=("return a cotangent of the structure of the value, or None to leave it as it is",),
        explanation="""
            The function that ad.with_derivative(x, fn) is given takes the cotangent of x and returns what takes its
            place: a number for a number, an array of the same shape for an array, a tuple, list, dict or tangent
            object with the same parts. None leaves the cotangent as it is, or as the function has written it.

                x = ad.with_derivative(x, lambda ct: "clipped")      # refused: a text is no cotangent

            Return the cotangent:

                x = ad.with_derivative(x, lambda ct: max(min(ct, 1.0), -1.0))

            A list or dict whose items are only told apart when the program runs is refused as a whole: apply the
            function to the numbers and arrays in it.
            """,
    ),
    "AD0231": Entry(
        title="this block cannot run in the reverse sweep",
        explanation="""
            The block of "with ad.backward(x) as x_bar" runs where the cotangent of x passes this place in the reverse
            sweep, and is left out everywhere else. Behind it nobody knows what it has assigned, and it cannot be left
            but by its end or by an exception.

                with ad.backward(x) as x_bar:
                    largest = max(largest, abs(x_bar))   # refused: a variable of the function

            The block has variables of its own, and assigns x_bar, which goes on as the cotangent. What shall be seen
            later goes into a list that is made outside of the function:

                with ad.backward(x) as x_bar:
                    seen.append(abs(x_bar))

            The statement stands alone, and names a variable of the function, or a tuple of them.
            """,
    ),
    "AD0232": Entry(
        title="it is not known how this value was computed from the variable",
        helps=("decorate the function with @ad.compile, or differentiate a function that calls it",),
        explanation="""
            ad.derivative(y, wrt=x) is the derivative of a number with respect to a variable of the same function, which
            it was computed from. The text of the function tells how, wherever Adjoint reads it: in functions that
            ad.compile or an operator is given, and in what these call. Plain Python only knows the numbers.

                def slope(x):
                    y = math.log(x)
                    return ad.derivative(y, wrt=x)

                slope(2.0)                                   # refused
                ad.compile(slope)(2.0)                       # 0.5

            The variable has a name in the function that asks. What was computed since it was assigned is run again for
            the derivative: so it may change memory only that is made since, and do nothing but compute. Iterations of a
            loop around that have run are run again, if it is a 'for' loop over a range.
            """,
    ),
    "AD0233": Entry(
        title="this is no adjoint of the function around",
        explanation="""
            @ad.adjoint(wrt="a") decorates a function of the seed that is defined in the body of another function, and
            gives the cotangent of its parameter a. What the function returns behind that place has this derivative.
            With of="y" it is the derivative of the variable y, as it is at this place.

                def foo(a, b):
                    x = a * a

                    @ad.adjoint(wrt="c")                     # refused: there is no parameter c
                    def _(seed):
                        return seed * x

                    return x * a

            Name the parameters that vary, and return one cotangent for each:

                    @ad.adjoint(wrt="a")
                    def _(seed):
                        return 3.0 * seed * x

            It stands in the body itself, not in a branch or a loop, and the function returns behind loops.
            """,
    ),
}
