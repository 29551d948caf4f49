"""SMS sending and phone verification on one machine."""

__version__ = "0.1.0"
