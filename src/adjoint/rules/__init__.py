"""How derivatives of functions are declared, and the library of rules for NumPy, math and Python's operators."""
