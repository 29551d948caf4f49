"""The credential that a message of other software came by."""

from __future__ import annotations

from typing import Final

from risala.engine.features.compat import records as credentials
from risala.engine.model.records.messages import MessageView
from risala.http.web.page_request import PageRequest

_CREDENTIAL: Final = "crd_"
"""Prefix of ids of credentials, which replace a key's id."""


async def of_message(request: PageRequest, message: MessageView) -> dict[str, object]:
    """The credential that a message came by, None if that is deleted; empty for a message that came
    otherwise."""
    id_ = message.api_key
    if id_ is None or not id_.startswith(_CREDENTIAL):
        return {}
    listed = await request.ask(credentials.LIST, organization_id=message.organization_id)
    return {"credential": next((each for each in listed.credentials if each.id == id_), None)}
