"""Looking at derivatives: their text, what they keep, where they stop being finite; exports, calls from Numba."""
