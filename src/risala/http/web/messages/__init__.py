"""Messages as pages show them: the history of one, and where it is."""
