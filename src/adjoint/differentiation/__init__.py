"""Forward mode and reverse mode, as transformations of the intermediate representation."""
