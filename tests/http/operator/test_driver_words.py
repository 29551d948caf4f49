"""What our own drivers say is said in every language; what others' say is quoted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest
from markupsafe import Markup

from risala import drivers
from risala.drivers.modem import commands
from risala.drivers.modem.at.fields import Registration
from risala.drivers.modem.card.balance import Balance
from risala.drivers.modem.card.quota import Quota
from risala.drivers.modem.network.chips import CHIPS
from risala.drivers.modem.network.lte import NetworkService
from risala.drivers.modem.session import ModemSession
from risala.drivers.modem.settings import UssdBalance
from risala.drivers.phone import commands as phones
from risala.drivers.phone.devices import RegisteredPhone
from risala.drivers.phone.driver import NO_OWNER, NOT_ITS_PHONE, NOT_WRITTEN
from risala.drivers.phone.health import PhoneFacts, health_of
from risala.drivers.phone.quota import PhoneQuota
from risala.drivers.phone.settings import PhoneSettings
from risala.drivers.phone.words import SimCard
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.habits import Habits
from risala.drivers.smpp.protocol.references import NEWS, Repeating
from risala.drivers.smpp.protocol.status import BIND_ADVICE, BIND_HINTS, unknown_bind
from risala.drivers.smpp.settings import SmppSettings
from risala.drivers.smpp.watches import QuietWatch
from risala.engine.features.alerts.records import Alert, AlertKind
from risala.engine.features.alerts.words import alert_words
from risala.engine.model.people import Language
from risala.engine.model.records.upkeep.plugins import PluginHealth
from risala.http.operator.alerts import shown_alerts
from risala.http.operator.carriers.driver_sentences import PHONES, SENTENCES
from risala.http.operator.carriers.driver_words import (
    driver_facts,
    driver_line,
    driver_phrase,
    driver_said,
    driver_text,
)
from risala.http.operator.plugins import ailing
from risala.http.web.languages import load_words
from sources import trees

OTHERS = (Language.FRENCH, Language.ARABIC)
DRIVERS = Path(drivers.__file__).parent
OURS = sorted(
    [
        *DRIVERS.glob("smpp/**/*.py"),
        *DRIVERS.glob("modem/**/*.py"),
        *DRIVERS.glob("phone/**/*.py"),
        *DRIVERS.glob("hilink/**/*.py"),
        *(DRIVERS / name for name in ("loopback.py", "testmode.py")),
    ]
)
SAYS = frozenset(
    {
        *("Health", "Unready", "UnreachableError", "TlsError"),
        *("trace", "_trace", "_learnt", "_on_news"),
    }
)
"""What takes a sentence for the carrier's page."""
STAYS = (
    # Faults of certificates and of TLS, in OpenSSL's words or with names of its files.
    r"The certificate of|x1 (and this machine|wants a client|does not accept|ended the handshake"
    r"|does not know the name|is |was |has )|No TLS with",
    # What a modem is and stores in, in the words of its protocol.
    r"x1, SIM …",
)
"""Sentences that stay in English, as ``docs/reference/found.md`` says."""


words_of = cache(load_words)


def english(language: Language, text: str) -> bool:
    return 'lang="en"' in driver_line(words_of(language), text)


# -- what the source says ----------------------------------------------------------------------


def said() -> Iterator[tuple[str, str]]:
    """Where a sentence is said, and the sentence with ``x1`` in its holes."""
    for path, tree in trees(OURS, "|".join(SAYS)):
        known = {
            node.target.id: node.value
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if _name(call.func) not in SAYS:
                continue
            for given in call.args:
                text = _text(given, known)
                if text and re.search("[a-z]{2}", text):
                    yield path.name, text


HTTP_AND_PHONES = sorted(
    [
        each
        for room in ("channels", "hilink", "http", "phone")
        for each in DRIVERS.glob(f"{room}/*.py")
    ]
)
ELSEWHERE = re.compile(
    # What is said in the settings' own language, before a driver runs, or to a caller alone.
    r"must |A phone has no command|The carrier's driver is not running\. See|That could not be"
    r"|No other phone|The phone is that of|x1 takes no arguments|A stick has no command"
    r"|The settings have no PIN|The carrier does not wait|Use this after"
)
NOT_SHOWN = {
    "calls.py",
    "commands.py",
    "document.py",
    "examining.py",  # for `risala modem`, which speaks English
    "page_words.py",
    "plugin.py",
    "presets.py",
    "settings.py",
    "shape.py",
}
IN_SENTENCE = {
    "way": "ahead",
    "_minutes(facts.silent_s)": "5",
    "_minutes(abs(facts.clock_off_s))": "5",
}


def told() -> Iterator[tuple[str, str]]:
    """Each sentence in the source of HTTP carriers and phones, with ``x1`` in its holes."""
    for path in HTTP_AND_PHONES:
        if path.name in NOT_SHOWN:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner = {
            id(each)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr) or _is_docstring(node)
            for each in ast.walk(node)
            if each is not node
        }
        for node in ast.walk(tree):
            if id(node) in inner:
                continue
            text = _told(node)
            if re.fullmatch(r"(?:[A-Z`x]|\{).* .*\.", text) and not ELSEWHERE.match(text):
                yield path.name, text


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _told(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.sub(r"\{[a-z]+\}", "x1", node.value.strip())
    if not isinstance(node, ast.JoinedStr):
        return ""
    return "".join(
        each.value
        if isinstance(each, ast.Constant)
        else IN_SENTENCE.get(ast.unparse(each.value), "x1")
        for each in node.values
    ).strip()


@pytest.mark.parametrize("language", OTHERS)
def test_what_http_carriers_and_phones_say_is_said_in_every_language(language):
    every = list(told())
    assert len(every) > 45
    assert [each for each in every if english(language, each[1])] == []


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _text(node: ast.AST | None, known: dict[str, ast.AST]) -> str | None:
    if isinstance(node, ast.Name) and node.id in known:
        return _text(known[node.id], known)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    return "".join(_piece(each, known) for each in node.values)


def _piece(piece: ast.AST, known: dict[str, ast.AST]) -> str:
    if not isinstance(piece, ast.FormattedValue):
        return _text(piece, known) or ""
    hole = ast.unparse(piece.value)
    return SAMPLES.get(hole) or _text(piece.value, known) or "x1"


SAMPLES = {
    "health.text": "Bound.",
    "hint": " The modem answers again.",
    "speaks": " and speaks version 0x34",
    "PLAIN_PORT": "Ask the carrier for its TLS port, or set tls = false.",
    "theirs": "The certificate of x1",
    "waited": "within 5 s",
    "parts": "2 of its parts",
}
"""Holes that a piece of a sentence fills."""


@pytest.mark.parametrize("language", OTHERS)
def test_what_our_drivers_say_of_their_links_is_said_in_every_language(language):
    every = list(said())
    assert len(every) > 60
    stays = re.compile("|".join(STAYS)).match
    assert [each for each in every if english(language, each[1]) and not stays(each[1])] == []


@pytest.mark.parametrize("language", OTHERS)
def test_what_carriers_habits_and_refused_binds_are_told_by_is_said_too(language):
    told = [
        *NEWS.values(),
        *BIND_ADVICE.values(),
        *BIND_HINTS.values(),
        unknown_bind("bind_transceiver", "transceiver"),
        'Bound. Receipts match no message: set message_id_form = "hex".',
        "up: Bound by 1 links of 2.",
        "The modem does not answer.",
        "The receipt of 7 says more: a 1, b 2. Further ones are not shown.",
        "alert_notification: 22236123456 can be reached again.",
        "the operator set it to paused",
    ]
    assert [each for each in told if english(language, each)] == []
    words = words_of(language)
    for state in Repeating:
        [(name, value)] = driver_facts(words, "smpp", {"user_message_reference": state.value})
        assert "References" not in name
        assert 'lang="en"' not in value


# -- what they can be asked, and what an operator should see to --------------------------------


@pytest.mark.parametrize("language", OTHERS)
def test_what_our_drivers_can_be_asked_is_said_in_every_language(language):
    every = [each for each in vars(commands).values() if isinstance(each, commands.DriverCommand)]
    every += [*SmppDriver.commands, *phones.COMMANDS]
    assert len(every) == 9
    words = words_of(language)
    told = {driver_phrase(words, each.summary) for each in every}
    assert not told & {each.summary for each in every}
    assert not [each for each in told if 'lang="en"' in each]


def attention_of_smpp() -> Iterator[str]:
    quiet = QuietWatch(1.0)
    for at_s in range(8):
        quiet.bound_again(at_s)
    yield quiet.attention
    account = {"host": "smsc.example", "port": 2775, "system_id": "risala", "password": "x"}
    settings = SmppSettings(**account)
    for habit in ("gives_no_ids", "gives_same_id"):
        habits = Habits(settings, print)
        setattr(habits, habit, True)
        yield str(habits.details["attention"])


def attention_of_modem() -> Iterator[str]:
    data_alone = NetworkService(circuit=Registration.DENIED, packet=Registration.HOME)
    for of_settings in (True, False):
        session = object.__new__(ModemSession)
        session._watch = SimpleNamespace(sight=SimpleNamespace(service=data_alone))
        session._context = SimpleNamespace(carrier="sim-1")
        session.chip = CHIPS[2]
        quota = Quota(recipients_per_month_max=0 if of_settings else None)
        session._records = SimpleNamespace(tally=SimpleNamespace(quota=quota), now_ms=lambda: 0)
        session._facts = SimpleNamespace(routing=SimpleNamespace(reports=False))
        session._settings = SimpleNamespace(reports=of_settings)
        session.balance = Balance(UssdBalance(code="*124#", low=100.0))
        session.balance.amount = 12.5
        yield str(session._attention)
        yield session._silence_of_reports


@pytest.mark.parametrize("language", OTHERS)
def test_what_an_operator_should_see_to_is_said_in_every_language(language):
    every = [*attention_of_smpp(), *attention_of_modem()]
    assert all(every)
    assert [each for each in every if english(language, each)] == []


def test_who_tells_of_something_else_to_see_to_adds_it_here():
    found = {
        path.name
        for path, tree in trees(OURS, "attention")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value == "attention"
    }
    # SMPP's driver, the modem's session, a stick's life, and a phone's health, which is tried as a
    # whole
    assert found == {"driver.py", "habits.py", "session.py", "life.py", "health.py"}


@pytest.mark.parametrize("language", OTHERS)
def test_the_names_of_our_facts_are_said_in_every_language(language):
    words = words_of(language)
    for path in (
        *(DRIVERS / "smpp/driver.py", DRIVERS / "modem/session.py"),
        *(DRIVERS / "modem/manager/life.py", DRIVERS / "phone/health.py"),
        DRIVERS / "hilink/life.py",
    ):
        for name in facts_in(path):
            driver = {"manager": "modemmanager"}.get(path.parent.name, path.parent.name)
            [(told, _)] = driver_facts(words, driver, {name: "x1"})
            assert 'lang="en"' not in told, name


def facts_in(path: Path) -> Iterator[str]:
    """The names that a driver gives its facts."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.AnnAssign) and _name(node.target) == "details":
            assert isinstance(node.value, ast.Dict)
            yield from (each.value for each in node.value.keys if isinstance(each, ast.Constant))
        if isinstance(node, ast.Subscript) and _name(node.value) == "details":
            assert isinstance(node.slice, ast.Constant)
            yield node.slice.value


def phones_facts() -> Iterator[PhoneFacts]:
    """A phone in each state that it may have."""
    phone = RegisteredPhone("1", "", "samsung/SM A14", (SimCard(1, "Mattel"),), 0)
    up = PhoneFacts(
        carrier="my-phone",
        phone=phone,
        candidate=None,
        sim=None,
        number="+22236123456",
        is_listening=True,
        has_called=True,
        silent_s=1.0,
        silent_after_s=900.0,
        is_stalled=False,
        last_seen_ms=0,
        clock_off_s=0.0,
        in_hand=0,
        today=0,
        strangers=0,
    )
    none = replace(up, phone=None)
    yield from (up, none, replace(none, strangers=1), replace(up, phone=replace(phone, name="")))
    yield from (replace(up, silent_s=960.0), replace(up, has_called=False))
    yield from (replace(up, is_listening=False), replace(up, is_stalled=True))
    for candidate in (phone, replace(phone, name="")):
        yield replace(up, candidate=candidate, sim=2, clock_off_s=-600.0)
    yield replace(up, clock_off_s=600.0)


def told_of_phones() -> Iterator[str]:
    for facts in phones_facts():
        health = health_of(facts)
        yield from (health.text, str(health.details.get("attention", "")))
    yield from (NO_OWNER.format(owner="a"), NOT_ITS_PHONE.format(owner="a"), NOT_WRITTEN)
    for settings in (PhoneSettings(per_day_max=1), PhoneSettings(per_minute=0.01)):
        quota = PhoneQuota(settings)
        quota.count(1, 0)
        yield quota.declines(1, 0).text
    yield "A phone has registered: samsung/SM A14."


@pytest.mark.parametrize("language", OTHERS)
def test_how_a_phone_is_said_to_be_is_said_in_every_language(language):
    every = [each for each in told_of_phones() if each]
    assert [each for each in every if english(language, each)] == []
    assert "The phone" not in driver_line(words_of(language), "The phone is connected.")
    lines = " ".join(driver_line(words_of(language), each) for each in every)
    pieces = [re.split(r"\{[a-z]+\}", sentence) for sentence in PHONES]
    unsaid = [each for each in pieces if not any(all(p in it for p in each) for it in every)]
    assert unsaid == [], "no driver says it"
    assert "samsung/SM A14" in lines


@pytest.mark.parametrize("language", OTHERS)
def test_what_a_phones_driver_answers_is_said_in_every_language(language):
    answer = {"phone": "a phone without a name", "state": "waits", "strangers": 0, "token": "x1"}
    answer |= {"replaced": "samsung/SM A14", "forgotten": "my-phone"}
    told = driver_facts(words_of(language), "phone", answer)
    assert [name for name, _ in told if 'lang="en"' in name] == []
    assert [value for _, value in told[:2] if 'lang="en"' in value] == []


# -- every sentence, in all views --------------------------------------------------------------


def every_sentence(language: Language) -> Iterator[tuple[str, Markup]]:
    """A text of each sentence with its holes filled, and how it is said."""
    words = words_of(language)
    for sentence in SENTENCES:
        names = re.findall(r"{([a-z]+)}", sentence)
        typed = {name: "Bound." if name == "said" else "x1" for name in names}
        told = {
            name: words("Bound.") if name == "said" else Markup("<bdi>x1</bdi>") for name in names
        }
        yield sentence.format(**typed), words(sentence, **told)


def plain(language: Language, told: Markup) -> str:
    ends = ("\u2068", "\u2069") if language is Language.ARABIC else ("", "")
    text = told.replace("<bdi>", ends[0]).replace("</bdi>", ends[1])
    return unescape(str(text))


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_said_in_all_views(language):
    words = words_of(language)
    reader = SimpleNamespace(words=words, at=lambda page: page)
    for text, told in every_sentence(language):
        assert driver_line(words, text) == told
        assert driver_said(words, text) == f"<q>{told}</q>"
        health = PluginHealth("drivers", "smpp", "mattel", "down", text)
        assert ailing(reader, health) == words("down: {said}", said=told)
        facts = {"state": "down", "text": text}
        alert = Alert(1, AlertKind.CARRIER_DOWN, "mattel", facts, 0, None, {}, 0, None, None, None)
        quoted = {each.value: alert_words(alert, each).text for each in Language}
        view = SimpleNamespace(
            kind="carrier_down", subject="mattel", title=quoted, text=quoted, facts=facts
        )
        [note] = shown_alerts(reader, [view])
        assert note.text.endswith(told)
        mail = alert_words(alert, language, driver_text).text
        assert mail.endswith(plain(language, told))
        assert text not in mail or text == told


# -- what stays a quotation ---------------------------------------------------------------------


def test_what_others_drivers_say_and_call_their_facts_is_quoted():
    words = words_of(Language.FRENCH)
    text = "Bound. And <b>more</b>."
    assert driver_said(words, text) == (
        '<q dir="auto" lang="en">Bound. And &lt;b&gt;more&lt;/b&gt;.</q>'
    )
    [(name, value)] = driver_facts(words, "acme", {"operator": "yes", "none": None})
    assert (name, 'lang="en"' in value) == ('<bdi lang="en">operator</bdi>', True)
    assert driver_line(words, "up: So <b>what</b>?").startswith("connecté")
    assert "So &lt;b&gt;what&lt;/b&gt;?" in driver_line(words, "up: So <b>what</b>?")
    assert english(Language.FRENCH, "Bound. " * 200)


def test_a_hole_swallows_no_words_of_a_longer_sentence():
    words = words_of(Language.FRENCH)
    said = "Bound to a:1 as transceiver; the SMSC is 'RISALA SIM' and speaks version 0x34."
    assert "speaks" not in driver_line(words, said)
    assert english(Language.FRENCH, "Connecting to a:1 and then to something else.")


def test_several_sentences_are_told_one_after_the_other():
    said = "No connection to a:1: there is no route to it. Trying again in 2.5 s."
    told = driver_line(words_of(Language.FRENCH), said)
    assert told == (
        "Pas de connexion à <bdi>a:1</bdi>\u00a0: aucun chemin n’y mène."
        " Nouvel essai dans <bdi>2.5</bdi> s."
    )
