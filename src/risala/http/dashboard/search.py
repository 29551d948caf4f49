"""The search over everything that an organization has."""

from __future__ import annotations

from typing import Final

from risala.http.web.face import PageAccess
from risala.http.web.lists import MODE, typed
from risala.http.web.routes import PageRoute
from risala.http.web.search import WORDS, found, show

_FILTERS: Final = (typed("q", WORDS, "query"), MODE)
ROUTES: Final = (
    PageRoute(path="/app/<org>/search", view=show, access=PageAccess.VIEWER, filters=_FILTERS),
    PageRoute(
        path="/app/<org>/search/found", view=found, access=PageAccess.VIEWER, filters=_FILTERS
    ),
)
