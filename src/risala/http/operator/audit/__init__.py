"""The audit trail in the console: looked through, and taken along."""
