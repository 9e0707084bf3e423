"""On a version of Python on which the tests have not run, the first derivative checks some programs."""
