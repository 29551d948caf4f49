"""Answers to the operator's own texts, on the page of the carrier that brought them."""

from __future__ import annotations

from typing import Any

from risala.engine.features.own_texts.feature import ANSWERS
from risala.http.web.page_request import PageRequest


async def of_carrier(request: PageRequest, carrier: str) -> dict[str, Any]:
    """For the carrier's page: what short codes and service numbers wrote back."""
    if not request.can(ANSWERS):
        return {}
    listed = await request.ask(ANSWERS, carrier=carrier)
    return {"own_answers": listed.answers} if listed.answers else {}
