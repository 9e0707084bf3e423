"""Derivatives of special functions that no elementary formula gives."""
