"""Rules written into derivatives."""
