"""The handbook: what readers of the pages need of the documentation, served by the service."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere

_PAGES: Final = "http.web.handbook.pages:"
FEATURE: Final = Feature(
    name="handbook",
    dashboard=(elsewhere(f"{_PAGES}DASHBOARD"),),
    console=(elsewhere(f"{_PAGES}CONSOLE"),),
    shown={"search": elsewhere(f"{_PAGES}among_found")},
)
