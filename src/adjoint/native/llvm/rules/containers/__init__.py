"""Lists, objects as structures, and the parts of arrays, tuples and both."""
