"""Control flow: loops, exceptions, ``with``, and what they carry."""
