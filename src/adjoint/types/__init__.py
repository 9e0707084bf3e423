"""Differentiable types: tangents, key paths, function values."""
