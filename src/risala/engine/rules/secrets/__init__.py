"""Secrets that the database keeps, without the keys that open them."""
