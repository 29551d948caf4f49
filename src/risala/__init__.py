"""SMS sending and phone verification on one machine."""

__version__ = "1.1.0.dev0"
