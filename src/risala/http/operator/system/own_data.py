"""What the console shows of people's own data: how long it is kept, and a deletion's progress."""

from __future__ import annotations

from typing import Final

from risala.engine.features.own_data.records import ERASURE_LIST, RETENTION_SHOW
from risala.engine.model.records.people.organizations import Organization
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest

RULES: Final = {
    "texts": N_("Texts of messages"),
    "timelines": N_("Timelines of messages"),
    "events": N_("Events and their deliveries"),
    "inbound": N_("Inbound messages"),
}


async def retention(request: PageRequest) -> dict[str, object]:
    """Retention's rules, for the page of the system."""
    retained = await request.ask(RETENTION_SHOW)
    return {
        "rules": [
            (request.words(sentence), each)
            for each in retained.rules
            if (sentence := RULES.get(each.name)) is not None
        ]
    }


async def deletion(request: PageRequest, organization: Organization) -> dict[str, object]:
    """The erasure of a deleted organization, for its page."""
    if organization.status != "deleted":
        return {}
    listed = await request.ask(ERASURE_LIST, organization_id=organization.id)
    return {"deletion": next((each for each in listed.erasures if each.number is None), None)}
