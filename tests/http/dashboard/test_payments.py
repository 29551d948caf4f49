"""Top-ups: the pages of a payment, the checkout that is only played, and callbacks."""

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import Invalid, NotFound, Unavailable
from risala.plugins.payment import ForgedCallbackError
from web_people import method, payment

BILLING = "/app/org_1/billing"
PAYMENT = f"{BILLING}/payments/pay_1"
CHECKOUT = "/pay/sandbox/checkout/pay_2"


@pytest.fixture(autouse=True)
def _ways(gateway):
    gateway.methods = [method("bankily", "Bankily"), method("sandbox", "<Card>")]
    card = payment(
        "pay_2", method="sandbox", asks=[], byOperator=False, instructions={}, checkoutUrl=CHECKOUT
    )
    gateway.payments.given = {"pay_1": payment("pay_1"), "pay_2": card}


async def test_the_billing_page_has_the_ways_and_what_is_under_way(owner):
    page = await owner.get(BILLING)
    assert "&lt;Card&gt;" in page.text
    assert 'value="bankily" checked' in page.text
    assert "are not paid yet" in page.text
    assert f'href="{PAYMENT}"' in page.text


async def test_a_payment_is_begun_in_the_readers_language(owner, gateway):
    page = await owner.get(BILLING)
    fields = {"method": "bankily", "amount": "5 000,00"}
    page = await owner.submit(page, f"{BILLING}/payments", fields)
    assert page.location == f"{BILLING}/payments/pay_9"
    asked = {"method": "bankily", "amount": "5000.00", "language": "en", "entered": {}}
    assert gateway.done[-1] == ("payment.begin", {"organization_id": "org_1", **asked})


async def test_a_refused_payment_keeps_what_was_typed(owner, gateway):
    page = await owner.get(BILLING)
    perform = gateway.perform

    async def refusing(name, arguments, caller):
        if name == "payment.begin":
            raise Invalid("amount", "amount_out_of_range", "No.")
        return await perform(name, arguments, caller)

    gateway.perform = refusing
    fields = {"method": "sandbox", "amount": "9999999"}
    page = await owner.submit(page, f"{BILLING}/payments", fields)
    assert page.status == 422
    assert "what can be paid at once" in page.text
    assert 'value="9999999"' in page.text
    assert 'value="sandbox" checked' in page.text


async def test_the_reference_is_entered_on_the_payments_own_page(owner, gateway):
    page = await owner.get(PAYMENT)
    assert "038 221" in page.text
    assert f'action="{PAYMENT}"' in page.text
    page = await owner.submit(page, PAYMENT, {"reference": " BK-77 ", "evil": "x"})
    assert page.location == PAYMENT
    told = {"payment_id": "pay_1", "entered": {"reference": "BK-77"}}
    assert gateway.done[-1] == ("payment.claim", told)


async def test_a_used_reference_is_told_at_its_field(owner, gateway):
    page = await owner.get(PAYMENT)
    perform = gateway.perform

    async def refusing(name, arguments, caller):
        if name == "payment.claim":
            raise Invalid("entered.reference", "reference_used", "No.")
        return await perform(name, arguments, caller)

    gateway.perform = refusing
    page = await owner.submit(page, PAYMENT, {"reference": "<BK>"})
    assert page.status == 422
    assert "was already credited" in page.text
    assert 'value="&lt;BK&gt;"' in page.text
    assert 'id="reference-fault"' in page.text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"state": "confirmed", "paid": "450.00", "entry": 7, "asks": []}, "are credited"),
        ({"state": "refused", "why": {"en": "<b>Nothing</b> came."}, "asks": []}, "&lt;b&gt;"),
        ({"state": "expired", "asks": []}, "The payment did not arrive in time"),
        ({"state": "begun", "asks": []}, "does not answer right now"),
        ({"asks": [], "reference": "BK-1"}, "We look for the reference"),
        ({"asks": [], "byOperator": False}, "It comes automatically"),
        ({"method": "gone"}, "gone"),
    ],
)
async def test_every_state_says_what_comes_next(owner, gateway, changes, sentence):
    gateway.payments.given["pay_1"] = payment("pay_1", **changes)
    assert sentence in (await owner.get(PAYMENT)).text


async def test_a_provider_that_did_not_answer_is_asked_again(owner, gateway):
    gateway.payments.given["pay_1"] = payment("pay_1", state="begun", asks=[])
    page = await owner.get(PAYMENT)
    assert f'action="{PAYMENT}/retry"' in page.text
    assert (await owner.submit(page, f"{PAYMENT}/retry")).location == PAYMENT
    assert ("payment.retry", {"payment_id": "pay_1"}) in gateway.done


async def test_a_viewer_sees_how_it_stands_and_pays_nothing(reader_as):
    viewer = reader_as(Role.VIEWER)
    page = await viewer.get(PAYMENT)
    assert "5,000.00" in page.text
    assert "I have paid" not in page.text
    assert f'action="{BILLING}/payments"' not in (await viewer.get(BILLING)).text


async def test_a_card_is_paid_by_whoever_has_the_link_and_is_in_no_answer(stranger, gateway):
    page = await stranger.get(CHECKOUT)
    assert page.status == 200
    assert "5,000.00" in page.text
    wrong = await stranger.submit(page, CHECKOUT, {"card": "4111111111111111"})
    assert wrong.status == 422
    assert "two test cards" in wrong.text
    assert "4111" not in wrong.text
    paid = await stranger.submit(page, CHECKOUT, {"card": "٤٢٤٢ 4242 4242 4242"})
    assert paid.location == f"{BILLING}/payments/pay_2"
    assert "nothing more can be paid" in (await stranger.get(CHECKOUT)).text


@pytest.mark.parametrize("path", ["sandbox/checkout/pay_x", "bankily/checkout/pay_2", "x/y"])
async def test_there_is_no_other_checkout(stranger, path):
    assert (await stranger.get(f"/pay/{path}")).status == 404


@pytest.mark.parametrize(
    ("refusal", "status"),
    [(None, 200), (ForgedCallbackError("x"), 400), (NotFound("x"), 404), (Unavailable("x"), 503)],
)
async def test_a_callback_is_handed_on_as_it_came(stranger, gateway, refusal, status):
    gateway.payments.refuse = refusal
    page = await stranger.ask("POST", "/pay/till/callback?a=1", b'{"x": 1}', X_Signed="yes")
    assert page.status == status
    ((name, callback),) = gateway.payments.callbacks
    assert (name, callback.body, callback.query) == ("till", b'{"x": 1}', {"a": "1"})
    assert callback.headers["x-signed"] == "yes"
    assert "set-cookie" not in page.headers


def owed(state: str = "sent", left: int = 2):
    """One whose customer is to show that the payer's number is theirs."""
    payer = {"number": "+22236123456", "state": state, "codesLeft": left}
    return payment("pay_1", asks=[], reference="BK-1", payer=payer)


async def test_the_code_that_came_to_the_payers_number_is_typed(owner, gateway):
    gateway.payments.given["pay_1"] = owed()
    page = await owner.get(PAYMENT)
    assert "One step is missing" in page.text
    assert 'autocomplete="one-time-code"' in page.text
    page = await owner.submit(page, f"{PAYMENT}/code", {"code": " 123456 "})
    assert page.location == PAYMENT
    told = {"payment_id": "pay_1", "code": "123456"}
    assert gateway.done[-1] == ("payment.check_payer", told)


async def test_a_wrong_code_is_told_at_its_field(owner, gateway):
    gateway.payments.given["pay_1"] = owed()
    page = await owner.get(PAYMENT)
    perform = gateway.perform

    async def refusing(name, arguments, caller):
        if name == "payment.check_payer":
            raise Invalid("code", "wrong_code", "No.")
        return await perform(name, arguments, caller)

    gateway.perform = refusing
    page = await owner.submit(page, f"{PAYMENT}/code", {"code": "1"})
    assert page.status == 422
    assert "This is not the code" in page.text
    assert 'id="code-fault"' in page.text


@pytest.mark.parametrize(
    ("state", "label"), [("sent", "Send another code"), ("unsent", "Send a code")]
)
async def test_another_code_is_sent_to_another_number(owner, gateway, state, label):
    gateway.payments.given["pay_1"] = owed(state)
    page = await owner.get(PAYMENT)
    assert label in page.text
    page = await owner.submit(page, f"{PAYMENT}/payer", {"number": "36 99 99 99"})
    assert page.location == PAYMENT
    told = {"payment_id": "pay_1", "number": "36 99 99 99"}
    assert gateway.done[-1] == ("payment.send_code", told)


async def test_codes_are_few_and_a_viewer_types_none(owner, gateway, reader_as):
    gateway.payments.given["pay_1"] = owed("unsent", 0)
    page = await owner.get(PAYMENT)
    assert "We check it by hand" in page.text
    assert f'action="{PAYMENT}/payer"' not in page.text
    gateway.payments.given["pay_1"] = owed()
    assert f'action="{PAYMENT}/code"' not in (await reader_as(Role.VIEWER).get(PAYMENT)).text


async def test_of_many_payments_under_way_two_stand_open(owner, gateway):
    """The others are one look away: what comes first on the page is not pushed out of sight."""
    names = [f"pay_{number}" for number in range(5)]
    gateway.payments.given = {name: payment(name) for name in names}
    text = (await owner.get("/app/org_1/billing")).text
    before, _, behind = text.partition('<details class="behind"><summary>and ')
    assert before.count('<section class="note warn">') == 2
    assert behind.count('<section class="note warn">') == 3
