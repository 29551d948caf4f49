"""Messages as pages tell them: what happened to one, and where it is."""
