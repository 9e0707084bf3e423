"""The words of the diagnostics, by topic; ``adjoint.diagnostics.codes`` joins them."""
