"""From the intermediate representation to Python text."""
