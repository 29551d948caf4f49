"""Hooks: the addresses that other software sends through."""
