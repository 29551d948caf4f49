"""The search over all organizations: by numbers, ids and names, never by texts."""

from __future__ import annotations

from typing import Final

from risala.engine.model.records.search import FIND
from risala.http.web.face import PageAccess
from risala.http.web.lists import typed
from risala.http.web.routes import PageRoute
from risala.http.web.search import WORDS, found, show

_FILTERS: Final = (typed("q", WORDS, "query"),)
ROUTES: Final = (
    PageRoute(
        path="/operator/search",
        view=show,
        access=PageAccess.OPERATOR,
        needs=FIND,
        filters=_FILTERS,
    ),
    PageRoute(
        path="/operator/search/found",
        view=found,
        access=PageAccess.OPERATOR,
        needs=FIND,
        filters=_FILTERS,
    ),
)
