"""Who comes in where: declared once, written as a reference page, and walked by tests."""
