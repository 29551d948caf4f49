"""The service and its machine in the console: their state, and past alerts."""
