"""An SMS gateway with phone verification on one machine, in any country."""

__version__ = "1.1.0.dev0"
