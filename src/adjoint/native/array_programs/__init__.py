"""Array programs for machine code: rows that are never stored, places that are known."""
