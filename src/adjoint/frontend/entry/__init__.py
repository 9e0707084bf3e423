"""The function that a user's call runs, and what it is given."""
