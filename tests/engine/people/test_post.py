"""The post: no mail is lost, whoever is killed; words in the reader's language, and no tricks."""

from __future__ import annotations

import json
import re
import string
import tomllib
from importlib.resources import files
from itertools import pairwise

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from risala.config.model import MailSection
from risala.drivers.mail.plugin import OutboxMailer
from risala.engine.journal.people.mails import queue_status
from risala.engine.model.callers import PROCESS
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.people import Language
from risala.engine.model.people_records import MailKind
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.webhooks import Endpoint
from risala.engine.model.states import Mode
from risala.engine.people.letters import hole_of, moment, name_of, one_line, words_in
from risala.engine.people.post import AT_ONCE, EACH_MAX, TRIES_MAX, wait_ms
from risala.plugins.mail import Mail, MailNotSentError

A, B = "a@example.com", "b@example.com"


def outcomes(town) -> list[tuple[str, str | None]]:
    return town.rows("SELECT kind, outcome FROM mails ORDER BY seq")


async def invite(town, email: str = A) -> None:
    organization = await town.do("org.create", name="Shop")
    given = {"organization_id": organization["id"], "email": email, "role": "viewer"}
    await town.do("member.invite", **given)


async def test_a_mail_that_fails_is_tried_again_soon_and_then_more_seldom(town, autojump_clock):
    town.mails.failures = 4
    await invite(town)
    await trio.sleep(600)
    assert len(town.mails.sent) == 1
    tried = town.mails.tried_s
    waits = [round(b - a) for a, b in pairwise(tried)]
    assert waits == [15, 30, 60, 120]
    assert outcomes(town) == [("invitation", "sent")]


def test_three_days_of_trying_are_enough():
    total_s = sum(wait_ms(tries) for tries in range(TRIES_MAX)) / 1000
    assert 1 < total_s / 86_400 < 4


async def test_a_code_that_is_over_is_not_sent_any_more(town, autojump_clock):
    town.mails.failures = 1
    await town.people.sign_in.begin(town.browser(), A)
    await trio.testing.wait_all_tasks_blocked()
    town.pass_s(600)
    await trio.sleep(60)
    assert town.mails.sent == []
    assert outcomes(town) == [("sign_in_code", "over")]


async def test_an_invitation_that_was_taken_back_is_not_sent(town, autojump_clock):
    town.mails.failures = 1
    await invite(town)
    await trio.testing.wait_all_tasks_blocked()
    (organization_id, invitation_id) = town.rows("SELECT organization_id, id FROM invitations")[0]
    given = {"organization_id": organization_id, "invitation_id": invitation_id}
    await town.do("member.uninvite", **given)
    await trio.sleep(60)
    assert outcomes(town) == [("invitation", "over")]


class Killer:
    """A mailer in whose hands the process is killed: before the mail was taken, or after it."""

    def __init__(self, *, taken: bool) -> None:
        self.taken = taken
        self.sent: list[Mail] = []
        self.called = trio.Event()

    async def send(self, mail: Mail) -> None:
        if self.taken:
            self.sent.append(mail)
        self.called.set()
        await trio.sleep_forever()


@pytest.mark.parametrize("taken", [False, True])
async def test_no_kill_loses_a_mail(open_town, autojump_clock, taken):
    """At least once: a mail that was taken, which nobody could write down, is sent again."""
    killer = Killer(taken=taken)
    async with open_town(killer) as town:
        await invite(town)
        await killer.called.wait()
    async with open_town() as town:
        await trio.testing.wait_all_tasks_blocked()
        assert [mail.to for mail in town.mails.sent] == [A]
        assert outcomes(town) == [("invitation", "sent")]
    async with open_town() as town:
        await trio.sleep(100)
        assert town.mails.sent == []


async def test_what_a_command_owes_goes_out_when_a_service_runs(open_town, autojump_clock):
    town_before = open_town(mailer=False)
    async with town_before as town:
        await invite(town)
        await trio.testing.wait_all_tasks_blocked()
        assert outcomes(town) == [("invitation", "no mailer")]
        assert not town.people.has_mailer


async def test_a_mailer_that_hangs_or_breaks_holds_up_no_other(open_town, autojump_clock, capsys):
    class Odd:
        def __init__(self) -> None:
            self.sent: list[Mail] = []

        async def send(self, mail: Mail) -> None:
            if mail.to.startswith("hang"):
                await trio.sleep_forever()
            if mail.to.startswith("bug"):
                raise KeyError("a bug")
            self.sent.append(mail)

        to = None

    async with open_town(Odd()) as town:
        for email in ("hang@example.com", "bug@example.com", B):
            await invite(town, email)
        await trio.testing.wait_all_tasks_blocked()
        assert [mail.to for mail in town.mails.sent] == [B]
        await trio.sleep(200)
        assert {outcome for _, outcome in outcomes(town)} == {None, "sent"}
    said = "".join(capsys.readouterr())
    assert "people.mail.bug" in said
    assert "did not answer in time" in said
    for email in ("hang@", B):  # to whom is nobody's business
        assert email not in said


async def test_one_organization_s_many_mails_hold_no_other_s_up(open_town, autojump_clock):
    slow_s = 10.0

    class Slow:
        to = None

        def __init__(self) -> None:
            self.sent: list[str] = []

        async def send(self, mail: Mail) -> None:
            self.sent.append(mail.to)
            await trio.sleep(slow_s)

    async with open_town(Slow()) as town:
        many = await town.do("org.create", name="Many")
        given = {"organization_id": many["id"], "role": "viewer"}
        for number in range(20):
            await town.do("member.invite", email=f"many{number}@example.com", **given)
        await trio.testing.wait_all_tasks_blocked()
        assert len(town.mails.sent) == EACH_MAX
        for email in (A, B):
            await invite(town, email)
        await trio.testing.wait_all_tasks_blocked()
        assert town.mails.sent[EACH_MAX:] == [A]  # at once: one place is left to others
        await trio.sleep(slow_s + 1)
        assert B in town.mails.sent[EACH_MAX + 1 :][:AT_ONCE]
        await trio.sleep(20 * slow_s)
        assert len({*town.mails.sent}) == len(town.mails.sent) == 22


async def test_what_became_of_mails_is_known_for_a_week(town, autojump_clock, leap):
    await invite(town)
    await trio.testing.wait_all_tasks_blocked()
    town.pass_s(6 * 86_400)
    await leap(3700)
    assert len(outcomes(town)) == 1
    town.pass_s(86_400)
    await leap(3700)
    assert outcomes(town) == []


async def test_owners_are_told_of_a_low_balance_once_a_day(town, autojump_clock):
    perform, services = town.do, town.gateway.services
    shop = (await perform("org.create", name="Shop"))["id"]
    for email, role, language in ((A, "owner", "en"), (B, "developer", "en")):
        await perform("user.create", email=email, language=language)
        await perform("member.add", organization_id=shop, email=email, role=role)
    await perform("org.set", organization_id=shop, low_balance="9.80")
    await perform("topup", organization_id=shop, amount="10")
    principal = Principal(shop, "key", KeyType.SECRET, Mode.LIVE)

    async def send() -> None:
        await services.intake.send(principal, SendMessage(to="+22236123456", body="x"))
        await trio.sleep(31)  # the post looks by itself: a send rings nobody

    await send()
    (mail,) = town.mails.sent
    assert (mail.to, mail.subject) == (A, "The balance of an organization is low: 9.50 MRU")
    assert "“Shop”" in mail.text
    assert f"https://sms.example/app/{shop}/billing" in mail.text
    await perform("topup", organization_id=shop, amount="1")
    await send()
    await send()
    assert len(town.mails.sent) == 1
    town.pass_s(86_400)
    await perform("topup", organization_id=shop, amount="1")
    await send()
    await send()
    await send()
    assert len(town.mails.sent) == 2


# -- words


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_language_has_the_same_letters_with_the_same_holes():
    catalogues = {language: words_in(language) for language in Language}
    shapes = {
        language: {
            kind: {part: holes(text) for part, text in words.items()}
            if kind in list(MailKind)
            else sorted(words)
            for kind, words in catalogue.items()
        }
        for language, catalogue in catalogues.items()
    }
    assert shapes[Language.FRENCH] == shapes[Language.ENGLISH] == shapes[Language.ARABIC]
    assert {*MailKind} <= {*shapes[Language.FRENCH]}
    for path in (files("risala.engine.people") / "letters").iterdir():
        assert tomllib.loads(path.read_text(encoding="utf-8"))


def test_french_letters_have_the_spaces_of_french():
    for kind in MailKind:
        for text in words_in(Language.FRENCH)[kind.value].values():
            assert not re.search(r"[ ][:;?!»]|«[ ]|'", text), text
    for kind in MailKind:
        for text in words_in(Language.ARABIC)[kind.value].values():
            assert not re.search(r"[,;?]", text), text


@pytest.mark.parametrize(
    ("language", "word"), [("fr", "Votre code"), ("ar", "رمزك"), ("en", "Your code is")]
)
async def test_a_known_reader_is_written_to_in_their_language(town, autojump_clock, language, word):
    await town.do("user.create", email=A, language=language)
    await town.people.sign_in.begin(town.browser(language=Language.ENGLISH), A)
    await trio.testing.wait_all_tasks_blocked()
    (mail,) = town.mails.sent
    assert mail.text.startswith(word)


async def test_a_stranger_is_written_to_in_the_language_of_the_page(town, autojump_clock):
    await town.people.sign_in.begin(town.browser(language=Language.ARABIC), A)
    await trio.testing.wait_all_tasks_blocked()
    assert "الرمز" in town.mails.sent[0].text


@given(st.text(max_size=40))
def test_what_others_wrote_stays_on_one_line_and_turns_nothing_around(text):
    line = one_line(text)
    assert line.isprintable() or " " in line
    assert not re.search("[\r\n\0\u202a-\u202e\u2066-\u2069\u200b-\u200f]", line)


async def test_a_name_cannot_smuggle_a_header_in(town, autojump_clock):
    name = "Shop\u2028Bcc: Fatima {code}"
    organization = await town.do("org.create", name=name)
    given = {"organization_id": organization["id"], "email": A, "role": "viewer"}
    await town.do("member.invite", **given)
    await trio.testing.wait_all_tasks_blocked()
    (mail,) = town.mails.sent
    assert mail.subject == "Risala\u00a0: vous êtes invité à rejoindre une organisation"
    assert "«\u00a0Shop Bcc: Fatima {code}\u00a0»" in mail.text


@pytest.mark.parametrize("language", [*Language])
async def test_a_user_of_the_machine_is_the_operator(town, autojump_clock, language):
    await town.do("user.create", email=A, language=language)
    await invite(town)
    await trio.testing.wait_all_tasks_blocked()
    (mail,) = town.mails.sent
    assert words_in(language)["people"]["begins"] in mail.text
    assert PROCESS.who not in mail.text


def test_names_and_numbers_stand_apart_where_they_are_read_the_other_way():
    """What is copied or opened has no marks around it."""
    arabic, english = Language.ARABIC, Language.ENGLISH
    assert hole_of(arabic, "organization", "Shop") == "\u2068Shop\u2069"
    assert hole_of(arabic, "who", "+22236\n123456") == "\u2068+22236 123456\u2069"
    assert hole_of(arabic, "organization", "متجر") == "متجر"
    assert hole_of(english, "organization", "متجر") == "\u2068متجر\u2069"
    assert hole_of(english, "organization", "Shop") == "Shop"
    for name in ("code", "url", "target", "issuer", "email", "head"):
        assert hole_of(arabic, name, "https://sms.example/") == "https://sms.example/"


def test_the_service_has_one_name_in_arabic():
    """`رسالة` alone is a message, and a line that begins with Latin letters runs from the left."""
    for kind in MailKind:
        letter = words_in(Language.ARABIC)[kind.value]
        assert not re.search(r"^رسالة:|(?:إلى|في) رسالة\b", letter["subject"]), kind
        for line in (letter["subject"], *letter["text"].splitlines()):
            assert not re.match(r"[A-Za-z{]\w+\}?[^\n]*[\u0600-\u06ff]", line) or line == "{what}"


# -- the file


async def test_the_outbox_is_a_file_of_its_owners_alone(tmp_path):
    path = tmp_path / "outbox.jsonl"
    mailer = OutboxMailer(MailSection(mailer="outbox", outbox=path))
    for text in ("one\n", "مرحبا\n"):
        await mailer.send(Mail(A, "Subject", text))
    assert path.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["text"] for line in lines] == ["one\n", "مرحبا\n"]
    assert set(lines[0]) == {"at", "to", "subject", "text"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", lines[0]["at"])


async def test_an_outbox_that_cannot_be_written_is_a_mail_not_sent(tmp_path):
    mailer = OutboxMailer(MailSection(mailer="outbox", outbox=tmp_path / "none" / "outbox"))
    with pytest.raises(MailNotSentError, match="cannot be written"):
        await mailer.send(Mail(A, "Subject", "x"))


async def test_the_doctor_tells_of_mails_that_nobody_got(open_town, autojump_clock, kept_mails):
    async with open_town(mailer=False) as town:
        await invite(town)
        await trio.testing.wait_all_tasks_blocked()
        found = queue_status(town.gateway.services.repositories._store.reader)
        assert (found.failing, found.given_up, found.no_mailer) == (0, 0, 1)
    mails = kept_mails(failures=2)
    async with open_town(mails) as town:
        await invite(town, B)
        await trio.testing.wait_all_tasks_blocked()
        assert queue_status(town.gateway.services.repositories._store.reader).failing == 1
        await trio.sleep(100)
        assert queue_status(town.gateway.services.repositories._store.reader).failing == 0


@pytest.mark.parametrize(
    ("language", "zone", "written"),
    [
        (Language.FRENCH, "Africa/Nouakchott", "12 sept. 2026, 22:25"),
        (Language.ENGLISH, "Asia/Tokyo", "13 Sep 2026, 07:25"),
        (Language.ARABIC, "Africa/Nouakchott", "12 شتمبر 2026, 22:25"),
        (Language.ARABIC, "Africa/Tunis", "12 سبتمبر 2026, 23:25"),
    ],
)
def test_times_are_written_as_pages_write_them(language, zone, written):
    at_ms = 1_789_251_900_000
    assert moment(at_ms, language, zone).replace("،", ",") == written


@pytest.mark.parametrize(
    ("description", "named"),
    [
        ("Ancien CRM", "Ancien CRM"),
        ("", "crm.example"),
        ("see https://evil.example", "crm.example"),
        ("two\nlines", "two lines"),
    ],
)
def test_an_endpoint_has_a_name_and_no_id(description, named):
    one = Endpoint.__new__(Endpoint)
    for name, value in {"description": description, "url": "https://crm.example/x"}.items():
        object.__setattr__(one, name, value)
    assert name_of(one) == named
