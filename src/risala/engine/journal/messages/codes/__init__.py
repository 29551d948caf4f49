"""Codes by SMS: of verification sessions, and of hooks."""
