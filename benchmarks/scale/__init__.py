"""What a long life costs: files with millions of old messages, and a million in the queue."""
