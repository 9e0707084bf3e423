"""Sets of elements as numbers, and what programs do to them: patterns of zeros are found by running on sets."""
