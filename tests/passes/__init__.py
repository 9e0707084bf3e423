"""What passes do to programs: where they fire, what they buy, and the document that says so."""
