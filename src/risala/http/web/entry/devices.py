"""A browser's name for itself, in the words of a list of devices."""

from __future__ import annotations

import re
from typing import Final

_BROWSERS: Final = ("Edg", "OPR", "SamsungBrowser", "Firefox", "Chrome", "Safari")
"""Words of a ``User-Agent``, the more specific first: all browsers call themselves Safari."""
_NAMES: Final = {"Edg": "Edge", "OPR": "Opera", "SamsungBrowser": "Samsung Internet"}
_SYSTEMS: Final = ("Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux")


def device_name(agent: str) -> str:
    """``Firefox, Android`` from a ``User-Agent``; empty if it names neither."""
    browser = next((each for each in _BROWSERS if f"{each}/" in agent), None)
    system = next((each for each in _SYSTEMS if re.search(rf"\b{each}\b", agent)), None)
    names = [_NAMES.get(browser, browser) if browser else None, system]
    return ", ".join(each for each in names if each)
