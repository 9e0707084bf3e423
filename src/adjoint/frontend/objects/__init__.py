"""Objects: their classes, attributes and methods, how they are made and written."""
