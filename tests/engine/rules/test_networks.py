"""Carriers by network, and messages to numbers that nobody serves: routed, or told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from risala.config.load import load_settings
from risala.engine.features.doctor.examine import examine
from risala.engine.model.findings import Grade, Patient
from risala.engine.model.sentences import sentence
from risala.engine.rules.router import UNSERVED, Router
from risala.sms.numbering.countries import network_of
from risala.sms.numbering.plan import DEFAULT

MATTEL, MAURITEL, CHINGUITEL = "+22236123456", "+22246123456", "+22226123456"
FIXED = "+22235123456"


def tiers(router, recipient):
    key = router.route_key(recipient)
    return () if key == UNSERVED else router.routes[key].tiers


def test_a_network_is_its_mobile_numbers(carrier):
    router = Router([carrier("m", networks=("mattel", "chinguitel"))])
    for number, names in ((MATTEL, ["m"]), (CHINGUITEL, ["m"]), (MAURITEL, []), (FIXED, [])):
        assert router.carriers_for(number) == names


def test_a_carrier_of_a_network_has_no_prefixes_but_those_it_names(carrier):
    assert carrier("m", networks=("mattel",)).prefixes == ()
    both = carrier("m", networks=("mattel",), prefixes=("+22246",))
    assert both.prefixes == ("+22246",)
    router = Router([both])
    assert router.carriers_for(MATTEL) == router.carriers_for(MAURITEL) == ["m"]
    assert router.carriers_for("+22247123456") == []


def test_a_network_stands_among_prefixes_by_how_exact_it_is(carrier):
    router = Router(
        [
            carrier("all"),
            carrier("range", prefixes=("+22236",)),
            carrier("digit", prefixes=("+2223",), priority=1),
            carrier("network", networks=("mattel",)),
        ]
    )
    assert tiers(router, MATTEL) == (("range",), ("network",), ("digit",), ("all",))
    assert tiers(router, "+22237123456") == (("network",), ("digit",), ("all",))
    assert tiers(router, FIXED) == (("digit",), ("all",))
    assert tiers(router, MAURITEL) == (("all",),)


@pytest.mark.parametrize(
    "tables",
    [
        ({"networks": ("mattel",)}, {}),
        ({"networks": ("mattel", "mauritel")}, {"prefixes": ("+22246", "+222361", "+22235")}),
        ({"networks": ("chinguitel",)}, {"networks": ("chinguitel",), "prefixes": ("+2222",)}),
    ],
)
def test_every_number_finds_its_route(carrier, tables):
    router = Router([carrier(f"c{n}", **fields) for n, fields in enumerate(tables)])
    for start in range(200, 500):
        number = f"+222{start}00000"
        assert DEFAULT.serves(number)
        served = {
            f"c{n}"
            for n, fields in enumerate(tables)
            if network_of(number) in fields.get("networks", ())
            or number.startswith(
                fields.get("prefixes", () if "networks" in fields else ("+222",)) or ("-",)
            )
        }
        assert {name for tier in tiers(router, number) for name in tier} == served


def test_without_networks_the_queues_are_named_as_ever(carrier):
    before = Router([carrier("a"), carrier("b", prefixes=("+2223",))])
    assert {key for key in before.routes if key.startswith("+")} == {"+222", "+2223"}
    after = Router([carrier("a"), carrier("b", networks=("mattel",))])
    assert after.fingerprint != before.fingerprint


def test_what_the_file_may_say(tmp_path):
    path = tmp_path / "risala.toml"
    path.write_text('[[carriers]]\nname = "m"\ndriver = "loopback"\nnetworks = ["mattel"]\n')
    (section,) = load_settings(path, environ={}).carriers
    assert (section.networks, section.prefixes) == (("mattel",), ())
    path.write_text('[[carriers]]\nname = "m"\ndriver = "loopback"\nnetworks = ["orange"]\n')
    with pytest.raises(Exception, match="chinguitel"):
        load_settings(path, environ={})
    path.write_text('[[carriers]]\nname = "m"\ndriver = "loopback"\nprefixes = []\n')
    with pytest.raises(Exception, match="names no number"):
        load_settings(path, environ={})


def texts(house, message_id) -> list[str]:
    return [sentence(entry) for entry in house.gateway.show_message(message_id)[1]]


async def metric(house) -> float:
    page = house.gateway.metrics().decode()
    (line,) = [each for each in page.splitlines() if each.startswith("risala_unserved_messages ")]
    return float(line.split()[1])


async def test_a_message_that_nobody_serves_is_told_everywhere(
    open_house, quick, carrier, tmp_path
):
    served = carrier("m", networks=("mattel",))
    async with open_house(served) as house:
        assert await metric(house) == 0
        organization = {"organization_id": house.principal.organization_id}
        sent = await house.gateway.perform("send", {**organization, "to": MATTEL, "body": "x"})
        assert "warning" not in sent
        waits = await house.gateway.perform("send", {**organization, "to": MAURITEL, "body": "x"})
        assert "no enabled carrier serves this number" in waits["warning"]
        assert "no enabled carrier serves" in texts(house, waits["messageId"])[0]
        code = await house.gateway.perform("verify.send", {**organization, "to": MAURITEL})
        assert "no enabled carrier serves this number" in code["warning"]
        shown = await house.gateway.perform(
            "verify.get", {"verification_id": code["verificationId"]}
        )
        assert "no enabled carrier serves" in texts(house, shown["messageId"])[0]
        assert await metric(house) == 2
        patient = Patient(tmp_path, house.gateway.services.recorder.clock.now_ms(), running=True)
        checks = {check.name: check for check in examine(patient, _silent)}
        assert checks["numbers"].state is Grade.WARN
        assert "2 messages wait" in checks["numbers"].text
        assert "numbers like +22246…. Add them" in checks["numbers"].text
    # The operator names it: what waited goes out, and its timeline says why it waited.
    async with open_house(served, carrier("o", networks=("mauritel",))) as house:
        await house.wait_status(waits["messageId"], "sent")
        assert texts(house, waits["messageId"])[:2] == [
            "Accepted. It waits: no enabled carrier serves this number.",
            "A carrier serves this number now; waiting for its turn.",
        ]
        assert await metric(house) == 0
        patient = replace(patient, now_ms=house.gateway.services.recorder.clock.now_ms())
        checks = {check.name: check for check in examine(patient, _silent)}
        assert checks["numbers"].state is Grade.OK


async def test_a_message_whose_carrier_is_taken_away_is_told_so(open_house, quick, carrier):
    served, other = carrier("m", networks=("mattel",)), carrier("o", networks=("mauritel",))
    async with open_house(served, other) as house:
        house.engine._board.stop_leasing()
        message_id = await house.send(to=MAURITEL)
    async with open_house(served) as house:
        assert texts(house, message_id) == [
            "Accepted; waiting for its turn.",
            "It waits: no enabled carrier serves this number.",
        ]


def _silent(*_: object) -> None:
    """No progress to show."""
