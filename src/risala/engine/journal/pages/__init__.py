"""What pages read: lists by key-set, and figures from what is counted."""
