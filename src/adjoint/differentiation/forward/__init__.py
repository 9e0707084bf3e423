"""Forward mode: beside every statement that of its tangent."""
