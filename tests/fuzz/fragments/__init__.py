"""Random programs made of everyday code: fragments of it, one behind the other, share variables and memory.

The grammar beside this package makes programs of deep expressions that nobody would write; here each fragment is what
somebody writes, and what is new is how they meet: a solver that steps a view of a row that a closure keeps in a dict.
"""
