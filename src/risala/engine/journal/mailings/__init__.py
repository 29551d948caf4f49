"""Mailings, recipient lists and saved texts, as rows."""
