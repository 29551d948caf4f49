"""No line of the log has a whole phone number, whichever call writes it."""

import ast
import io
import json
import logging
import re
from functools import cache
from pathlib import Path

import pytest
import structlog

import risala
from risala.app import logs
from risala.app.logs import configure_logs, set_level
from risala.app.masking import Masking, masked
from risala.cli.reach.logs import log_to_stderr
from risala.config.model import LogFormat, LogSection
from risala.sms.numbering.plan import plan_of

SOURCE = Path(risala.__file__).parent
LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
LOGGERS = {"log", "_log", "write"}
"""What loggers are called in our code; ``write`` is one of two that was chosen."""
CALLING = re.compile(r"\b(?:_?log|write)[.(]")
"""What is in every source that has a call, and spares the others from being parsed."""
SPELLED = (
    *("+22236123456", "22236123456", "0022236123456", "36123456", "36 12 34 56"),
    *("+222 36 12 34 56", "+222-36-12-34-56", "+222.36.12.34.56", "+33 6 12 34 56 78"),
    "+33612345678",
)


def digits_of(text):
    return "".join(each for each in text if each.isdigit())


@cache
def calls():
    """Each call of a logger in our source: its level, event and names of values."""
    return sorted(_calls())


def _calls():
    for path in SOURCE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if not CALLING.search(source):
            continue
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            if isinstance(function, ast.Attribute) and function.attr in LEVELS:
                owner, level = function.value, function.attr
            elif isinstance(function, ast.Name) and function.id == "write":
                owner, level = function, "info"
            else:
                continue
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if name not in LOGGERS or not node.args:
                continue
            event = node.args[0]
            text = event.value if isinstance(event, ast.Constant) else "event.{}"
            values = {each.arg or "value" for each in node.keywords} - {"exc_info"}
            yield f"{path.relative_to(SOURCE)}:{node.lineno}", level, text, sorted(values)


@pytest.fixture
def written(monkeypatch):
    """Logs as a service has them, into a text; afterwards as the tests have them."""
    before, handlers = structlog.get_config(), logging.getLogger().handlers[:]
    level, out = logging.getLogger().level, io.StringIO()

    def begin(**settings):
        section = LogSection(level="debug", format=LogFormat.JSON, **settings)
        monkeypatch.setattr(logs.sys, "stderr", out)  # pytest sets it anew after each fixture
        configure_logs(section)
        # A logger that was used before keeps its processors.
        return structlog.get_logger(f"test of {settings}").bind(), out

    yield begin
    set_level(LogSection())
    structlog.configure(**before)
    logging.getLogger().handlers[:] = handlers
    logging.getLogger().setLevel(level)


def test_the_calls_are_found():
    assert len(calls()) > 80
    assert {"people.mail.unsent", "webhook.address_refused"} <= {each[2] for each in calls()}


@pytest.mark.parametrize("spelled", SPELLED)
def test_no_call_writes_a_whole_number(written, spelled):
    log, out = written()
    for place, level, event, names in calls():
        values = dict.fromkeys(names, f"Refused for {spelled}: {spelled}, or ({spelled}).")
        nested = {"of": [spelled, {"to": spelled}, (spelled,)], "place": place}
        getattr(log, level)(event.replace("{}", spelled), **values, **nested)
    lines = out.getvalue().splitlines()
    assert len(lines) == len(calls())
    whole = digits_of(spelled)
    for line in lines:
        assert spelled not in line
        assert whole not in line
        assert whole[-8:] not in line
        assert f"…{whole[-4:]}" in line


def test_other_peoples_loggers_write_none_either(written):
    _, out = written()
    logging.getLogger("somebody.else").warning("No route to %s", "+22236123456")
    (line,) = out.getvalue().splitlines()
    assert json.loads(line)["event"] == "No route to …3456"


def test_the_operator_may_have_them_shown(written):
    log, out = written(show_numbers=True)
    log.warning("a", to="+22236123456")
    assert json.loads(out.getvalue())["to"] == "+22236123456"


@pytest.mark.parametrize(
    "text",
    [
        "sms_06DQDPN8B4003CX5WS6NPY2KHC11YA56",
        "org_22236123456789",
        "2026-11-22T09:53:28.123456Z",
        "20261122-093612",
        "risala-20261122.db",
        "127.0.0.1:22236",
        "1763800000000",
        "4294967295",
        "v2.23.61",
        "err:027",
        "3612345",
        "361234567",
    ],
)
def test_ids_times_and_sizes_stay(text):
    assert masked(text) == text
    assert masked(f"It was {text}, then.") == f"It was {text}, then."


def test_a_number_within_an_address_is_one():
    assert masked("https://example.com/?to=22236123456&x=1") == (
        "https://example.com/?to=…3456&x=1"
    )
    assert masked("tel:+22236123456") == "tel:…3456"


def test_a_commands_own_log_has_none_either(written, monkeypatch):
    log_to_stderr()
    log_to_stderr()  # a command may come by it twice
    out = io.StringIO()
    monkeypatch.setattr(logs.sys, "stderr", out)
    structlog.get_logger("a command's").error("a", reason="No route to +22236123456.")
    assert "…3456" in out.getvalue()
    assert "36123456" not in out.getvalue()


def test_a_commands_own_log_masks_numbers_as_people_write_them_at_home(written, monkeypatch):
    log_to_stderr(plan_of(("SN",)))
    log_to_stderr(plan_of(("FR",)))
    out = io.StringIO()
    monkeypatch.setattr(logs.sys, "stderr", out)
    structlog.get_logger("a command's").error("a", reason="No route to 06 12 34 56 78.")
    assert "No route to …5678." in out.getvalue()


def test_a_traceback_has_no_word_of_its_exceptions(written):
    """Which may be a message's text, a code, or a password."""
    log, out = written()
    code, password = "-".join("123456"), "-".join("hunter2")  # the source's lines are told
    try:
        try:
            raise ValueError(f"your code is {code}")
        except ValueError as error:
            raise KeyError(password) from error
    except KeyError:
        log.exception("something")
    logging.getLogger("a library").error("something", exc_info=RuntimeError(password))
    told = out.getvalue()
    assert "ValueError" in told
    assert "RuntimeError" in told
    assert code not in told
    assert password not in told


@pytest.mark.parametrize(
    ("countries", "written", "shown"),
    [
        (("SN", "MR"), "to 70 123 45 67", "to …4567"),
        (("SN", "MR"), "to 701234567", "to …4567"),
        (("SN", "MR"), "to 00221701234567, 22236123456", "to …4567, …3456"),
        (("FR",), "to 06 12 34 56 78, /33612345678", "to …5678, /…5678"),
        (("FR",), "took 36123456 B", "took 36123456 B"),
        (("SN", "MR"), "took 123456789 B", "took 123456789 B"),
    ],
)
def test_numbers_of_the_served_countries_are_masked(countries, written, shown):
    assert Masking(plan_of(countries)).masked(written) == shown
