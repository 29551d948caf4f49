"""Backups that only a key elsewhere opens."""
