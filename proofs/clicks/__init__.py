"""``make clicks``: what a person presses, types, reads and waits for in some tasks."""
