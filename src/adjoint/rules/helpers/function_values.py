"""Rules of what calls of function values are checked with: it gives its argument, and the rest must not vary."""

# mypy: allow-untyped-defs, allow-untyped-calls

from adjoint.rules.declare import case, linear, number, sample
from adjoint.runtime.functions import beside, given

linear(given, lambda ct, x: ct, view_of=0, fixed=(0,), cases=[case(number()), case(sample(3))])
linear(
    beside,
    lambda ct, y, captured: ct,
    wrt=(0,),
    view_of=0,
    fixed=(1,),
    cases=[case(number(), 2.0), case(sample(3), 2.0)],
)
