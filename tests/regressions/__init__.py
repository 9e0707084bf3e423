"""Programs that other systems get wrong, and the lines of the design that forbid it; one named test each."""
