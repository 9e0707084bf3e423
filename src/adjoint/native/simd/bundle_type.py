"""The type of bundles for Numba: several doubles, which are one vector of the processor."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="misc, no-untyped-call, attr-defined"

from __future__ import annotations

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import types
from numba.core.datamodel import models, register_default
from numba.core.typeconv import Conversion
from numba.extending import lower_cast

from adjoint.runtime.arithmetic.bundles import DIRECTIONS

_DOUBLE, _BIT, INDEX = llvm.DoubleType(), llvm.IntType(1), llvm.IntType(32)
ITEM = 8
"""The size of a double."""


class Bundle(types.Type):
    """The type of a bundle of some numbers; one number becomes a bundle that has it everywhere."""

    def __init__(self, size):
        super().__init__(name=f"bundle({size})")
        self.size = size
        self.bitwidth = 8 * ITEM * size

    @property
    def vector(self):
        """What it is in registers."""
        return llvm.VectorType(_DOUBLE, self.size)

    @property
    def memory(self):
        """What it is in memory."""
        return llvm.ArrayType(_DOUBLE, self.size)

    def same(self, number):
        """A constant that has one number everywhere."""
        return llvm.Constant(self.vector, [number] * self.size)

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if is_number(other) else None

    def unify(self, typingctx, other):
        return self if is_number(other) else None


bundle = Bundle(DIRECTIONS)


class Conditions(types.Type):
    """The type of a truth value for each number of a bundle; one truth value becomes as many of the same."""

    def __init__(self, size):
        super().__init__(name=f"conditions({size})")
        self.size = size

    @property
    def vector(self):
        """What it is in registers."""
        return llvm.VectorType(_BIT, self.size)

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if isinstance(other, types.Boolean) else None

    def unify(self, typingctx, other):
        return self if isinstance(other, types.Boolean) else None


def is_size(kind):
    """Whether a type tells how many numbers a bundle has."""
    return isinstance(kind, types.IntegerLiteral)


def is_number(kind):
    """Whether a type is one of real numbers."""
    return isinstance(kind, (types.Float, types.Integer))


def common_bundle(kinds):
    """The type of the bundles among some types, of which the others are numbers; None where there is no such type."""
    bundles = {kind for kind in kinds if isinstance(kind, Bundle)}
    others_are_numbers = all(isinstance(kind, Bundle) or is_number(kind) for kind in kinds)
    return bundles.pop() if len(bundles) == 1 and others_are_numbers else None


class _InRegisters(models.DataModel):
    """What is a vector wherever it is handed to."""

    def get_value_type(self):
        return self._fe_type.vector

    def get_data_type(self):
        return self._fe_type.vector

    def get_argument_type(self):
        return self._fe_type.vector

    def get_return_type(self):
        return self._fe_type.vector

    def as_data(self, builder, value):
        return value

    def from_data(self, builder, value):
        return value

    def as_argument(self, builder, value):
        return value

    def from_argument(self, builder, value):
        return value

    def as_return(self, builder, value):
        return value

    def from_return(self, builder, value):
        return value

    def traverse(self, builder):
        return []


register_default(Conditions)(_InRegisters)


@register_default(Bundle)
class _InMemoryToo(_InRegisters):
    """In memory doubles one after another, wherever the first of them lies."""

    def get_data_type(self):
        return self._fe_type.memory

    def as_data(self, builder, value):
        found = llvm.Constant(self._fe_type.memory, llvm.Undefined)
        for place in range(self._fe_type.size):
            found = builder.insert_value(found, builder.extract_element(value, INDEX(place)), place)
        return found

    def from_data(self, builder, value):
        found = llvm.Constant(self._fe_type.vector, llvm.Undefined)
        for place in range(self._fe_type.size):
            found = builder.insert_element(found, builder.extract_value(value, place), INDEX(place))
        return found

    def load_from_data_pointer(self, builder, ptr, align=None):
        return builder.load(builder.bitcast(ptr, self._fe_type.vector.as_pointer()), align=ITEM)


def same_everywhere(builder, kind, number):
    """The bundle of one double, or one truth value, again and again."""
    nothing = llvm.Constant(kind.vector, llvm.Undefined)
    first = builder.insert_element(nothing, number, INDEX(0))
    return builder.shuffle_vector(first, nothing, llvm.Constant(llvm.VectorType(INDEX, kind.size), [0] * kind.size))


@lower_cast(types.Float, Bundle)
@lower_cast(types.Integer, Bundle)
def _cast(context, builder, given, wanted, value):
    return same_everywhere(builder, wanted, context.cast(builder, value, given, types.float64))


@lower_cast(types.Boolean, Conditions)
def _cast_condition(context, builder, given, wanted, value):
    return same_everywhere(builder, wanted, builder.trunc(value, _BIT) if value.type != _BIT else value)
