"""From IR to Python text, and from text to running code."""
