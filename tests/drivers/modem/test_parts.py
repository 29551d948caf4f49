"""The driver's pure parts: fields of answers, USSD, reports, quotas, assembly, settings."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from risala.config.model import CarrierSection
from risala.drivers.modem.at.engine import Row
from risala.drivers.modem.at.fields import (
    Registration,
    brackets,
    first,
    number,
    offered,
    registration,
    signal_dbm,
    values,
)
from risala.drivers.modem.driver import ModemDriver
from risala.drivers.modem.inbound.assembly import text_of
from risala.drivers.modem.inbound.reports import SentLog
from risala.drivers.modem.settings import ModemSettings
from risala.drivers.modem.talk.ladder import Ladder, Rung
from risala.drivers.modem.tpdu.pdu import Deliver, StatusReport, TpAddress, UserData
from risala.drivers.modem.tpdu.ussd import amount_in, read_answer, reads_as_answer, requests
from risala.plugins.manager import PluginManager
from risala.sms.cause import Cause

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
DAY_MS = 86_400_000


# -- fields ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("+CSQ: 9,99", ["9", "99"]),
        ("+CSQ:9,99", ["9", "99"]),
        ("9,99", ["9", "99"]),
        ('+CPIN: "READY"', ["READY"]),
        ("+CMGL: 1,1,,24", ["1", "1", "", "24"]),
        ('+COPS: 0,0,"Mauritel, SA",2', ["0", "0", "Mauritel, SA", "2"]),
        ('+CMTI: "SM",0', ["SM", "0"]),
        ('+CSCA: "",', ["", ""]),
        ("+CNMI: (0-2),(0,3)", ["0-2", "0,3"]),
        ('+COPS: 0,0,"Mauritel: SA",2', ["0", "0", "Mauritel: SA", "2"]),
        ("12:30,5", ["12:30", "5"]),
        ("X: 1", ["X: 1"]),
        ("+X", ["+X"]),
        ("", []),
    ],
)
def test_values(row, expected):
    assert values(row) == expected


def test_a_quotation_mark_that_is_never_closed_loses_no_field():
    assert values('+X: "never,closed') == ['"never', "closed"]


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_row_has_fields(row):
    values(row)
    brackets(row)
    registration(values(row))
    signal_dbm(values(row))
    offered(row)
    number(row)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("+CREG: 0,1", Registration.HOME),
        ("+CREG: 5", Registration.ROAMING),
        ('+CREG: 2,5,"00A1","0F3B",7', Registration.ROAMING),
        ("+CREG: 2,1,00A1,0F3B", Registration.HOME),
        ("+CREG: 5,1234,5678", Registration.ROAMING),
        ("+CREG: 0,4", Registration.UNKNOWN),
        ('+CREG: 1,"00A1","0F3B",2', Registration.HOME),
        ("+CREG: 0,3", Registration.DENIED),
        ("+CREG: 0,6", Registration.SMS_ONLY_HOME),
        ('+CEREG: 2,7,"00A1","0F3B1A2C",7', Registration.SMS_ONLY_ROAMING),
        ("+CREG: 0,8", Registration.EMERGENCY),
        ("+CREG: 0,9", Registration.CSFB_HOME),
        ("+CREG: 0,10", Registration.CSFB_ROAMING),
        ("+CREG: 10", Registration.CSFB_ROAMING),
        ("+CEREG: 0,11", Registration.RESTRICTED),
        ("+CREG:", None),
        ("+CREG: x", None),
    ],
)
def test_registration(row, expected):
    assert registration(values(row)) is expected


def test_signal():
    assert signal_dbm(["0", "99"]) == -113
    assert signal_dbm(["31", "99"]) == -51
    assert signal_dbm(["32", "99"]) is None
    assert signal_dbm(["99", "99"]) is None
    assert signal_dbm([]) is None


def test_the_last_row_with_the_name_counts():
    rows = [Row("+CREG: 2"), Row("+CREG: 0,1"), Row("^RSSI: 3")]
    assert first(rows, "+CREG") == ["0", "1"]
    assert first([Row("^RSSI: 3"), Row("+creg: 5")], "+CREG") == ["5"]
    assert first([Row("0,1")], "+CREG") == ["0", "1"]
    assert first([Row("0,1"), Row("0,2")], "+CREG") == []
    assert first([], "+CREG") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0), (" 17 ", 17), ("-5", -5), ("999999999", 999_999_999), ("1000000000", None),
        ("5-", None), ("--5", None), ("1,2", None), ("٣", None), ("", None),
    ],
)  # fmt: skip
def test_a_number(text, expected):
    assert number(text) == expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("0-2,4", {0, 1, 2, 4}),
        ("3", {3}),
        ("4-4", {4}),
        ("5-3", set()),
        ("1-x,x-2,7", {7}),
        ("1-2-3", set()),
        ("", set()),
        ("5-1000,2000", {*range(5, 106), 2000}),
    ],
)
def test_what_a_bracket_allows(field, expected):
    assert offered(field) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("+CNMI: (0-2),1,(0,2)", ["0-2", "1", "0,2"]),
        ("+CNMI: (0-2),(),3", ["0-2", "", "3"]),
        ('+CPMS: ("SM","ME"),("a:b")', ['"SM","ME"', '"a:b"']),
        ("(0-2),(0,3)", ["0-2", "0,3"]),
    ],
)
def test_the_brackets_of_a_test_answer(row, expected):
    assert brackets(row) == expected


# -- USSD ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('+CUSD: 0,"Solde 42",15', (0, "Solde 42")),
        ('+CUSD: 1,"1 - Forfait\n2 - Solde",15', (1, "1 - Forfait\n2 - Solde")),
        ('+CUSD: 0,"D3379B5CD681623250535A05",15', (0, "Solde: 12 MRU")),
        ('+CUSD: 0,"D3379B5CD681623250535A05",8', (0, "Solde: 12 MRU")),  # a language, no alphabet
        ('+CUSD: 0,"00530061006C",72', (0, "Sal")),
        ('+CUSD: 0,"062706440631",17', (0, "الر")),
        ('+CUSD: 0,"1250",15', (0, "1250")),
        # The dcs is another coding's.
        ('+CUSD: 0,"D3379B5CD681623250535A05",72', (0, "Solde: 12 MRU")),
        ('+CUSD: 0,"D3379B5CD681623250535A05",17', (0, "Solde: 12 MRU")),
        ('+CUSD: 0,"0053006F006C00640065003A00200031003200200055004D",15', (0, "Solde: 12 UM")),
        ('+CUSD: 0,"530061006C0061006D00",72', (0, "Salam")),
        ('+CUSD: 0,"536F6C64653A20313220554D",15', (0, "Solde: 12 UM")),
        ('+CUSD: 0,"536F6C64653A20313220554D",72', (0, "Solde: 12 UM")),
        ('+CUSD: 0,"43726564697420C3A9707569733A2030",15', (0, "Credit épuis: 0")),
        ('+CUSD: 0,"06310635064A062F0643002000310032",15', (0, "رصيدك 12")),
        ('+CUSD: 0,"D8B1D8B5D98AD8AF",15', (0, "رصيد")),
        ('+CUSD: 0,"003100320033",15', (0, "123")),
        ('+CUSD: 0,"31323334",15', (0, "31323334")),
        *(
            (f'+CUSD: 0,"{text.encode(codec).hex().upper()}",{dcs}', (0, text))
            for text, codec, dcs in (
                ("Баланс:2220,76р", "utf-16-be", 1),
                ("Egyenleg: 777Ft. Felöltött: 0Ft", "utf-16-be", 15),
                ("Du har 0,00 kr och 0,99 GB kvar.", "utf-16-be", 7),
                ("Sisa pulsa Rp.3000.Aktif sd 26/02.\n1.YA", "ascii", 0),
                ("رصيدكم 150,00 أوقية", "utf-16-be", 0),
                ("رصيدك 12", "utf-8", 72),
                ("余额12.50元", "utf-16-be", 15),
                ("Votre crédit: 0 €", "utf-8", 17),
                ("1250,50 UM", "ascii", 15),
                ("Solde 12 MRU", "utf-16-le", 15),
                ("Crédit épuisé", "latin-1", 68),
            )
        ),
        ('+CUSD: 0,"FEFF0053006F006C006400650020003100320030",15', (0, "Solde 120")),
        ('+CUSD: 0,"Solde"', (0, "Solde")),
        ("+CUSD: 2", (2, "")),
        ("+CUSD: 4", (4, "")),
        ('+CUSD:0,"x",0', (0, "x")),
        ("+CUSD: x", None),
    ],
)
def test_ussd_answers(line, expected):
    assert read_answer(line) == expected


@pytest.mark.parametrize(
    ("text", "is_text"),
    [
        ("Solde: 1234,50 MRU. Valable 12/12/26", True),
        ("1 234,50 UM", True),
        ("رصيدك 1234.50 أوقية", True),
        ("余额12.50元", True),
        ("Your bal is GHS10.50", True),
        ("", False),
        ("Δ@Σ£d5", False),
        ("@S@o@l@d@e@:@1", False),
        ("㐰㔳㤲㉈", False),
        ("0053006F006C00640065", False),
        ("D3379B5CD681 623250535A05", False),
        ("Sold\ufffd 12", False),
    ],
)
def test_a_balance_is_only_taken_from_a_text(text, is_text):
    assert reads_as_answer(text) is is_text


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_ussd_line(text):
    read_answer(f"+CUSD: {text}")
    read_answer(f'+CUSD: 0,"{text}",15')


def test_ussd_requests():
    assert requests("*100#") == ('AT+CUSD=1,"*100#",15', 'AT+CUSD=1,"AA180C3602",15')


@pytest.mark.parametrize(
    ("text", "pattern", "amount"),
    [
        ("Votre solde: 1 234,50 MRU", r"solde: ([0-9 .,]+)", 1234.5),
        ("12.5", r"([0-9.]+)", 12.5),
        ("rien", r"([0-9.]+)", None),
        ("x1y", r"x(.)y|(z)", 1.0),
        ("z", r"x(.)y|(z)", None),
    ],
)
def test_amounts(text, pattern, amount):
    assert amount_in(text, pattern) == amount


# -- reports ---------------------------------------------------------------------------------------


def report(reference, local="22236123456", status=0, sent_at=NOW, ton=1):
    return StatusReport(reference, TpAddress(local, ton), sent_at, sent_at, status)


def test_a_reference_that_wraps_is_told_by_its_time():
    log = SentLog()
    old = log.accepted(7, "+22236123456", NOW_MS - 3 * DAY_MS)
    new = log.accepted(7, "+22236123456", NOW_MS)
    assert log.match(report(7), NOW_MS).receipt.carrier_id == new
    late = report(7, sent_at=NOW - timedelta(days=3))
    assert log.match(late, NOW_MS).receipt.carrier_id == old


def test_one_reference_to_two_recipients():
    log = SentLog()
    one = log.accepted(7, "+22236123456", NOW_MS)
    two = log.accepted(7, "+22246123456", NOW_MS)
    assert log.match(report(7, "22246123456"), NOW_MS).receipt.carrier_id == two
    assert log.match(report(7), NOW_MS).receipt.carrier_id == one


def test_a_recipient_in_national_form():
    log = SentLog()
    name = log.accepted(7, "+22236123456", NOW_MS)
    assert log.match(report(7, "36123456", ton=2), NOW_MS).receipt.carrier_id == name


def test_a_report_that_comes_twice_is_the_same_one():
    log = SentLog()
    one = log.accepted(0, "+22236123456", NOW_MS)
    log.accepted(0, "+22236123456", NOW_MS + 1000)
    assert log.match(report(0), NOW_MS).receipt.carrier_id == one
    assert log.match(report(0), NOW_MS).receipt.carrier_id == one


def test_the_service_centre_s_clock_is_hours_off():
    log = SentLog()
    ids = [log.accepted(-1, "+22236123456", NOW_MS + n * 5000) for n in range(3)]
    off = NOW + timedelta(hours=5)
    found = [
        log.match(report(40 + n, sent_at=off + timedelta(seconds=5 * n)), NOW_MS) for n in range(3)
    ]
    assert [match.receipt.carrier_id for match in found] == ids


def test_still_trying_and_then_delivered():
    log = SentLog()
    name = log.accepted(9, "+22236123456", NOW_MS)
    trying = log.match(report(9, status=0x21), NOW_MS).receipt
    done = log.match(report(9, status=0x00), NOW_MS).receipt
    assert (trying.carrier_id, trying.state.is_final) == (name, False)
    assert (done.carrier_id, done.state.is_final) == (name, True)


def test_after_a_restart_the_id_is_built_again():
    before, after = SentLog(), SentLog()
    for at_ms in (NOW_MS, NOW_MS - 40 * 60_000, NOW_MS + 40 * 60_000):
        name = before.accepted(9, "+22236123456", at_ms)
        receipt = after.match(report(9), NOW_MS + DAY_MS).receipt
        assert name in (receipt.carrier_id, *receipt.also_known_as), at_ms
    without_date = after.match(report(9, sent_at=None), NOW_MS).receipt
    assert "9-36123456-26112012" in (without_date.carrier_id, *without_date.also_known_as)
    assert len(without_date.also_known_as) < 16


def test_a_failure_has_its_code():
    log = SentLog()
    log.accepted(9, "+22236123456", NOW_MS)
    receipt = log.match(report(9, status=0x46), NOW_MS).receipt
    assert (receipt.why, receipt.raw) == (Cause.EXPIRED, "TP-ST 46")


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 255), st.integers(0, 3), st.integers(0, 10**7)), max_size=60)
)
def test_ids_are_never_given_twice(sends):
    log = SentLog()
    ids = [
        log.accepted(reference, f"+2223612345{who}", NOW_MS + at) for reference, who, at in sends
    ]
    assert len(set(ids)) == len(ids)


# -- ladder ----------------------------------------------------------------------------------------


def test_a_rung_that_helped_for_a_moment_did_not_help():
    ladder = Ladder()
    assert ladder.step() is Rung.RESYNC
    ladder.served(5)
    assert ladder.step() is Rung.RESET
    ladder.served(100)
    assert [ladder.step() for _ in range(6)] == [*Rung, Rung.RESYNC]


def test_octets_that_are_no_text():
    def eight_bit(octets):
        return Deliver(TpAddress("1"), UserData(data=octets, dcs=4), None)

    assert text_of(eight_bit(b"hello")) == "hello"
    assert text_of(eight_bit(b"\x00\xff")) == "00ff"


# -- settings --------------------------------------------------------------------------------------


def test_the_configuration_builds_a_driver(monkeypatch):
    monkeypatch.setenv("SIM1_PIN", "1234")
    manager = PluginManager()
    manager.load()
    carrier = CarrierSection(
        name="sim-1",
        driver="modem",
        modem={"port": "/dev/serial/by-id/usb-x", "baud": 9600, "pin_env": "SIM1_PIN"},
    )
    driver = manager.build_driver(carrier)
    assert isinstance(driver, ModemDriver)
    assert driver.settings.pin.get_secret_value() == "1234"
    assert "1234" not in repr(driver.settings)
    assert driver.capabilities.window_max == 1
    assert not driver.capabilities.alphanumeric_sender


@pytest.mark.parametrize(
    "table",
    [
        {"port": "ttyUSB0"},
        {"port": "socket://"},
        {"port": "socket://host"},
        {"port": "socket://host:99999"},
        {"port": "rfc2217://host:1"},
        {"port": "/dev/x", "pin": '1234"'},
        {"port": "/dev/x", "pin": "12"},
        {"port": "/dev/x", "smsc_number": '1"\r'},
        {"port": "/dev/x", "speed": 1},
        {"port": "/dev/x", "reopen_first_s": 60},
        {"port": "/dev/x", "ussd_balance": {"code": '*1#"'}},
        {"port": "/dev/x", "ussd_balance": {"code": "*1#", "pattern": "("}},
        {"port": "/dev/x", "ussd_balance": {"code": "*1#", "pattern": "[0-9]"}},
    ],
)
def test_what_settings_refuse(table):
    with pytest.raises(ValidationError) as caught:
        ModemSettings(**table)
    assert "1234" not in str(caught.value)
