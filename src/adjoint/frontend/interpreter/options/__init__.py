"""Values that have one of several structures, or may be None."""
