"""Data for pages: lists by key-set, and figures from counts."""
