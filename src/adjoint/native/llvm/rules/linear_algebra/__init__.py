"""Products of matrices and systems of linear equations, by BLAS and LAPACK."""
