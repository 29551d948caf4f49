"""How command lines are taken, and who the modem says it is."""

import pytest

from risala.lab.modem.at.keyboard import INPUT_OCTETS_MAX, LINE_OCTETS_MAX
from risala.lab.modem.modem_state import OUTPUT_OCTETS_MAX
from risala.lab.modem.world.config import PIN_TRIES
from risala.lab.modem.world.events import Heard, ModemStarted, SignalChanged, Trouble, UssdAsked
from risala.lab.modem.world.profiles import PROFILES


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("AT\r", "\r\nOK\r\n"),
        ("at\r", "\r\nOK\r\n"),
        ("AT\r\nAT\r\n", "\r\nOK\r\n\r\nOK\r\n"),
        ("\x1b\xff\x00AT\r", "\r\nOK\r\n"),
        ("AX\x08T\r", "\r\nOK\r\n"),
        ("nothing\r", ""),
        ("AT+CSQ\rA/", "\r\n+CSQ: 20,99\r\n\r\nOK\r\n" * 2),
        ("AT+CSQ;+CMGF?\r", "\r\n+CSQ: 20,99\r\n\r\n+CMGF: 0\r\n\r\nOK\r\n"),
        ("ATE0V1+CMEE=1;+CMEE?\r", "\r\n+CMEE: 1\r\n\r\nOK\r\n"),
        ("AT+CSQ;+NONE;+CMGF?\r", "\r\n+CSQ: 20,99\r\n\r\nERROR\r\n"),
        ("AT+CSQ=1\r", "\r\nERROR\r\n"),
        ("AT+CSQ=?\r", "\r\n+CSQ: (0-31,99),(0-7,99)\r\n\r\nOK\r\n"),
        ("AT+CRC=1,1\r", "\r\nERROR\r\n"),
        ("AT?!\r", "\r\nERROR\r\n"),
        ("ATS3?\r", "\r\n013\r\n\r\nOK\r\n"),
        ("ATS0=2S0?\r", "\r\n002\r\n\r\nOK\r\n"),
        ("ATV0\rAT+CSQ\r", "0\r+CSQ: 20,99\r\n0\r"),
        ("ATV0+NONE\r", "4\r"),
        ("ATQ1\rAT\rATQ0\r", "\r\nOK\r\n"),
        ("ATD+22236123456;\r", "\r\nNO CARRIER\r\n"),
        ("AT&F\r", "AT&F\r\r\nOK\r\n"),
        ("AT+CLAC=?\r", "\r\nOK\r\n"),
        ('AT+CPBS="SM";+CPBR=1,250\r', "\r\nOK\r\n"),
        ("AT+CFUN=2\r", "\r\nERROR\r\n"),
        ("AT+CMEE=1;+CFUN=2\r", "\r\n+CME ERROR: 50\r\n"),
        ("AT+CMEE=2;+CFUN=2\r", "\r\n+CME ERROR: incorrect parameters\r\n"),
        ('AT+CMEE=1;+CPIN="1"\r', "\r\n+CME ERROR: 3\r\n"),
        ("AT+CMGR=99\r", "\r\n+CMS ERROR: 321\r\n"),
        ("AT+CMEE=2;+CMGR=99\r", "\r\n+CMS ERROR: invalid memory index\r\n"),
    ],
)
def test_a_line_and_its_answer(desk, typed, said):
    answer = desk.type(typed)
    # ATZ and AT&F switch echo on; it begins with the next line.
    assert answer == said.removeprefix("AT&F\r") if "&F" in typed else answer == said


def test_an_unsolicited_line_waits_for_the_end_of_what_is_typed(new_desk):
    """In the echo it would look like a part of the command: gammu waited for ever."""
    desk = new_desk(echo=True)
    assert desk.type("AT+CSCS") == "AT+CSCS"
    desk.modem.unsolicited("RING")
    assert desk.hear(1) == ""
    assert desk.type("?\r") == '?\r\r\n+CSCS: "GSM"\r\n\r\nOK\r\n\r\nRING\r\n'
    assert desk.type("nothing") == "nothing"
    desk.modem.unsolicited("RING")
    assert desk.type("\r") == "\r\r\nRING\r\n"


def test_echo_comes_octet_by_octet_and_before_the_answer(new_desk):
    desk = new_desk(echo=True)
    assert desk.type("AT") == "AT"
    assert desk.type("\r") == "\r\r\nOK\r\n"
    assert desk.type("ATE0\r") == "ATE0\r\r\nOK\r\n"
    assert desk.type("AT\r") == "\r\nOK\r\n"
    desk.type("ATZ\r")
    assert desk.type("AT\r") == "AT\r\r\nOK\r\n"


def test_many_lines_at_once(desk):
    assert desk.type("AT\r" * 2000) == "\r\nOK\r\n" * 2000
    assert desk.type(f"AT{'+CSQ;' * 40}\r").count("+CSQ: 20") == 40
    assert desk.type(f"AT{'+CSQ;' * 41}\r") == "\r\nERROR\r\n"


def test_a_line_that_is_too_long_is_an_error_and_forgotten(desk):
    assert desk.type(f"AT{'X' * LINE_OCTETS_MAX * 9}\r") == "\r\nERROR\r\n"
    assert desk.type("AT\r") == "\r\nOK\r\n"


def test_what_is_typed_while_it_works_waits_up_to_a_limit(new_desk):
    desk = new_desk(scan_s=5)
    assert desk.type("AT+COPS=?\r") == ""
    assert desk.type("AT+CSQ\r") == ""
    desk.type("x" * INPUT_OCTETS_MAX)
    assert desk.of(Trouble)
    said = desk.hear(5)
    assert said.index("+COPS: (2") < said.index("OK") < said.index("+CSQ: 20,99")


@pytest.mark.slow
def test_what_nobody_reads_is_bounded(desk):
    for _ in range(OUTPUT_OCTETS_MAX // 10):
        desk.modem.receive(b"AT+CLAC\r")
    assert len(desk.modem.take_output()) <= OUTPUT_OCTETS_MAX
    assert desk.of(Trouble)


@pytest.mark.parametrize("name", PROFILES)
def test_who_it_is(new_desk, name):
    profile = PROFILES[name]
    desk = new_desk(name)
    modem = desk.modem
    # Huawei's lines that nobody asked for stand between those of answers.
    modem.is_noisy = False
    assert desk.rows("AT+CGMI") == desk.rows("AT+GMI") == [profile.manufacturer]
    assert desk.rows("AT+CGMM") == [profile.model]
    assert desk.rows("AT+CGMR") == [profile.revision]
    assert desk.rows("AT+CGSN") == desk.rows("AT+GSN") == ["861234567890124"]
    assert desk.rows("AT+CIMI") == ["609101234567890"]
    assert profile.model.removeprefix("SIMCOM_")[:4] in " ".join(desk.rows("ATI"))
    command = {"huawei": "AT^ICCID?"}.get(name, "AT+CCID")
    assert "8922210123456789012" in desk.rows(command)[0]
    assert desk.rows("AT+CRSM=176,12258,0,0,10") == ['+CRSM: 144,0,"982212103254769810F2"']
    assert desk.rows("AT+CNUM") == ['+CNUM: "","+22236000001",145']


@pytest.mark.parametrize("name", PROFILES)
def test_all_that_it_says_it_has_answers_to_a_test(new_desk, name):
    desk = new_desk(name)
    names = [row for row in desk.rows("AT+CLAC") if row.startswith("AT")]
    assert len(names) > 50
    for each in names:
        if each != "AT+COPS":  # takes its time
            assert desk.ask(f"{each}=?")[-1] == "OK", each
    assert desk.ask("AT+NONE=?") == [PROFILES[name].unknown]


@pytest.mark.parametrize(
    ("name", "command", "row"),
    [
        ("huawei", "AT^CPIN?", "^CPIN: SIM PIN,3,10,3,10,3"),
        ("sim800", "AT+SPIC", "+SPIC: 3,10,0,0"),
        ("quectel", 'AT+QPINC="SC"', '+QPINC: "SC",3,10'),
        ("plain", 'AT+CPINR="SIM PIN"', "+CPINR: SIM PIN,3,3"),
    ],
)
def test_how_many_tries_a_pin_has_is_told_in_each_makers_way(new_desk, name, command, row):
    desk = new_desk(name, pin="1234")
    desk.modem.is_noisy = False
    assert desk.rows(command) == [row]
    others = {"AT^CPIN?", "AT+SPIC", 'AT+QPINC="SC"'} - {command}
    assert all(desk.ask(other) == [PROFILES[name].unknown] for other in others)


def test_a_pin_opens_the_sim_and_three_wrong_ones_block_it(new_desk):
    desk = new_desk(pin="1234", is_booted=True)
    desk.rows("AT+CMEE=1")
    assert desk.rows("AT+CPIN?") == ["+CPIN: SIM PIN"]
    assert desk.ask("AT+CIMI") == ["+CME ERROR: 11"]
    assert desk.ask("AT+CMGL=4") == ["+CMS ERROR: 311"]
    assert desk.rows("AT+CMGL=?") == ["+CMGL: (0-4)"]
    assert desk.rows("AT+CREG?") == ["+CREG: 0,0"]
    for _ in range(PIN_TRIES - 1):
        assert desk.ask('AT+CPIN="0000"') == ["+CME ERROR: 16"]
    assert desk.rows("AT+CPINR") == ["+CPINR: SIM PIN,1,3", "+CPINR: SIM PUK,10,10"]
    assert desk.ask('AT+CPIN="9999"') == ["+CME ERROR: 12"]
    assert desk.rows("AT+CPIN?") == ["+CPIN: SIM PUK"]
    assert desk.ask('AT+CPIN="1234"') == ["+CME ERROR: 3"]
    assert desk.ask("AT+CMGL=4") == ["+CMS ERROR: 316"]
    assert desk.ask('AT+CPIN="87654321","4321"') == ["+CME ERROR: 16"]
    desk.rows('AT+CPIN="12345678","4321"')
    desk.wait(2)
    assert desk.rows("AT+CREG?") == ["+CREG: 0,1"]
    desk.modem.power.restart("test")
    desk.wait(5)
    desk.type("ATE0\r")
    assert desk.rows("AT+CPIN?") == ["+CPIN: SIM PIN"]
    desk.rows('AT+CPIN="4321"')
    assert all("1234" not in heard.line and "4321" not in heard.line for heard in desk.of(Heard))


def test_the_pin_can_be_switched_off_and_there_may_be_no_sim(new_desk):
    desk = new_desk(pin="1234")
    desk.rows('AT+CPIN="1234"')
    assert desk.rows('AT+CLCK="SC",2') == ["+CLCK: 1"]
    desk.rows('AT+CLCK="SC",0,"1234"')
    assert desk.rows('AT+CLCK="SC",2') == ["+CLCK: 0"]
    desk = new_desk(has_sim=False)
    desk.rows("AT+CMEE=1")
    assert desk.ask("AT+CPIN?") == ["+CME ERROR: 10"]
    assert desk.ask("AT+CIMI") == ["+CME ERROR: 10"]
    assert desk.ask("AT+CMGL=4") == ["+CMS ERROR: 310"]


def test_registration_signal_and_operator(desk):
    assert desk.rows("AT+CREG=1;+CEREG=2") == []
    desk.modem.set_registration(2)
    assert desk.hear(0) == "\r\n+CREG: 2\r\n\r\n+CEREG: 2\r\n"
    assert desk.rows("AT+COPS?") == ["+COPS: 0"]
    desk.modem.set_registration(5)
    assert '+CEREG: 5,"00C3","0001A2B4",7' in desk.hear(0)
    assert desk.rows("AT+COPS?") == ['+COPS: 0,0,"Testnet",7']
    assert desk.rows("AT+COPS=3,2;+COPS?") == ['+COPS: 0,2,"60910",7']
    desk.modem.set_signal(99)
    assert desk.rows("AT+CSQ") == ["+CSQ: 99,99"]
    assert desk.of(SignalChanged)[-1] == SignalChanged(99, 5)
    assert desk.ask("AT+CFUN=4") == ["OK", "+CREG: 0", "+CEREG: 0"]
    assert desk.rows("AT+CREG?") == ["+CREG: 1,0"]
    assert desk.rows("AT+CFUN?") == ["+CFUN: 4"]
    assert desk.ask("AT+CFUN=1")[:2] == ["OK", "+CREG: 2"]
    assert desk.rows("AT+CREG?") == ["+CREG: 1,2"]
    assert "+CREG: 5" in desk.hear(2)
    assert desk.ask('AT+COPS=1,0,"Elsewhere"') == ["ERROR"]


@pytest.mark.parametrize("name", ["plain", "huawei", "sim800", "quectel"])
def test_a_restart_forgets_settings_and_says_its_first_lines(new_desk, name):
    desk = new_desk(name)
    desk.modem.is_noisy = False
    desk.rows("AT+CMEE=1;+CMGF=1;+CREG=1")
    desk.rows("AT+CFUN=1,1")
    profile = PROFILES[name]
    assert desk.type("AT\r") == ""
    said = desk.hear(0.5)
    assert desk.modem.power.is_present is (profile.restart_gone_s is None)
    said += desk.hear((profile.restart_gone_s or 0) + profile.boot_s + 1)
    for _, line in (*profile.boot, *profile.ready):
        assert line.format(rssi=20, sim="READY") in said
    desk.type("ATE0\r")
    desk.modem.is_noisy = False
    assert desk.rows("AT+CMGF?") == ["+CMGF: 0"]
    assert desk.rows("AT+CREG?") == [f"+CREG: 0,{2 if profile.register_s > 1 else 1}"]
    assert desk.of(ModemStarted)


def test_power_off_ends_with_goodbye(new_desk):
    desk = new_desk("sim800")
    assert "NORMAL POWER DOWN" in desk.type("AT+CPOWD=1\r")
    assert desk.type("AT\r", for_s=60) == ""
    desk.modem.power.restart("test")
    assert "Call Ready" in desk.hear(5)


@pytest.mark.parametrize(
    ("name", "command", "answer"),
    [
        ("plain", 'AT+CUSD=1,"*124#",15', '+CUSD: 0,"Solde: 150,00",15'),
        ("plain", "ATD*124#;", '+CUSD: 0,"Solde: 150,00",15'),
        ("plain", 'AT+CUSD=1,"*1#",15', "+CUSD: 4"),
        ("plain", 'AT+CUSD=1,"*2#",15', '+CUSD: 0,"0631064206440643",72'),
        (
            "huawei",
            'AT+CUSD=1,"AA988C3602",15',
            '+CUSD: 0,"D3371B5D5603C56070180C06',
        ),
        (
            "quectel",
            'AT+CSCS="UCS2";+CUSD=1,"002A0031003200340023",15',
            '+CUSD: 0,"0053006F006C00640065003A',
        ),
    ],
)
def test_ussd_in_each_way_of_writing(new_desk, name, command, answer):
    desk = new_desk(name, ussd={"*124#": "Solde: 150,00", "*2#": "رقمك"})
    answer = answer.replace("0631064206440643", "رقمك".encode("utf-16-be").hex().upper())
    desk.modem.is_noisy = False
    assert desk.type(f"{command}\r").endswith("OK\r\n")
    said = desk.hear(1)
    if name == "huawei":
        answer = '+CUSD: 0,"'  # what is in it is read below
        octets = bytes.fromhex(said.split('"')[1])
        assert int.from_bytes(octets, "little") & 0x7F == ord("S")
    assert answer in said
    assert desk.of(UssdAsked)


def test_a_stick_wants_its_ussd_packed(new_desk):
    desk = new_desk("huawei")
    desk.modem.is_noisy = False
    assert desk.ask('AT+CUSD=1,"*124#",15') == ["COMMAND NOT SUPPORT"]
