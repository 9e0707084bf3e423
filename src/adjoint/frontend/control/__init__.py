"""Control flow: loops, exceptions, ``with``, recursion, and what they carry."""
