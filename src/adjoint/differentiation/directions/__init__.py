"""Several directions in one sweep."""
