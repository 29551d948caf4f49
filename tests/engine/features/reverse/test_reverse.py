"""Reverse verification: what proves a number, what does not, and what is left of it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from patience import until_true
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import Invalid, NotFound, RateLimited, VerifyRefused
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.verify.sessions import Method
from risala.engine.model.states import Mode
from risala.plugins.contract import HealthState

TO, OTHER = "+22236123456", "+22246123401"
OUR_NUMBER = "+22241000000"
PENDING, APPROVED = "pending", "approved"
CALL = Method.MISSED_CALL


def word(started) -> str:
    return started.text.split()[-1]


async def test_the_right_text_from_the_right_number_proves_it(reverse, quick):
    started = await reverse.start()
    assert (started.status, started.method) == (PENDING, "inbound_sms")
    assert started.send_to == OUR_NUMBER
    assert re.fullmatch(r"Test [0-9A-HJKMNP-TV-Z]{8}", started.text)
    assert started.link == f"sms:{OUR_NUMBER}?&body=Test%20{word(started)}"
    assert started.qr_svg.startswith("<svg ")
    assert re.search(r"/v/[\w-]{22}$", started.page)
    for shown in (started, await reverse.hosted(started)):
        assert word(started) not in repr(shown)
    assert reverse.view(started).details == {"method": "inbound_sms"}
    await reverse.text(started.text)
    assert reverse.status(started) == APPROVED
    assert await reverse.events(started) == [("verify.sent", TO), ("verify.approved", TO)]
    house = reverse.house
    assert (await house.balance(), house.driver.submitted) == ("0.00", [])


@pytest.mark.parametrize(
    "written",
    [
        "{text}",
        "  {lower}\n",
        "FWD: {text}\n-- \nsent from my phone",
        "{name}  {half} {rest}",
        "{name} {half}-{rest}!",
        "please prove me: {word}.",
        "Test\u200f {word}",
        "{misread}",
        "{arabic}",
    ],
)
async def test_a_text_counts_however_it_is_written(reverse, quick, written):
    started = await reverse.start()
    mine = word(started)
    text = written.format(
        text=started.text,
        name="Test",
        word=mine,
        half=mine[:4],
        rest=mine[4:],
        lower=started.text.lower(),
        misread=mine.replace("0", "O").replace("1", "l"),
        arabic=mine.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")),
    )
    await reverse.text(text)
    assert reverse.status(started) == APPROVED


@pytest.mark.parametrize("number", ["22236123456", "0022236123456", "36123456", TO])
async def test_a_number_counts_in_each_of_its_forms(reverse, quick, number):
    started = await reverse.start()
    await reverse.text(started.text, number)
    assert reverse.status(started) == APPROVED
    called = await reverse.start(method=CALL)
    await reverse.ring(number)
    assert reverse.status(called) == APPROVED


@pytest.mark.parametrize("number", [OTHER, "RISALA", "1234", "", "+33612345678"])
async def test_a_forwarded_or_withheld_number_proves_nothing(reverse, quick, number):
    started = await reverse.start()
    await reverse.text(started.text, number)
    assert reverse.status(started) == PENDING
    assert (await reverse.hosted(started)).refused == (
        "other_number" if number == OTHER else "withheld"
    )
    await reverse.text(started.text)
    assert reverse.status(started) == APPROVED


async def test_only_carriers_that_are_believed_prove_a_number(reverse, quick):
    started = await reverse.start()
    await reverse.text(started.text, carrier="wild")
    assert reverse.status(started) == PENDING
    assert (await reverse.hosted(started)).refused == "untrusted"
    await reverse.text(started.text, carrier="vouched")
    assert reverse.status(started) == APPROVED


async def test_a_word_counts_once(reverse, quick):
    """Also of two people who send one text, and of a carrier that brings a text again."""
    started = await reverse.start(to=None)
    assert reverse.view(started).to == ""
    await reverse.text(started.text, OTHER, carrier_id="once")
    assert (reverse.status(started), reverse.view(started).to) == (APPROVED, OTHER)
    for number, carrier_id in ((TO, "a"), (OTHER, "b"), (OTHER, "once")):
        await reverse.text(started.text, number, carrier_id=carrier_id)
    assert reverse.view(started).to == OTHER
    kinds = [kind for kind, _ in await reverse.events(started)]
    assert kinds == ["verify.sent", "verify.approved"]


async def test_a_text_that_came_before_its_session_proves_nothing(reverse, quick):
    await reverse.text("Test 00000000")
    started = await reverse.start()
    assert reverse.status(started) == PENDING


async def test_after_its_time_a_text_proves_nothing(reverse, quick):
    started, called = await reverse.start(), await reverse.start(method=CALL)
    reverse.house.pass_s(601)
    await reverse.text(started.text)
    await reverse.ring()
    assert (reverse.status(started), reverse.status(called)) == ("expired", "expired")
    hosted = await reverse.hosted(started)
    assert (hosted.status, hosted.text, hosted.qr_svg) == ("expired", None, "")


async def test_a_call_approves_the_newest_session_and_a_second_start_ends_the_first(reverse, quick):
    first = await reverse.start(method=CALL)
    assert (first.text, first.link) == (None, f"tel:{OUR_NUMBER}")
    second = await reverse.start(method=CALL)
    other, text = await reverse.start(OTHER, CALL), await reverse.start()
    assert (reverse.status(first), reverse.view(first).reason) == ("canceled", "canceled")
    for number in (None, "", "1234"):
        await reverse.ring(number)
    await reverse.ring(carrier="wild")
    assert reverse.status(second) == PENDING
    await reverse.ring()
    await reverse.ring()
    assert reverse.status(second) == APPROVED
    assert (reverse.status(other), reverse.status(text)) == (PENDING, PENDING)
    assert await reverse.events(first) == [("verify.sent", TO), ("verify.failed", TO)]
    assert await reverse.events(second) == [("verify.sent", TO), ("verify.approved", TO)]


async def test_there_is_no_code_to_check(reverse, quick):
    started, gateway = await reverse.start(), reverse.house.gateway
    for code in ("000000", word(started)):
        with pytest.raises(VerifyRefused) as refused:
            await gateway.check_code(reverse.house.principal, started.verification_id, code)
        assert refused.value.code == "NO_CODE"
    assert reverse.view(started).attempts == 0
    with pytest.raises(NotFound):
        gateway.pending_verification(reverse.house.principal, TO)
    await reverse.text(started.text)
    with pytest.raises(VerifyRefused):
        await gateway.check_code(reverse.house.principal, started.verification_id, "000000")


async def test_a_check_by_number_means_the_session_with_a_code(open_reverse, quick):
    async with open_reverse() as reverse:
        gateway, principal = reverse.house.gateway, reverse.house.principal
        sent = await gateway.send_code(principal, SendCode(TO))
        await reverse.start()
        assert gateway.pending_verification(principal, TO) == sent


async def test_who_may_leave_the_number_out(reverse, quick):
    publishable = replace(reverse.house.principal, type=KeyType.PUBLISHABLE)
    for principal, method in ((publishable, Method.INBOUND_SMS), (None, CALL)):
        with pytest.raises(Invalid) as refused:
            await reverse.start(None, method, principal)
        assert [each.path for each in refused.value.faults] == ["to"]
    assert (await reverse.start(principal=publishable)).status == PENDING


async def test_the_limits_of_codes_hold(reverse, quick):
    for _ in range(5):
        await reverse.start()
    with pytest.raises(RateLimited) as refused:
        await reverse.start(method=CALL)
    assert refused.value.limit == "phone"
    for _ in range(7):  # each has an hour of its own
        await reverse.start(to=None)


@pytest.mark.parametrize(
    "fields",
    [{"own_number": "4040"}, {"origin": "untrusted", "own_number": "4040"}, {"origin": "trusted"}],
    ids=["untrusted by itself", "untrusted", "no number"],
)
async def test_without_a_number_that_proves_anything_it_says_so(
    open_reverse, quick, carrier, fields
):
    async with open_reverse(carrier("wild", **fields)) as reverse:
        for method in Method:
            with pytest.raises(VerifyRefused, match=r"number of this service can be") as refused:
                await reverse.start(method=method)
            assert refused.value.code == "NO_NUMBER"


async def test_the_number_is_of_the_users_own_network_and_of_a_link_that_is_up(
    open_reverse, quick, carrier
):
    mattel = carrier("mattel", networks=["mattel"], own_number="31", origin="trusted", priority=9)
    usual = carrier("usual", own_number="41", origin="trusted")
    spare = carrier("spare", own_number="42", origin="trusted", priority=1)
    async with open_reverse(mattel, usual, spare) as reverse:
        assert (await reverse.start()).send_to == "31"
        assert (await reverse.start(OTHER)).send_to == "41"
        reverse.house.drivers["usual"].set_health(HealthState.DOWN)
        assert (await reverse.start(OTHER)).send_to == "42"


async def test_test_keys_prove_numbers_without_a_phone(reverse, quick):
    principal = replace(reverse.house.principal, mode=Mode.TEST)
    for to, status in ((TO, APPROVED), (TO[:-2] + "01", PENDING), (None, APPROVED)):
        started = await reverse.start(to, principal=principal)
        assert (started.status, started.send_to) == (PENDING, "1234")
        assert reverse.status(started, principal) == status
        await reverse.text(started.text, to or TO)
        assert reverse.status(started, principal) == status or to is not None


async def test_two_organizations_share_a_number_and_no_word(reverse, quick):
    house = reverse.house
    other = await house.organization()
    mine, theirs = await reverse.start(), await reverse.start(principal=other)
    assert word(mine) != word(theirs)
    await reverse.text(theirs.text)
    assert (reverse.status(mine), reverse.status(theirs, other)) == (PENDING, APPROVED)


async def test_no_word_and_no_number_is_left_of_a_session(reverse, quick):
    """And while it lasts, its word stands nowhere in the clear."""
    started = await reverse.start()
    reader = reverse.house.gateway.services.repositories._store.reader
    assert word(started) not in "\n".join(reader.iterdump())
    assert reverse.stored("word", started)
    assert reverse.stored("number", started) == TO
    await reverse.text(started.text)
    assert reverse.stored("word", started) is None
    assert reverse.stored("number", started) is None


async def test_an_erased_number_takes_its_sessions_along(reverse, quick):
    started = await reverse.start()
    await reverse.text(started.text)
    whose = {"organization_id": reverse.house.principal.organization_id, "number": TO}
    await reverse.house.gateway.perform("number.forget", whose)
    await until_true(lambda: reverse.rows() == 0)
    with pytest.raises(NotFound):
        await reverse.hosted(started)


async def test_a_page_is_found_by_its_address_alone(reverse, quick):
    started = await reverse.start(locale="fr")
    hosted = await reverse.hosted(started)
    assert (hosted.text, hosted.link, hosted.locale) == (started.text, started.link, "fr")
    for token in ("", started.verification_id, "A" * 22):
        with pytest.raises(NotFound):
            await reverse.starting.hosted(token)


async def test_a_principal_of_nobody_starts_nothing(reverse, quick):
    nobody = Principal("org_none", "key", KeyType.SECRET, Mode.LIVE)
    with pytest.raises(NotFound):
        await reverse.start(principal=nobody)


async def test_what_costs_nothing_leaves_the_share_of_secret_keys_too(reverse, quick):
    whose = {"organization_id": reverse.house.principal.organization_id}
    perform = reverse.house.gateway.perform
    await perform("verify.config", {**whose, "per_organization_per_hour": 2})
    await perform("verify.guard", {**whose, "secret_share": 50})
    page = replace(reverse.house.principal, key_id="key_1", type=KeyType.PUBLISHABLE)
    await reverse.start(principal=page)
    with pytest.raises(RateLimited) as refused:
        await reverse.start(OTHER, principal=page)
    assert refused.value.limit == "organization"
    await reverse.start(OTHER)
