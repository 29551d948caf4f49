"""Which columns hold sealed secrets, and how all of them are sealed anew."""
