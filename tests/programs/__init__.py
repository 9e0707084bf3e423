"""Small functions that use every construct of Python on values that are differentiated.

Adding a case is adding a function: decorate it with `registry.program` and the arguments to test it at.
"""
