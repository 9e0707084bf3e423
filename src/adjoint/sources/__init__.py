"""The source of a function: its definition, scopes, liveness, places for messages."""
