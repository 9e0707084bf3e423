"""AD07xx: parameters and their updates."""

from adjoint.diagnostics.entry import Entry

ENTRIES = {
    "AD0701": Entry(
        title="cannot unroll '{name|the function}'",
        helps=("write what happens to one parameter, as assignments: def descend(p, g, *, rate): p -= rate * g",),
        explanation="""
            ad.unrolled takes a function that says what happens to one parameter, and writes its statements out for
            each parameter of a structure. So it can consist of assignments to names and of 'if' only; its positional
            parameters stand for structures, its keyword-only ones are constants.

                @ad.unrolled
                def descend(p, g, *, rate):
                    p -= rate * g

            What it returns would have no place to go: assign to the parameter instead. Data that it would read from
            outside is to be handed over as a constant, for the text is written once.
            """,
    ),
    "AD0702": Entry(
        title="the structures do not agree",
        helps=("a gradient is like the value that it was taken for: ad.grad(loss)(model) goes with model",),
        explanation="""
            An update runs over several structures together: parameters, gradients, moments. Each must be like the
            first, or a tangent of it: objects of the same class, lists of the same length, arrays of the same shape.
            A tangent may lack parts, which count as zero; it cannot have others.

                gradient = ad.grad(loss)(model.encoder)
                optimizer.update(model, along=gradient)      # refused: a gradient of the encoder
                optimizer.update(model.encoder, along=gradient)
            """,
    ),
    "AD0703": Entry(
        title="cannot be updated in place",
        helps=("take the new value: model = optimizer.updated(model, along=gradient)",),
        explanation="""
            Numbers have no memory that could be written: to update one in place, what holds it must be mutable. What
            a tuple or a frozen dataclass holds stays as it is, and so does an array that is read-only.

                @dataclass(frozen=True)
                class Line:
                    slope: float

                optimizer.update(line, along=gradient)       # refused
                line = optimizer.updated(line, along=gradient)

            The new value is made without the constructor of the class.
            """,
    ),
    "AD0704": Entry(
        title="optimizers work on real parameters",
        helps=("keep the real and the imaginary part as two parameters",),
        explanation="""
            Most optimizers divide by the root of squared gradients, component by component. For complex numbers
            that is not one rule but several, so none is chosen here.

                optimizer.update({"z": 1.0 + 2.0j}, along=gradient)     # refused

            Keep the two parts as parameters, and put them together where they are used:

                z = model.re + 1j * model.im
            """,
    ),
    "AD0705": Entry(
        title="a point of a curved space can only be moved",
        helps=("leave out what reads the parameters, such as weight decay, for these: a group with weight_decay=0.0",),
        explanation="""
            A rotation cannot be halved, nor can half of one be added to it: an object that says itself how it moves
            takes steps, and nothing else. An update that reads the parameters would treat its coordinates as those
            of a vector, and leave the space.

                ad.optim.SGD(weight_decay=0.1).update(pose, along=gradient)     # refused
                ad.optim.SGD().update(pose, along=gradient)

            What decays elsewhere can be left out here: ad.optim.Group(".rotation", weight_decay=0.0).
            """,
    ),
}
