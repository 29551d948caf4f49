"""Message policies as plugins like any other."""
