"""From a call to a compiled derivative: keys of arguments, the table of specialisations, fast paths."""
