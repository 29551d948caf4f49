"""The language of a code: the built-in ones and those of an operator's folder, the line that asks
to share it with nobody, and links where the operator allows them."""

import json

import pytest

from risala.config.verify import VerifySection
from risala.sms.code_texts.catalogue import BUILT_IN, built_in

AMHARIC = """
name = "አማርኛ"
code = "ኮድዎ {{code}} ነው። ለ{{expiry_minutes}} ደቂቃ ይሠራል።"
payment = "{{amount}} {{currency}} ለ{{payee}}።"
never_share = "ለማንም አይስጡ።"
"""
PAYMENT = {"amount": "5", "currency": "MRU", "payee": "Nour"}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "texts"
    made.mkdir()
    (made / "am.toml").write_text(AMHARIC, encoding="utf-8")
    return made


def last_text(desk) -> str:
    return desk.driver.submitted[-1].text


async def submitted(desk, number: int, **fields) -> str:
    await desk.sent(**fields)
    await desk.driver.wait_submitted(number)
    return last_text(desk)


@pytest.mark.parametrize("key", ["sk_live", "pk_live"])
async def test_a_code_leaves_in_each_language(desk, key):
    for number, language in enumerate(BUILT_IN, 1):
        to = f"+2223612345{number}"
        text = await submitted(desk, number, key=key, to=to, locale=language)
        code, own = await desk.code(number), built_in()[language].code
        assert text == own.replace("{{code}}", code).replace("{{expiry_minutes}}", "10")


async def test_another_language_is_refused_and_named_with_all_other_faults(desk, refused):
    payload = await refused(await desk.send(locale="de"), 400)
    (issue,) = payload["data"]["issues"]
    assert (issue["path"], issue["code"]) == (["locale"], "invalid_locale")
    assert issue["message"] == "`locale` must be one of ar, en, es, fr, ha, pt, sw, tr, wo."
    payload = await refused(await desk.send(to="+1", locale="de", appHash="x"), 400)
    assert [each["path"] for each in payload["data"]["issues"]] == [["to"], ["locale"], ["appHash"]]
    assert desk.rows()[0] == 0


async def test_a_language_of_the_operator_s_folder_is_one_like_others(open_desk, folder, refused):
    async with open_desk(verify=VerifySection(texts_folder=folder)) as desk:
        text = await submitted(desk, 1, locale="am")
        assert text == f"ኮድዎ {await desk.code()} ነው። ለ10 ደቂቃ ይሠራል።"
        shown = await desk.configure(language="am")
        assert shown["languageNames"]["am"] == "አማርኛ"
        assert (await submitted(desk, 2)).startswith("ኮድዎ ")
        paying = await submitted(desk, 3, **PAYMENT)
        assert paying.splitlines()[1] == "5.00 MRU ለNour።"
        payload = await refused(await desk.send(locale="de"), 400)
        sentence = payload["data"]["issues"][0]["message"]
        assert sentence == "`locale` must be one of am, ar, en, es, fr, ha, pt, sw, tr, wo."
        document = await (await desk.client.get("/openapi.json")).get_json()
        assert '"enum": ["am", "ar", "en"' in json.dumps(document)


async def test_what_an_organization_set_in_a_language_that_went_away_does_not_count(
    open_desk, folder, refused
):
    async with open_desk(verify=VerifySection(texts_folder=folder)) as desk:
        await desk.configure(language="am", templates={"am": "{{code}} ነው", "fr": "F {{code}}"})
        organization_id = desk.organization_id
    async with open_desk() as desk:
        desk.organization_id = organization_id
        shown = await desk.configure()
        assert shown["settings"]["language"] is None
        assert shown["settings"]["templates"] == {"fr": "F {{code}}"}
        key = (await desk.make_key("secret"))["value"]
        assert (await submitted(desk, 1, key=key)).startswith("Your verification code is ")
        await refused(await desk.send(key, locale="am"), 400)


async def test_the_line_is_in_the_code_s_language_and_is_paid_for(desk):
    before = await desk.configure()
    shown = await desk.configure(never_share=True)
    assert {name: each["segments"] for name, each in before["sizes"].items()} == dict.fromkeys(
        ("default", *BUILT_IN), 1
    )
    costly = {name for name, each in shown["sizes"].items() if each["segments"] == 2}
    assert costly == {"ar", "es", "pt"}
    assert shown["sizes"]["ar"]["price"] == "1.00"
    for language in ("en", "fr", "ar"):
        await desk.sent(locale=language)
    await desk.driver.wait_submitted(4)
    whole: dict[str, str] = {}
    for each in desk.driver.submitted:
        whole[each.message_id] = whole.get(each.message_id, "") + each.text
    assert [text.splitlines()[1:] for text in whole.values()] == [
        ["Never share this code."],
        ["Ne donnez ce code à personne."],
        ["لا تشارك هذا الرمز مع أحد."],
    ]
    whose = {"organization_id": desk.organization_id, "mode": "live"}
    listed = (await desk.perform("message.list", **whose))["messages"]
    assert [(each["segments"], each["price"]) for each in listed[:2]] == [(2, "1.00"), (1, "0.50")]


async def test_the_line_comes_after_a_payment_and_before_the_host(desk):
    await desk.configure(never_share=True, origins=["shop.example"])
    text = await submitted(desk, 1, origin="shop.example", locale="en", **PAYMENT)
    code = await desk.code()
    assert text.splitlines()[1:] == [
        "Payment of 5.00 MRU to Nour.",
        "Never share this code.",
        f"@shop.example #{code}",
    ]


async def test_the_line_is_in_a_text_by_name_too(desk):
    await desk.configure(never_share=True)
    whose = {"organization_id": desk.organization_id}
    await desk.perform("verify.templates", name="login", text="{{shop}} {{code}}", **whose)
    text = await submitted(desk, 1, template="login", variables={"shop": "N"}, locale="es")
    assert text.splitlines()[1:] == ["No lo comparta con nadie."]


@pytest.mark.parametrize("allowed", [False, True])
async def test_links_in_variables_are_the_operator_s_to_allow(open_desk, refused, allowed):
    async with open_desk(verify=VerifySection(links_in_variables=allowed)) as desk:
        whose = {"organization_id": desk.organization_id}
        await desk.perform("verify.templates", name="go", text="{{at}} {{code}}", **whose)
        asked = {"template": "go", "variables": {"at": "https://shop.example/x"}}
        if allowed:
            assert (await submitted(desk, 1, **asked)).startswith("https://shop.example/x ")
        else:
            payload = await refused(await desk.send(**asked), 400)
            assert payload["data"]["issues"][0]["code"] == "invalid_variable"
        paying = {**PAYMENT, "payee": "shop.example"}
        await refused(await desk.send(**paying), 400)
