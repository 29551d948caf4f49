"""Organizations: the list, one of them, and what an operator does to its money and its limits."""
