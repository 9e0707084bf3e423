"""Calls in reverse mode: rules, halves of functions, declared derivatives."""
