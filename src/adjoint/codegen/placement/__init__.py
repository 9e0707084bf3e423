"""Which values are printed where they are used, and how control flow is laid out."""
