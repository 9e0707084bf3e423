"""What is run again in the reverse sweep instead of kept."""
