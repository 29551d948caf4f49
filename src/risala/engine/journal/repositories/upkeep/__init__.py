"""Repositories of what keeps the data as a whole."""
