"""What people type into operations, and the price of a code as it is sent."""

from __future__ import annotations

from decimal import Decimal

import pytest

from risala.engine.features.mailings.operations.mailings import CreateMailing
from risala.engine.kernel.arguments import parse
from risala.engine.model.errors import Invalid
from risala.sms.code_texts.catalogue import BUILT_IN


@pytest.fixture
async def house(open_house, autojump_clock):
    async with open_house() as opened:
        yield opened


@pytest.fixture
def organization(house):
    return {"organization_id": house.principal.organization_id}


async def test_the_price_of_a_code_counts_its_lines_for_autofill(
    house, organization, autojump_clock
):
    async def configured(**changes):
        return await house.gateway.perform("verify.config", {**organization, **changes})

    assert (await configured())["autofillSizes"] == []
    found = await configured(app_hashes=["FA+9qCX9VSu"], origins=["a.example", "app.example.org"])
    sizes = {
        (each["language"], each["appHash"], each["origin"]): each["segments"]
        for each in found["autofillSizes"]
    }
    assert len(sizes) == (1 + len(BUILT_IN)) * 3
    assert (sizes["fr", True, False], sizes["fr", True, True]) == (1, 1)
    assert (sizes["ar", True, False], sizes["ar", True, True]) == (1, 2)
    assert {found["sizes"][each]["segments"] for each in ("default", "ar", "fr")} == {1}
    of_page, told = (each for each in found["warnings"] if each[13:].startswith("for ar"))
    assert of_page.startswith("The template for ar with its origin makes 2 segments")
    assert of_page.endswith("MRU.")
    assert told.startswith("The template for ar with its app hash and origin makes 2 segments")
    assert told.endswith("Android fills in no code of more than 140 octets.")
    sent = {"to": "+22236123456", "locale": "ar", "app_hash": "FA+9qCX9VSu"}
    before = Decimal(await house.balance())
    await house.gateway.perform(
        "verify.send", {**organization, **sent, "origin": "app.example.org"}
    )
    (priced,) = (
        each
        for each in found["autofillSizes"]
        if (each["language"], each["appHash"], each["origin"]) == ("ar", True, True)
    )
    assert before - Decimal(await house.balance()) == Decimal(priced["price"])


HASH, HOST = "FA+9qCX9VSu", "app.example"


@pytest.mark.parametrize(
    ("template", "settings", "octets"),
    [
        # 160 letters of GSM 7-bit are 140 octets, and so are 70 of two octets.
        ("x" * 142 + "{{code}}", {}, 140),
        ("x" * 143 + "{{code}}", {}, 141),
        ("x" * 140 + "{{code}}", {"code_length": 8}, 140),
        ("x" * 141 + "{{code}}", {"code_length": 8}, 141),
        ("x" * 137 + "{{code}} {{expiry_minutes}}", {"expiry_minutes": 9}, 138),
        ("x" * 140 + "{{code}} {{expiry_minutes}}", {"expiry_minutes": 30}, 141),
        ("é" * 142 + "{{code}}", {}, 140),
        # Letters that GSM 7-bit writes with two.
        ("€" * 71 + "{{code}}", {}, 140),
        ("[" * 71 + "x{{code}}", {}, 141),
        ("ش" * 52 + "{{code}}", {}, 140),
        ("ش" * 53 + "{{code}}", {}, 142),
        (
            "رمزك هو {{code}} وينتهي بعد {{expiry_minutes}} دقائق، لا تعطه لأحد أبدا من فضلك",
            {},
            146,
        ),
        ("👍" * 26 + "{{code}}", {}, 140),
        ("👍" * 26 + "x{{code}}", {}, 142),
        ("Grüße, ваш код {{code}}, " + "д" * 33, {}, 140),
        # A mark that nobody sees is not sent.
        ("\u200b" + "x" * 142 + "{{code}}", {}, 140),
        ("ç" * 52 + "{{code}}", {}, 140),
    ],
)
async def test_a_code_that_android_does_not_fill_in_is_told(
    house, organization, autojump_clock, template, settings, octets
):
    changes = {"template": template, "app_hashes": [HASH], **settings}
    found = await house.gateway.perform("verify.config", {**organization, **changes})
    (told,) = (
        each
        for each in found["autofillSizes"]
        if (each["language"], each["appHash"]) == ("default", True)
    )
    warned = [each for each in found["warnings"] if each.startswith("The template for default wit")]
    assert bool(warned) is (octets > 140)
    assert all(
        each.endswith("Android fills in no code of more than 140 octets.") for each in warned
    )
    before = Decimal(await house.balance())
    sent = {"to": "+22236123456", "app_hash": HASH}
    await house.gateway.perform("verify.send", {**organization, **sent})
    assert before - Decimal(await house.balance()) == Decimal(told["price"])
    assert told["segments"] == (2 if octets > 140 else 1)


NAMES = [
    ("\u200fقسم 6\u200f", "قسم 6"),
    ("Bank\u202e", "Bank"),
    (" Classe\u00a0 6 ", "Classe 6"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("a\nb", "a b"),
    ("\ufeffa\u2066b\u2069", "ab"),
    ("a\u3164b", "a b"),
    ("❤️ x", "❤️ x"),
    ("e\u0301", "é"),
    ("a\u00adb\u200b", "ab"),
]


@pytest.mark.parametrize(("written", "kept"), NAMES)
async def test_every_name_is_in_one_form(house, organization, autojump_clock, written, kept):
    perform = house.gateway.perform
    asked = {**organization, "name": written}
    assert (await perform("list.create", asked))["list"]["name"] == kept
    assert parse(CreateMailing, {**asked, "numbers": "x"}).name == kept
    assert (await perform("text.create", {**asked, "text": "x", "language": "ar"}))["name"] == kept
    assert (await perform("key.create", {**asked, "type": "secret"}))["key"]["name"] == kept
    assert (await perform("org.set", asked))["name"] == kept
    of_key = {"type": "secret"}
    for operation, more in (("list.create", {}), ("key.create", of_key), ("org.set", {})):
        with pytest.raises(Invalid, match="invisible characters") as refused:
            await perform(operation, {**asked, **more, "name": f"{written}\x07"})
        assert refused.value.code == "unsafe_name"


async def test_a_domain_of_several_scripts_is_confirmed_after_a_warning(
    house, organization, autojump_clock
):
    perform = house.gateway.perform
    domains = ["b\u0430nk.example", "bank.example"]
    given = {"issuer": "https://id.example.com", "client_id": "risala", "domains": domains}
    found = await perform("provider.set", {**organization, **given})
    plain, mixed = sorted(found["domains"])
    assert (plain, mixed[:4]) == ("bank.example", "xn--")
    await perform("provider.confirm", {**organization, "domain": plain})
    with pytest.raises(Invalid, match="cyrillic: \u2068\u0430\u2069") as refused:
        await perform("provider.confirm", {**organization, "domain": mixed})
    assert refused.value.code == "mixed_scripts"
    asked = {**organization, "domain": mixed, "mixed_scripts": True}
    assert set((await perform("provider.confirm", asked))["confirmed"]) == {mixed, plain}


@pytest.mark.parametrize(
    "url", ["http://id.example", "https://a:b@id.example", "https://id.example/#x"]
)
async def test_what_is_wrong_with_an_issuer_is_said_of_a_provider(
    house, organization, autojump_clock, url
):
    given = {"issuer": url, "client_id": "risala", "domains": ["a.example"]}
    with pytest.raises(Invalid) as refused:
        await house.gateway.perform("provider.set", {**organization, **given})
    assert not {"webhook's", "webhook", "Webhooks", "header"} & set(str(refused.value).split())
