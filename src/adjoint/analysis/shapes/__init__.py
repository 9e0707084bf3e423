"""What is known of arrays before the program runs: extents, the indices that stay inside them, element types."""
