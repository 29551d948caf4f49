"""The audit trail proved: its chain of lines, and the signed heads that went out."""
