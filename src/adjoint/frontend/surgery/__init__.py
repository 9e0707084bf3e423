"""Cotangents changed where they pass a value; checkpointed loops."""
