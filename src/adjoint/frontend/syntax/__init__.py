"""Python's statements and expressions, one function each."""
