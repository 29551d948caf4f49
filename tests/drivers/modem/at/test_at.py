"""The AT engine by transcripts: what real modems send, and the events that it must make."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import examples
from risala.drivers.modem.at.engine import (
    LINE_MAX,
    ROWS_MAX,
    Answer,
    AtEngine,
    Command,
    Late,
    LocalProtocolError,
    Noise,
    Prompt,
    Row,
    Urc,
)
from risala.drivers.modem.at.lines import ResultKind
from risala.drivers.modem.at.payloads import USSD_LINES_MAX
from risala.plugins.testing.wire import same_however_cut

PDU = "07912202000000F1240B912222163254F600006211210243800005E8329BFD06"
CDS = "0006070B912222163254F66211210243800062112102438000" + "00"
OCTETS = len(PDU) // 2 - 8
CDS_OCTETS = len(CDS) // 2 - 1


def events(command: str | None, octets: bytes | str, *, prompts: bool = False, body: str = ""):
    """What an engine with this command in flight makes of these octets, however they are cut."""
    octets = octets.encode("latin-1") if isinstance(octets, str) else octets

    def new() -> AtEngine:
        engine = AtEngine()
        if command is not None:
            engine.start(Command(command, prompts or bool(body)))
        if body:
            assert engine.receive(b"\r\n> ") == [Prompt()]
            engine.body(body)
        return engine

    return same_however_cut(new, octets)


def brief(found):
    """An event as a tuple that a table can hold."""
    match found:
        case Answer(result=result, rows=rows):
            return ("answer", result.kind.value, result.code, *(row.text for row in rows))
        case Urc(name, text, pdu):
            return ("urc", name, text) if pdu is None else ("urc", name, text, pdu)
        case Late(text):
            return ("late", text)
        case Noise():
            return ("noise",)
        case Prompt():
            return ("prompt",)


OK = ("answer", "ok", None)

TRANSCRIPTS = {
    # -- framing: echo, blank lines, line ends, digits -----------------------------------------
    "plain": ("AT", "\r\nOK\r\n", [OK]),
    "echo": ("AT", "AT\r\r\nOK\r\n", [OK]),
    "echo without a line feed": ("AT+CSQ", "AT+CSQ\r+CSQ: 9,99\r\nOK\r\n", [(*OK, "+CSQ: 9,99")]),
    "echo twice": ("AT", "AT\r\r\nAT\r\r\nOK\r\n", [OK]),
    "extra blank lines (Huawei E1752)": (
        *("AT+CSQ", "\r\n\r\n\r\n+CSQ: 9,99\r\n\r\n\r\n\r\nOK\r\n\r\n"),
        [(*OK, "+CSQ: 9,99")],
    ),
    "no leading CR LF (Huawei, ZTE)": ("AT+CSQ", "+CSQ: 9,99\nOK\n", [(*OK, "+CSQ: 9,99")]),
    "CR only": ("AT+CSQ", "\r+CSQ: 9,99\r\rOK\r", [(*OK, "+CSQ: 9,99")]),
    "LF CR": ("AT", "\n\rOK\n\r", [OK]),
    "blanks around": ("AT", "  OK \t\r\n", [OK]),
    "ATV0 OK": ("ATE0", "0\r", [OK]),
    "ATV0 ERROR": ("AT+CMEE=1", "4\r", [("answer", "error", None)]),
    "ATV0 echo": ("ATZ", "ATZ\r0\r", [OK]),
    "ATV0 rows": ("AT+CSQ", "+CSQ: 9,99\r\n0\r", [(*OK, "+CSQ: 9,99")]),
    "ATV0 ring": (None, "2\r", [("urc", "RING", "2")]),
    "noise of 8 bits after a restart": ("AT", b"\xff\xfe\x00\x80OK\xff\r\n", [OK]),
    "noise in a line of its own": ("AT", b"\xff\xfe\x00\r\nOK\r\n", [OK]),
    "NUL octets": ("AT", b"\0\r\n\0O\0K\r\n", [OK]),
    "rubbish while idle": (None, "blah\r\n", [("noise",)]),
    "a half line, then a whole one": (
        "AT+CSQ",
        "SQ: 9\r\n+CSQ: 9,99\r\nOK\r\n",
        [(*OK, "SQ: 9", "+CSQ: 9,99")],
    ),
    "a final without an end is none yet": ("AT", "OK", []),
    # -- results ---------------------------------------------------------------------------------
    "ERROR": ("AT+X", "ERROR\r\n", [("answer", "error", None)]),
    "CME": ("AT+CPIN?", "+CME ERROR: 10\r\n", [("answer", "cme", 10)]),
    "CME without a blank": ("AT+CPIN?", "+CME ERROR:-1\r\n", [("answer", "cme", -1)]),
    "CMS": ("AT+CMGS=1", "+CMS ERROR: 38\r\n", [("answer", "cms", 38)]),
    "CMS without a number": ("AT+CMGS=1", "+CMS ERROR\r\n", [("answer", "cms", None)]),
    "CMS with words": ("AT+CMGS=1", "+CMS ERROR: SIM busy\r\n", [("answer", "cms", None)]),
    "CME in small letters": ("AT+CPIN?", "+cme error: 14\r\n", [("answer", "cme", 14)]),
    "COMMAND NOT SUPPORT": ("AT+X", "COMMAND NOT SUPPORT\r\n", [("answer", "error", None)]),
    "MODEM ERROR": ("AT+X", "MODEM ERROR: 7\r\n", [("answer", "error", None)]),
    "TOO MANY PARAMETERS": ("AT+X", "TOO MANY PARAMETERS\r\n", [("answer", "error", None)]),
    "NO CARRIER": ("AT+X", "NO CARRIER\r\nOK\r\n", [("urc", "NO CARRIER", "NO CARRIER"), OK]),
    "a result that nobody awaits": (None, "OK\r\n", [("late", "OK")]),
    # -- rows ------------------------------------------------------------------------------------
    "ATI has bare lines": (
        *("ATI", "Manufacturer: huawei\r\nModel: E1752\r\n+GCAP: +CGSM\r\n\r\nOK\r\n"),
        [("urc", "+GCAP", "+GCAP: +CGSM"), (*OK, "Manufacturer: huawei", "Model: E1752")],
    ),
    "a name that is left off": ("AT+CSQ", "9,99\r\nOK\r\n", [(*OK, "9,99")]),
    "CPIN quoted": ("AT+CPIN?", '+CPIN: "READY"\r\nOK\r\n', [(*OK, '+CPIN: "READY"')]),
    "CPIN unspaced": ("AT+CPIN?", "+CPIN:READY\r\nOK\r\n", [(*OK, "+CPIN:READY")]),
    "IMSI": ("AT+CIMI", "609011234567890\r\nOK\r\n", [(*OK, "609011234567890")]),
    # -- unsolicited, anywhere -------------------------------------------------------------------
    "CMTI while idle": (None, '+CMTI: "SM",0\r\n', [("urc", "+CMTI", '+CMTI: "SM",0')]),
    "CMTI inside an answer": (
        *("AT+CSQ", '\r\n+CSQ: 9,99\r\n\r\n+CMTI: "SM",3\r\n\r\nOK\r\n'),
        [("urc", "+CMTI", '+CMTI: "SM",3'), (*OK, "+CSQ: 9,99")],
    ),
    "Huawei noise inside an answer": (
        *("ATI", "^RSSI:17\r\nhuawei\r\n^BOOT:1,0,0,0,75\r\n^DSFLOWRPT:1,2\r\nOK\r\n"),
        [
            ("urc", "^RSSI", "^RSSI:17"),
            ("urc", "^BOOT", "^BOOT:1,0,0,0,75"),
            ("urc", "^DSFLOWRPT", "^DSFLOWRPT:1,2"),
            (*OK, "huawei"),
        ],
    ),
    "ZTE and others": (
        *("AT", "+ZUSIMR:2\r\n+SPNWNAME: x\r\n*RADIOPOWER: 1\r\nOK\r\n"),
        [
            ("urc", "+ZUSIMR", "+ZUSIMR:2"),
            ("urc", "+SPNWNAME", "+SPNWNAME: x"),
            ("urc", "*RADIOPOWER", "*RADIOPOWER: 1"),
            OK,
        ],
    ),
    "a name that nobody knows": ("AT", "+FOO: 1\r\nOK\r\n", [("urc", "+FOO", "+FOO: 1"), OK]),
    "RING and CLIP": (
        *(None, 'RING\r\n\r\n+CLIP: "+222",145\r\n'),
        [("urc", "RING", "RING"), ("urc", "+CLIP", '+CLIP: "+222",145')],
    ),
    "CREG by itself": ("AT+CSQ", "+CREG: 2\r\nOK\r\n", [("urc", "+CREG", "+CREG: 2"), OK]),
    "a start": (
        None,
        "\r\nRDY\r\n\r\nCall Ready\r\n",
        [("urc", "RDY", "RDY"), ("urc", "CALL READY", "Call Ready")],
    ),
    # -- two lines -------------------------------------------------------------------------------
    "CMT": (
        *(None, f"+CMT: ,{OCTETS}\r\n{PDU}\r\n"),
        [("urc", "+CMT", f"+CMT: ,{OCTETS}", PDU)],
    ),
    "CDS": (
        *(None, f"+CDS: {CDS_OCTETS}\r\n{CDS}\r\n"),
        [("urc", "+CDS", f"+CDS: {CDS_OCTETS}", CDS)],
    ),
    "CDS inside an answer, and its PDU behind the result": (
        *("AT+CSQ", f"+CDS: {CDS_OCTETS}\r\n+CSQ: 9,99\r\nOK\r\n^RSSI:3\r\n\r\n{CDS}\r\n"),
        [
            (*OK, "+CSQ: 9,99"),
            ("urc", "^RSSI", "^RSSI:3"),
            ("urc", "+CDS", f"+CDS: {CDS_OCTETS}", CDS),
        ],
    ),
    "two headers, two PDUs": (
        *(None, f"+CMT: ,{OCTETS}\r\n+CDS: {CDS_OCTETS}\r\n{PDU}\r\n{CDS}\r\n"),
        [("urc", "+CMT", f"+CMT: ,{OCTETS}", PDU), ("urc", "+CDS", f"+CDS: {CDS_OCTETS}", CDS)],
    ),
    "CMT whose length counts otherwise": (
        *(None, f"+CMT: ,99\r\n{PDU}\r\n"),
        [("urc", "+CMT", "+CMT: ,99", PDU)],
    ),
    "a serial number is no PDU": (
        *("AT+CCID", f"+CMT: ,{OCTETS}\r\n89222012345678901234\r\nOK\r\n{PDU}\r\n"),
        [(*OK, "89222012345678901234"), ("urc", "+CMT", f"+CMT: ,{OCTETS}", PDU)],
    ),
    "CMT in text mode: OK is its text": (
        *("AT", '+CMT: "+22236123456",,"26/11/20,12:00:00+00"\r\nOK\r\nOK\r\n'),
        [("urc", "+CMT", '+CMT: "+22236123456",,"26/11/20,12:00:00+00"', "OK"), OK],
    ),
    "CMGR in text mode: ERROR is its text": (
        *("AT+CMGR=1", '+CMGR: "REC UNREAD","+22236123456"\r\nERROR\r\n\r\nOK\r\n'),
        [(*OK, '+CMGR: "REC UNREAD","+22236123456"')],
    ),
    "CMGL with a URC between header and PDU": (
        *("AT+CMGL=4", f"+CMGL: 0,1,,{OCTETS}\r\n^RSSI:9\r\n{PDU}\r\nOK\r\n"),
        [("urc", "^RSSI", "^RSSI:9"), (*OK, f"+CMGL: 0,1,,{OCTETS}")],
    ),
    "CMGR of an empty place": ("AT+CMGR=5", "+CMGR: 0,,0\r\n\r\nOK\r\n", [(*OK, "+CMGR: 0,,0")]),
    # -- USSD ------------------------------------------------------------------------------------
    "CUSD": (None, '+CUSD: 0,"Solde 5",15\r\n', [("urc", "+CUSD", '+CUSD: 0,"Solde 5",15')]),
    "CUSD with a pair of quotation marks in a line": (
        *(None, '+CUSD: 0,"Tapez\r\n"1" ou\r\n"2",15\r\nx",15\r\n'),
        [("urc", "+CUSD", '+CUSD: 0,"Tapez\n"1" ou\n"2",15\nx",15')],
    ),
    "a row of an answer that nobody awaits": (
        *(None, f"+CMGL: 1,1,,{OCTETS}\r\n"),
        [("urc", "+CMGL", f"+CMGL: 1,1,,{OCTETS}")],
    ),
    "CUSD over several lines, OK among them": (
        *("AT", '+CUSD: 0,"Solde\r\nOK\r\n+CMTI: x",15\r\nOK\r\n'),
        [("urc", "+CUSD", '+CUSD: 0,"Solde\nOK\n+CMTI: x",15'), OK],
    ),
}


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcript(name):
    command, octets, expected = TRANSCRIPTS[name]
    assert [brief(event) for event in events(command, octets)] == expected


PROMPTS = {
    "with a blank": "\r\n> ",
    "without a line end before": "> ",
    "bare": ">",
    "after the echo": "AT+CMGS=24\r\r\n> ",
    "after the echo, CR only": "AT+CMGS=24\r> ",
    "after blank lines": "\r\n\r\n\r\n>",
    "with noise before": "\xff\xfe\r\n\xff> ",
    "with a line end behind": "\r\n> \r\n",
}


@pytest.mark.parametrize("octets", PROMPTS.values(), ids=PROMPTS)
def test_prompts(octets):
    assert events("AT+CMGS=24", octets, prompts=True) == [Prompt()]


def test_a_prompt_that_nobody_awaits_is_none():
    assert events("AT+CSQ", "> \r\n+CSQ: 9,99\r\nOK\r\n")[-1].rows[-1] == Row("+CSQ: 9,99")
    assert events(None, "> ") == []


def test_unsolicited_before_the_prompt():
    found = events("AT+CMGS=24", '+CMTI: "SM",1\r\n^RSSI:1\r\n\r\n> ', prompts=True)
    assert [brief(event)[0] for event in found] == ["urc", "urc", "prompt"]


def test_an_error_instead_of_a_prompt():
    (answer,) = events("AT+CMGS=24", "\r\n+CMS ERROR: 302\r\n", prompts=True)
    assert answer.result.code == 302


@pytest.mark.parametrize(
    "echo", ["", f"{PDU}\x1a\r\n", f"{PDU}\r\n", f"> {PDU}\x1a\r\n", f"{PDU}\r\n{PDU}\r\n"]
)
def test_the_answer_to_a_body(echo):
    found = events("AT+CMGS=24", f"{echo}\r\n+CMGS: 17\r\n\r\nOK\r\n", body=PDU)
    assert [brief(event) for event in found] == [(*OK, "+CMGS: 17")]


def test_the_echo_of_a_body_is_no_pdu_of_another():
    found = events("AT+CMGS=24", f"+CMT: ,{OCTETS}\r\n{PDU}\r\n+CMGS: 17\r\nOK\r\n", body=PDU)
    assert [brief(event) for event in found] == [(*OK, "+CMGS: 17")]


def test_a_report_before_its_reference():
    found = events("AT+CMGS=9", f"+CDS: {CDS_OCTETS}\r\n{CDS}\r\n+CMGS: 7\r\nOK\r\n", body=PDU)
    assert [brief(event)[:2] for event in found] == [("urc", "+CDS"), ("answer", "ok")]


def test_the_late_echo_of_a_body_that_was_given_up_is_no_pdu_of_another():
    engine = AtEngine()
    engine.start(Command("AT+CMGS=24", prompts=True))
    engine.receive(b"> ")
    engine.body(PDU)
    engine.give_up()
    other = PDU[:-2] + "07"  # it is as long, so that the header would fit either
    header = f"+CMT: ,{OCTETS}"
    found = engine.receive(f"{header}\r\n{PDU}\r\n{other}\r\n".encode())
    assert found == [Noise(len(PDU)), Urc("+CMT", header, other)]


@pytest.mark.parametrize("text", ["OK", "RING", "AT", "> 5", '+CMTI: "SM",3', "XXXX"])
def test_a_text_may_look_like_anything_before_the_first_command(text):
    header = '+CMT: "+22236123456",,"26/11/20,12:00:00+00"'
    assert events(None, f"{header}\r\n{text}\r\n") == [Urc("+CMT", header, text)]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (f"+CMT: ,{OCTETS}", f'+CMT: "Bank",{OCTETS}'),
        ("+CMT: ,98", "+CMT: ,99"),
    ],
    ids=["of the announced length", "of another length"],
)
def test_of_headers_that_fit_alike_the_newest_takes_the_line(older, newer):
    first, second = PDU, PDU[:-2] + "07"
    octets = "".join(f"{line}\r\n" for line in (older, newer, first, second))
    assert events(None, octets) == [Urc("+CMT", newer, first), Urc("+CMT", older, second)]


def test_rows_carry_their_pdus():
    octets = f"+CMGL: 1,0,,{OCTETS}\r\n{PDU}\r\n+CMGL: 2,1,,{CDS_OCTETS}\r\n{CDS}\r\nOK\r\n"
    (answer,) = events("AT+CMGL=4", octets)
    assert answer.rows == (
        Row(f"+CMGL: 1,0,,{OCTETS}", PDU),
        Row(f"+CMGL: 2,1,,{CDS_OCTETS}", CDS),
    )


def test_a_row_whose_pdu_never_came():
    (answer, late) = events("AT+CMGR=1", f"+CMGR: 1,,{OCTETS}\r\nOK\r\n{PDU}\r\n")
    assert answer.rows == (Row(f"+CMGR: 1,,{OCTETS}"),)
    assert isinstance(late, Noise)


def test_words_of_an_error_are_kept():
    (answer,) = events("AT+CPIN?", "+CME ERROR: SIM busy\r\n")
    assert (answer.result.kind, answer.result.text) == (ResultKind.CME, "SIM busy")


def test_digits_are_no_results_once_words_are_agreed():
    engine = AtEngine()
    engine.numeric = False
    engine.start(Command("ATS0?"))
    assert engine.receive(b"0\r\nOK\r\n") == [
        Answer(Command("ATS0?"), engine_result("OK"), (Row("0"),))
    ]


def engine_result(line):
    engine = AtEngine()
    engine.start(Command("AT"))
    return engine.receive(f"{line}\r\n".encode())[0].result


# -- one in flight, and late answers ---------------------------------------------------------------


def test_one_command_in_flight():
    engine = AtEngine()
    assert engine.start(Command("AT+CSQ")) == b"AT+CSQ\r"
    with pytest.raises(LocalProtocolError, match=r"\+CSQ"):
        engine.start(Command("AT"))
    engine.receive(b"OK\r\n")
    assert engine.start(Command("AT")) == b"AT\r"


def test_a_new_engine_may_start_any_command():
    engine = AtEngine()
    assert engine.in_sync
    assert not engine.busy


def test_a_body_only_after_a_prompt():
    engine = AtEngine()
    with pytest.raises(LocalProtocolError, match="body"):
        engine.body(PDU)
    engine.start(Command("AT+CMGS=9", prompts=True))
    with pytest.raises(LocalProtocolError, match="body"):
        engine.body(PDU)
    engine.receive(b"> ")
    assert engine.body(PDU) == PDU.encode() + b"\x1a"
    with pytest.raises(LocalProtocolError, match="body"):
        engine.body(PDU)


def abandoned(*commands: str) -> AtEngine:
    engine = AtEngine()
    for command in commands:
        engine.forget()
        engine.start(Command(command, command.startswith("AT+CMGS")))
        engine.give_up()
    assert not engine.in_sync
    return engine


def test_nothing_but_a_sync_command_after_giving_up():
    engine = abandoned("AT+CMGD=1")
    for text in ("AT", "ATI", "AT+CMGD=2"):
        with pytest.raises(LocalProtocolError, match="sync"):
            engine.start(Command(text))
    engine.start(engine.sync_command())


def test_the_sync_command_is_never_one_that_was_given_up():
    assert abandoned("AT+CSQ").sync_command().text == "AT+CREG?"


def test_there_is_a_sync_command_whatever_was_given_up():
    engine, asked = AtEngine(), []
    for _ in range(5):
        command = engine.sync_command()
        asked.append(command.text)
        engine.start(command)
        engine.give_up()
    assert asked == ["AT+CSQ", "AT+CREG?", "AT+CPIN?", "AT+CSCA?", "AT+CGMR"]


def test_only_so_many_given_up_commands_are_remembered():
    engine = AtEngine()
    for number in range(17):
        engine.start(Command(f"AT+X{number}"))
        engine.give_up()
    for number in range(1, 17):
        with pytest.raises(LocalProtocolError):
            engine.start(Command(f"AT+X{number}"))
    engine.start(Command("AT+X0"))


def test_a_line_without_a_name_is_late_until_the_own_answer_has_begun():
    engine = abandoned("AT+CGMR")
    found = sync(engine, "11.609\r\n+CSQ: 9,99\r\nmore\r\nOK\r\n")
    assert found == [("late", "11.609"), (*OK, "+CSQ: 9,99", "more")]


def sync(engine: AtEngine, octets: str):
    engine.start(engine.sync_command())
    return [brief(event) for event in engine.receive(octets.encode())]


@pytest.mark.parametrize("late", ["OK", "ERROR", "+CMS ERROR: 38", "+CME ERROR: 3", "0"])
def test_a_late_result_is_not_the_sync_command_s(late):
    engine = abandoned("AT+CMGD=1")
    found = sync(engine, f"{late}\r\n+CSQ: 9,99\r\nOK\r\n")
    assert [event[0] for event in found] == ["late", "answer"]
    assert found[-1] == (*OK, "+CSQ: 9,99")
    assert engine.in_sync


def test_a_late_reference_is_told():
    engine = abandoned("AT+CMGS=24")
    found = sync(engine, "\r\n+CMGS: 17\r\n\r\nOK\r\n\r\n+CSQ: 9,99\r\n\r\nOK\r\n")
    assert found == [("late", "+CMGS: 17"), ("late", "OK"), (*OK, "+CSQ: 9,99")]


def test_a_late_answer_between_two_commands():
    engine = abandoned("AT+CMGS=24")
    assert [brief(it) for it in engine.receive(b"+CMGS: 17\r\nOK\r\n")] == [
        ("late", "+CMGS: 17"),
        ("late", "OK"),
    ]
    assert sync(engine, "+CSQ: 9,99\r\nOK\r\n") == [(*OK, "+CSQ: 9,99")]


def test_a_reference_later_than_the_resync_does_not_end_the_next_command():
    engine = abandoned("AT+CMGS=24")
    sync(engine, "+CSQ: 9,99\r\nOK\r\n")
    engine.start(Command("AT+CMGD=1"))
    assert [brief(it) for it in engine.receive(b"+CMGS: 17\r\nOK\r\nERROR\r\n")] == [
        ("late", "+CMGS: 17"),
        ("late", "OK"),
        ("answer", "error", None),
    ]


def test_a_late_prompt_is_no_part_of_a_line():
    engine = abandoned("AT+CMGS=24")
    assert sync(engine, "\r\n> \r\n> +CSQ: 9,99\r\nOK\r\n") == [(*OK, "+CSQ: 9,99")]


def test_of_a_line_behind_a_late_prompt_only_the_prompt_is_dropped():
    engine = abandoned("AT+CMGS=24")
    found = sync(engine, "> X25\r\n+CSQ: 9,99\r\nOK\r\n")
    assert found == [("late", "X25"), (*OK, "+CSQ: 9,99")]


def test_only_rows_with_the_name_of_what_was_given_up_are_late():
    engine = abandoned("AT+CMGL=4")
    row = f"+CMGL: 1,1,,{OCTETS}"
    found = sync(engine, f"{row}\r\n+CREG: 2\r\nOK\r\n+CSQ: 9,99\r\nOK\r\n")
    assert found == [
        ("late", row),
        ("urc", "+CREG", "+CREG: 2"),
        ("late", "OK"),
        (*OK, "+CSQ: 9,99"),
    ]


def test_a_late_row_inside_an_answer_that_has_begun_does_not_make_its_result_late():
    engine = abandoned("AT+CMGS=24")
    found = sync(engine, "+CSQ: 9,99\r\n+CMGS: 17\r\nOK\r\n")
    assert found == [("late", "+CMGS: 17"), (*OK, "+CSQ: 9,99")]
    assert engine.in_sync


def test_the_rows_so_far_of_what_is_given_up():
    engine = AtEngine()
    engine.start(Command("AT+CMGS=24", prompts=True))
    engine.receive(b"> ")
    engine.body(PDU)
    engine.receive(b"+CMGS: 17\r\n")
    assert engine.give_up() == (Row("+CMGS: 17"),)
    assert engine.give_up() == ()


def test_silence_forgives():
    engine = abandoned("AT+CMGD=1")
    engine.forget()
    engine.start(Command("AT"))
    assert [brief(it) for it in engine.receive(b"OK\r\n")] == [OK]


def refused_without_a_prompt() -> AtEngine:
    engine = AtEngine()
    engine.start(Command("AT+CMGS=24", prompts=True))
    (answer,) = engine.receive(b"+CMS ERROR: 302\r\n")
    assert isinstance(answer, Answer)
    assert engine.in_sync
    return engine


def test_a_prompt_behind_the_refusal_may_hold_what_is_typed_next():
    engine = refused_without_a_prompt()
    assert engine.receive(b"\r\n> ") == [Late(">")]
    assert not engine.in_sync
    assert engine.receive(b"\r\n> \r\n") == [Noise(1)], "it was looked for once"
    engine.forget()
    assert engine.in_sync


def test_an_answer_shows_that_no_prompt_holds_the_line():
    engine = refused_without_a_prompt()
    engine.receive(b"\r\n> ")
    engine.start(Command("AT"))
    assert [brief(it) for it in engine.receive(b"OK\r\n")] == [OK]
    assert engine.in_sync


def test_no_prompt_is_awaited_behind_the_next_command():
    engine = refused_without_a_prompt()
    engine.start(Command("ATI"))
    assert [brief(it) for it in engine.receive(b"> \r\nOK\r\n")] == [(*OK, ">")]
    assert engine.in_sync


# -- bounds ----------------------------------------------------------------------------------------


def test_a_line_without_an_end_is_not_kept():
    engine = AtEngine()
    engine.start(Command("AT"))
    for _ in range(1000):
        assert engine.receive(b"x" * 1000) == []
    assert len(engine._line) <= LINE_MAX
    assert engine.receive(b"\r\nOK\r\n")[0] == Noise(1_000_000)


def test_a_long_line_is_noise_however_it_is_cut():
    found = events("AT+CMGS=1", b">" + b"y" * (LINE_MAX + 1) + b"\r\nOK\r\n", prompts=True)
    assert [brief(event)[0] for event in found] == ["prompt", "noise", "answer"]


def test_an_answer_without_an_end_is_not_kept():
    engine = AtEngine()
    engine.start(Command("AT+CMGL=4"))
    for index in range(3 * ROWS_MAX):
        engine.receive(f"+CMGL: {index},1,,{OCTETS}\r\n".encode())
    (*_, answer) = engine.receive(b"OK\r\n")
    assert len(answer.rows) == ROWS_MAX


@pytest.mark.parametrize(("command", "row"), [("ATI", "more"), ("AT+CSQ", "+CSQ: 9,99")])
def test_a_row_too_many_is_noise(command, row):
    engine = AtEngine()
    engine.start(Command(command))
    line = f"{row}\r\n".encode()
    assert engine.receive(line * (ROWS_MAX + 1)) == [Noise(len(row))]
    (answer,) = engine.receive(b"OK\r\n")
    assert answer.rows == (Row(row),) * ROWS_MAX


@pytest.mark.parametrize("begin", [b"", b"x" * 48])
def test_the_longest_line_is_kept_and_no_longer_one(begin):
    engine = AtEngine()
    engine.start(Command("ATI"))
    rest = b"y" * (LINE_MAX - len(begin))
    assert engine.receive(begin) + engine.receive(rest + b"\r\n") == []
    found = engine.receive(begin) + engine.receive(rest + b"y\r\n")
    assert found == [Noise(LINE_MAX + 1)]
    (answer,) = engine.receive(b"OK\r\n")
    assert [len(row.text) for row in answer.rows] == [LINE_MAX]


def test_headers_without_pdus_are_not_kept():
    engine = AtEngine()
    found = [it for _ in range(1000) for it in engine.receive(f"+CMT: ,{OCTETS}\r\n".encode())]
    assert found == [Noise(len(f"+CMT: ,{OCTETS}"))] * (1000 - 8)


def test_of_too_many_headers_the_oldest_is_given_up():
    engine = AtEngine()
    engine.receive(b"+CMT: ,9\r\n")
    found = [it for n in range(10, 18) for it in engine.receive(f"+CMT: ,{n}\r\n".encode())]
    assert found == [Noise(len("+CMT: ,9"))]


def test_a_ussd_text_that_is_never_closed_ends():
    engine = AtEngine()
    engine.start(Command("AT"))
    found = engine.receive(b'+CUSD: 0,"x\r\n' + b"more\r\n" * 20)
    assert isinstance(found[0], Urc)
    assert found[0].text.count("\n") == USSD_LINES_MAX - 1
    assert next(brief(it) for it in engine.receive(b"OK\r\n"))[:2] == ("answer", "ok")


# -- fuzz ------------------------------------------------------------------------------------------

LINES = [
    *("OK", "ERROR", "+CMS ERROR: 38", "+CME ERROR: SIM busy", "NO CARRIER", "0", "4", ">", "> "),
    *(f"+CMT: ,{OCTETS}", PDU, f"+CDS: {CDS_OCTETS}", CDS, f"+CMGL: 1,1,,{OCTETS}", "+CMGR: 0,,0"),
    *('+CMTI: "SM",0', "+CSQ: 9,99", "+CMGS: 17", "^RSSI:3", "RING", "AT+CSQ", "AT+CMGS=24"),
    *('+CUSD: 0,"a', 'b",15', "89222012345678901234", "\x1a", "\xff\xfe", "x" * (LINE_MAX + 9)),
]
pieces = st.one_of(st.sampled_from(LINES), st.text(st.characters(max_codepoint=255), max_size=9))
ends = st.sampled_from(["\r\n", "\r", "\n", "", "\r\n\r\n"])
streams = st.lists(st.tuples(pieces, ends), max_size=12).map(
    lambda parts: "".join(piece + end for piece, end in parts).encode("latin-1")
)
COMMANDS = [None, "AT", "ATI", "AT+CSQ", "AT+CMGS=24", "AT+CMGL=4", "AT+CMGR=1", "AT+CUSD=1"]


def primed(command: str | None, late: bool, body: bool) -> AtEngine:
    engine = AtEngine()
    if late:
        engine.start(Command("AT+CMGS=9", prompts=True))
        engine.give_up()
        engine.start(engine.sync_command())
        return engine
    if command is not None:
        engine.start(Command(command, prompts=command.startswith("AT+CMGS")))
        if body and command.startswith("AT+CMGS"):
            engine.receive(b"> ")
            engine.body(PDU)
    return engine


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(streams, st.sampled_from(COMMANDS), st.booleans(), st.booleans(), st.data())
def test_cuts_make_no_difference(octets, command, late, body, data):
    whole = primed(command, late, body).receive(octets)
    engine = primed(command, late, body)
    found, at = [], 0
    while at < len(octets):
        size = data.draw(st.sampled_from([1, 2, 3, 7, 64, 4096]))
        found += engine.receive(octets[at : at + size])
        at += size
    assert found == whole


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=600), st.sampled_from(COMMANDS), st.booleans())
def test_any_octets_are_survived(octets, command, late):
    engine = primed(command, late, True)
    found = engine.receive(octets)
    assert sum(isinstance(event, Answer) for event in found) <= 1
    assert len(engine._line) <= LINE_MAX


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.one_of(streams, st.sampled_from(["start", "give up", "forget", "body"])), max_size=30
    )
)
def test_any_order_of_calls(steps):
    engine = AtEngine()
    outstanding = 0
    for step in steps:
        try:
            match step:
                case "start":
                    engine.start(engine.sync_command())
                    outstanding += 1
                case "body":
                    engine.body(PDU)
                case "give up":
                    outstanding -= engine.busy
                    engine.give_up()
                    assert not engine.busy
                case "forget":
                    engine.forget()
                    assert engine.in_sync
                case octets:
                    answers = [e for e in engine.receive(octets) if isinstance(e, Answer)]
                    outstanding -= len(answers)
        except LocalProtocolError:
            continue
        assert outstanding == engine.busy
