"""How much the tests notice: rules and transforms are broken on purpose, one place at a time."""
