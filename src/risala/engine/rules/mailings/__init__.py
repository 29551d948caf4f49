"""Mailings: how a table is recognised, how each row is checked, and what each person's text is."""
