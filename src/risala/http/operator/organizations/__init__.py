"""Organizations: the list, one of them, and changes to its money and its limits."""
