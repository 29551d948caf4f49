"""Verify tried by hand."""

import pytest

from risala.engine.model.errors import RateLimited
from web_verify import SESSION_ID, session

PAGE = "/app/org_1/verify/try"


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == name]


async def test_the_price_is_told_before_a_code_is_sent(owner, gateway):
    gateway.verify["sizes"]["ar"] = {"segments": 2, "encoding": "UCS-2", "price": "1.00"}
    page = await owner.get(PAGE)
    assert "A real SMS leaves, and you pay" in page.text
    assert "1.00" in page.text


async def test_the_price_counts_the_lines_that_a_code_may_have(owner, gateway):
    both = {"segments": 2, "encoding": "UCS-2", "price": "1.50", "appHash": True, "origin": True}
    gateway.verify["autofillSizes"] = [{**both, "language": "ar"}]
    page = await owner.get(PAGE)
    assert "With the lines of an app and a web page:" in page.text
    assert "1.50" in page.text


async def test_in_test_mode_it_is_free_and_the_code_is_told(owner, gateway):
    page = await owner.get(f"{PAGE}?mode=test")
    assert "Nothing: in test mode" in page.text
    assert '<code dir="auto">000000</code>' in page.text
    sent = await owner.submit(page, f"{PAGE}?mode=test", {"to": "36123456"})
    assert sent.status == 303
    assert asked(gateway, "verify.send")[0]["mode"] == "test"


async def test_a_code_is_sent_and_the_same_is_shown_for_a_program(owner, gateway):
    gateway.verify["settings"]["origins"] = ["shop.example"]
    fields = {"to": "36 12 34 56", "locale": "fr", "origin": "shop.example"}
    page = await owner.submit(await owner.get(PAGE), PAGE, fields)
    assert page.status == 303
    (sent,) = asked(gateway, "verify.send")
    assert sent["to"] == "36 12 34 56"
    assert (sent["locale"], sent["origin"], sent["mode"]) == ("fr", "shop.example", "live")
    shown = (await owner.get(page.location)).text
    assert "/api/verify/send" in shown
    assert "&#34;locale&#34;: &#34;fr&#34;" in shown
    assert f"{SESSION_ID}0" in shown
    assert "$RISALA_KEY" in shown


@pytest.mark.parametrize(
    ("typed", "answer", "told"),
    [("482 193", "approved", "this was the code"), ("777777", "denied", "tries are left")],
)
async def test_what_is_typed_is_judged_and_stands_in_no_address(
    owner, gateway, typed, answer, told
):
    at = f"{PAGE}?id={SESSION_ID}0"
    form = await owner.get(at)
    page = await owner.submit(form, f"{PAGE}/check", {"id": f"{SESSION_ID}0", "code": typed})
    assert page.status == 303
    assert typed not in page.location
    shown = (await owner.get(page.location)).text
    assert told in shown
    assert f"&#34;status&#34;</i>: <i>&#34;{answer}&#34;" in shown
    assert typed not in shown


async def test_a_refusal_is_told_and_the_form_is_kept(owner, gateway):
    form = await owner.get(PAGE)

    async def perform(name, arguments, caller, perform=gateway.perform):
        if name == "verify.send":
            raise RateLimited("phone", 600, "Used up.")
        return await perform(name, arguments, caller)

    gateway.perform = perform
    page = await owner.submit(form, PAGE, {"to": '36123456"><i>'})
    assert page.status == 422
    assert "Try again in 10 minutes" in page.text
    assert "36123456&#34;&gt;" in page.text


async def test_a_session_that_is_over_takes_no_code(owner, gateway):
    gateway.answers["verify.get"] = session(1)
    page = await owner.get(f"{PAGE}?id={SESSION_ID}1")
    assert "This session has ended" in page.text
    assert 'name="code"' not in page.text
    assert (await owner.get(f"{PAGE}?id={SESSION_ID}1&mode=test")).status == 404
