"""Texts of codes that a request chooses by name, with variables."""

import pytest

CODE_TEXT = "{{shop}}: {{code}}, {{expiry_minutes}} min."
AS_EVER = ["id", "to", "status", "attempts", "expiresAt", "createdAt", "updatedAt"]


async def write(desk, name: str = "login", text: str = CODE_TEXT, **more) -> dict:
    whose = {"organization_id": desk.organization_id}
    return await desk.perform("verify.templates", name=name, text=text, **whose, **more)


async def issues(desk, refused, **body) -> list[tuple[str, str]]:
    payload = await refused(await desk.send(**body), 400)
    return [(each["path"][0], each["code"]) for each in payload["data"]["issues"]]


async def test_a_request_chooses_one_and_fills_it_in(desk, tmp_path):
    await write(desk)
    session = await desk.sent(template="login", variables={"shop": "Café Nour", "other": "x"})
    code = await desk.code()
    assert desk.driver.submitted[0].text == f"Café Nour: {code}, 10 min."
    assert list(await desk.shown(session)) == AS_EVER
    database = b"".join(path.read_bytes() for path in tmp_path.glob("risala.db*"))
    assert "Café Nour".encode() not in database
    assert await desk.status(session, code) == "approved"


async def test_the_one_in_the_request_s_language_comes_first(desk):
    await write(desk)
    await write(desk, text="Boutique {{shop}} : {{code}}", language="fr")
    for number, locale in enumerate(("fr", "ar", None), 1):
        await desk.sent(template="login", variables={"shop": "N"}, locale=locale)
        await desk.driver.wait_submitted(number)
    texts = [each.text for each in desk.driver.submitted]
    assert [text.split(":")[0] for text in texts] == ["Boutique N ", "N", "N"]


async def test_a_text_that_names_a_payment_gets_no_line_of_ours(desk):
    await write(desk, text="{{code}} pays {{payee}} {{amount}} {{currency}}")
    payment = {"amount": "5", "currency": "MRU", "payee": "Nour"}
    await desk.sent(template="login", **payment)
    await desk.driver.wait_submitted(1)
    assert desk.driver.submitted[0].text.endswith(" pays Nour 5.00 MRU")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"template": "other"}, [("template", "unknown_template")]),
        ({"template": "login"}, [("variables", "missing_variable")]),
        ({"variables": {"shop": "x"}}, [("template", "required")]),
        ({"template": "t" * 41}, [("template", "too_long")]),
        ({"template": "login", "variables": {"shop": "x" * 61}}, [("variables", "too_long")]),
        (
            {"template": "login", "variables": {"shop": "a.example"}},
            [("variables", "invalid_variable")],
        ),
        ({"template": "login", "variables": {"shop": "a\nb"}}, [("variables", "invalid_variable")]),
        (
            {"template": "login", "variables": {f"v{n}": "x" for n in range(11)}},
            [("variables", "too_many_entries")],
        ),
    ],
)
async def test_what_cannot_be_filled_in_is_refused(desk, refused, body, told):
    await write(desk)
    before = desk.rows()
    assert await issues(desk, refused, **body) == told
    assert desk.rows() == before


@pytest.mark.parametrize("body", [{"template": "login"}, {"variables": {"shop": "x"}}])
async def test_from_a_publishable_key_each_is_ignored(desk, body):
    await write(desk)
    await desk.sent("pk_live", **body)
    await desk.code()
    assert desk.driver.submitted[0].text.startswith("Your verification code")


async def test_an_empty_text_removes_it(desk, refused):
    await write(desk)
    shown = await write(desk, text="")
    assert shown["templates"] == []
    assert await issues(desk, refused, template="login") == [("template", "unknown_template")]
