"""The page that follows one derivative through all stages: its words here, its programs by the compiler."""

from __future__ import annotations

import textwrap

import numpy as np

import adjoint as ad


def smooth(x, floor):
    y = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        if x[i] > floor:
            y[i] = x[i] * x[i]
        else:
            y[i] = floor * x[i]
        total += y[i]
    return total


PAGE = """\
# A derivative, step by step

One function, followed through every stage of the compiler. What stands in the boxes is what the compiler says
(`ad.stages(smooth, x, 0.5)` and the same with `native=True`), written by it. The words are explained in
[architecture.md](architecture.md) and [internals.md](internals.md), each pass in [passes.md](passes.md).

## The source

A loop, a store and a branch:

```python
{source}
```

`ad.grad(smooth)(x, 0.5)` finds this text: it is the definition that compiles to the very code object that runs.

## Lowered

The front end walks the syntax tree with abstract values: `x` is an array of floats of one axis, `floor` a float.
Names, attributes and calls that are known are resolved here, so that what is left is a function of numbers and
arrays: the intermediate representation (IR). Every variable is assigned once; the loop *carries* `total`, and
`continue` hands the next value to the next iteration. The memory of `y` is written: such arrays are handles, and
have a shadow later.

```text
{lowered}
```

## Simplified

Dead code goes, and what was computed before is not computed again (value numbering): `x[i]` is read once. The
element of `y` that was just stored is still read from memory here.

```text
{simplified}
```

## Reverse mode

The derivative runs the function forwards, and then backwards: for each statement, in reverse order, what its
derivative adds to the cotangents of its operands. The cotangent of `x` is `x_bar`; that of the memory of `y` lies
in its shadow `y_bar`, of the same shape. A store moves a cotangent: what lies in the shadow belongs to the value
that was stored, and the place is cleared, because what was there before the store does not count any more. The
condition is computed again rather than kept on a tape: its operands are still there. `total` and the
stores are gone: nobody needs the values.

```text
{derivative}
```

## As Python

What runs, and what `ad.source(ad.grad(smooth), x, 0.5)` prints. Variables have the names of the user's again, and
statements are in the form in which a person would have written them.

```python
{text}
```

## For machine code

`native=True` goes on from there. These passes changed the function, in this order:

{passes}.

The backward loop runs forwards, since its iterations share nothing (loop reversal), both sides of the branch end in
one sum, and indices that cannot be negative say so. The result as text, of which machine code is made:

```python
{native}
```
"""


def _stages(text: str) -> dict[str, str]:
    parts = {}
    for part in ("\n" + text).split("\n-- ")[1:]:
        name, _, body = part.partition("\n")
        parts[name] = body.strip("\n")
    return parts


def page() -> str:
    """The text of the page."""
    x = np.ones(3)
    python, native = _stages(ad.stages(smooth, x, 0.5)), _stages(ad.stages(smooth, x, 0.5, native=True))
    passes = [f"`{name}`" for name in native if name not in ("source", "lowered", "text", "llvm")]
    return PAGE.format(
        source=python["source"],
        lowered=python["lowered"],
        simplified=python["simplified"],
        derivative=python["derivative"],
        text=python["text"],
        native=native["text"],
        passes=textwrap.fill(", ".join(passes), 120, break_on_hyphens=False),
    )
