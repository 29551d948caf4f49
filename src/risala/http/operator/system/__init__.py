"""The service and its machine in the console: how they stand, and what was wrong with them."""
