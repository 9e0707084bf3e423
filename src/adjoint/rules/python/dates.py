"""Methods of dates and spans of time: what they give carries no derivative."""

from adjoint.rules.declare import no_derivative
from adjoint.types.classes.constant_types import EXAMPLES

for _cls in EXAMPLES:
    for _name, _method in vars(_cls).items():
        if not _name.startswith("_") and type(_method).__name__ == "method_descriptor":
            no_derivative(_method)
