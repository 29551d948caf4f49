"""The repositories of mailings, recipient lists and saved texts."""
