"""Random programs, as text; their derivatives are held against each other and against differences."""
