"""Which values depend on which: activity, linearity, taint."""
