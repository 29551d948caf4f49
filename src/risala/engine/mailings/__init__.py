"""Mailings: a message to each row of a table."""
