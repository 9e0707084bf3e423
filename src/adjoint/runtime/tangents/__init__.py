"""Tangents and shadows of values at run time.

A *tangent* is what users see: like the value it belongs to, with None at what does not vary. A *shadow* is its
mutable form inside generated code: tuples are lists there, and objects have all their fields.
"""

from __future__ import annotations

from adjoint.runtime.tangents.conversions import LAYOUTS, finish, seed_of_values, seed_shadow, to_shadow
from adjoint.runtime.tangents.slots import add_to_field, add_to_slot, follow_view, take_field, take_slot
from adjoint.runtime.tangents.sums import accumulate, pour, same_tangent
from adjoint.runtime.tangents.zeros import (
    shadow,
    shadow_like,
    shadow_of_values,
    shadow_or_zeros,
    shadow_with,
    zero_number,
    zero_seed,
    zero_tangent,
)

__all__ = [
    "LAYOUTS",
    "accumulate",
    "add_to_field",
    "add_to_slot",
    "finish",
    "follow_view",
    "pour",
    "same_tangent",
    "seed_of_values",
    "seed_shadow",
    "shadow",
    "shadow_like",
    "shadow_of_values",
    "shadow_or_zeros",
    "shadow_with",
    "take_field",
    "take_slot",
    "to_shadow",
    "zero_number",
    "zero_seed",
    "zero_tangent",
]
