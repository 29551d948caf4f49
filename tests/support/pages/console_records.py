"""What the console's pages of organizations, users and messages are looked at with."""

from __future__ import annotations

from typing import Any, Protocol

SMS = "Votre commande 4471 est prête. Merci de votre confiance."
HELD = "+22226123401"
"""The number of a message that waits: its organization is suspended."""


class Filling(Protocol):
    organizations: dict[str, str]

    async def do(self, name: str, /, **arguments: Any) -> dict[str, Any]: ...


async def records(filling: Filling) -> None:
    baraka, nasr, _ = filling.organizations.values()
    await filling.do(
        "member.add", organization_id=baraka, email="aicha@baraka.example", role="owner"
    )
    await filling.do("user.create", email="sidi@nakhil.example", name="محمد ولد سيدي")
    await filling.do("org.set", organization_id=nasr, price_per_segment="0.40", spend_cap="500")
    for organization_id, amount in ((baraka, "10000"), (nasr, "200")):
        whose = {"organization_id": organization_id}
        reference = f"MS-{amount}"
        await filling.do("topup", amount=amount, reference=reference, note="Masrvi", **whose)
        await filling.do("key.create", type="secret", name="Serveur", **whose)
        await filling.do("send", to="+22236123456", body=SMS, **whose)
    await filling.do(
        "adjust", organization_id=baraka, amount="36", reason="Charged twice on 17 Nov"
    )
    await filling.do("verify.send", organization_id=baraka, to="+22236123456")
    await _long(filling)
    await _ended(filling)


async def _long(filling: Filling) -> None:
    """An organization of which everything is long: its name, its owner, its sums."""
    name = "Établissements Mohamed Abdallahi Ould Cheikh Sidiya et fils"
    long = (await filling.do("org.create", name=name))["id"]
    email = "mohamed-abdallahi.ould-cheikh-sidiya@etablissements-du-fleuve.example"
    await filling.do("member.add", organization_id=long, email=email, role="owner")
    await filling.do("org.set", organization_id=long, price_per_segment="12000")
    await filling.do("topup", organization_id=long, amount="9999999", reference="MS-99")
    await filling.do("send", to="+22236123457", body=SMS, organization_id=long)


async def _ended(filling: Filling) -> None:
    """An organization that is suspended while a message waits, and one that is deleted."""
    held = (await filling.do("org.create", name="Pharmacie du Port"))["id"]
    await filling.do("topup", organization_id=held, amount="50")
    await filling.do("carriers.pause", carrier="fake")
    await filling.do("send", to=HELD, body=SMS, organization_id=held)
    await filling.do("org.suspend", organization_id=held)
    await filling.do("carriers.resume", carrier="fake")
    gone = (await filling.do("org.create", name="Ancienne enseigne"))["id"]
    await filling.do("topup", organization_id=gone, amount="5")
    await filling.do("org.delete", organization_id=gone, name="Ancienne enseigne")
