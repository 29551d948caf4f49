"""Who there is before the first life ends: organizations, people, endpoints, credentials."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.simulation.answering import THEIRS
from tests.simulation.channels import USES
from tests.simulation.outsiders import HEALTHY, SICK
from tests.simulation.world import World

from risala.app.smpp import FACE
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.rules.webhooks.types import TYPES
from risala.engine.wiring.engine import Engine

OPERATOR = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)
SMS_PER_S = 1.0
"""Of one organization."""
CODES_PER_PHONE = 3
CODES_PER_ORGANIZATION = 6
"""In any hour, of each organization."""
SPEND_CAP = 400
"""Of one organization and day, in minor units."""


@dataclass
class House:
    organizations: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    """Of organizations, as rows carry them."""
    healthy: list[str] = field(default_factory=list)
    """Endpoints that nobody touches."""
    toyed: list[str] = field(default_factory=list)
    """Endpoints that their owners play with."""
    credentials: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """By face: names and passwords."""
    by_face: list[str] = field(default_factory=list)
    """Recipients of messages that a face accepted, as its customers were told."""
    called_back: list[str] = field(default_factory=list)
    """Those of Kannel's customers whose receiver is well."""
    sids: dict[tuple[str, str], str] = field(default_factory=dict)
    """Account and idempotency token, or the answer itself → what Twilio's customers were told."""
    told_sids: dict[str, int] = field(default_factory=dict)
    """Those whose receiver is well, with the gaps of days that there had been before."""
    payments: list[str] = field(default_factory=list)
    members: dict[str, list[str]] = field(default_factory=dict)
    """Of each organization: users who answer in its conversations."""

    def owner(self, organization_id: str) -> Caller:
        return Caller("aicha", CallerKind.DASHBOARD, Role.OWNER, organization_id)


async def found(world: World, engine: Engine) -> House:
    """Everything that has to be there: nothing goes wrong meanwhile."""
    house = House()

    async def do(name: str, /, **given: Any) -> dict[str, Any]:
        return await engine.gateway.perform(name, given, OPERATOR)

    for number, name in enumerate(("one", "two")):
        made = (await do("org.create", name=name))["id"]
        house.organizations.append(made)
        house.numbers[made] = number + 1
        world.short(made)
        await do("topup", organization_id=made, amount="60")
        await do(
            "verify.config",
            organization_id=made,
            per_phone_per_hour=CODES_PER_PHONE,
            per_organization_per_hour=CODES_PER_ORGANIZATION,
        )
        await do("inbound.opt_outs", organization_id=made, heeds=True)
        words = {"sets": ["en", "fr"], "answered": ["stop", "start", "help"]}
        await do("opt_outs.words", organization_id=made, **words)
        await do(
            "member.add", organization_id=made, email=f"desk{number}@example.com", role="developer"
        )
        listed = await do("member.list", organization_id=made)
        house.members[made] = [each["userId"] for each in listed["members"]]
        await do("verify.channels", organization_id=made, **USES[number])
        rule = {"organization_id": made, "language": "en"}
        await do("answer.create", name="hours", keywords=["hello"], text_en="Until 19 h.", **rule)
        if number == 0:  # of the other, programs alone answer what is left
            await do("answer.create", name="rest", text_en="{{name}} We answer soon.", **rule)
        types = [str(each) for each in TYPES]
        for host, where in ((HEALTHY, house.healthy), (SICK, house.toyed)):
            given = {"organization_id": made, "url": f"{host}{number}", "types": types}
            endpoint = await do("webhook.create", may_reply=True, **given)
            where.append(endpoint["endpoint"]["id"])
        for face in (*world.faces, FACE):  # Twilio's names are made for them
            own = {} if face == "twilio" else {"username": f"{face}{number}"}
            if face == FACE and not number:
                own["inbound"] = True
            credential = await do("credential.create", organization_id=made, face=face, **own)
            name = credential["credential"]["username"]
            house.credentials.setdefault(face, []).append((name, credential["password"]))
        sender = await do("sender.request", organization_id=made, name="Shop", description="a shop")
        if number == 0:  # a name is one organization's; of the other it stays asked for
            await do("sender.waive", sender_id=sender["id"])
    if world.plan.has("poison"):
        world.poisoned.organization_id = (await do("org.create", name="poisoned"))["id"]
    await do("inbound.route", organization_id=house.organizations[0])
    await do("inbound.route", organization_id=house.organizations[1], number=THEIRS)
    await do("org.set", organization_id=house.organizations[1], sms_per_s=SMS_PER_S)
    await do("org.set", organization_id=house.organizations[1], spend_cap="4")
    return house
