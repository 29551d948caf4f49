"""Behaviour as data: what the program answers, shows and asks its database, in files that two
commits are compared by."""
