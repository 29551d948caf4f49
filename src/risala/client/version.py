"""The client's version, which ``clients/python/pyproject.toml`` reads."""

from typing import Final

VERSION: Final = "1.1.0.dev0"
