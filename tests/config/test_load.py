"""Loading: which source wins, and every fault at once with its key, its source and no value."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from cases import examples
from risala.config.faults import ConfigError
from risala.config.load import PROFILES, load_settings
from risala.config.model import Settings


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "risala.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def faults_of(path=None, *, environ=None, overrides=None):
    with pytest.raises(ConfigError) as caught:
        load_settings(path, environ=environ or {}, overrides=overrides or {})
    return {fault.key: fault for fault in caught.value.faults}, str(caught.value)


def test_nothing_given_is_the_defaults():
    assert load_settings(None, environ={}) == Settings()


def test_the_later_source_wins(write):
    path = write('[http]\nport = 1\nhost = "a"\nkeep_alive_s = 5\nbody_timeout_s = 5\n')
    settings = load_settings(
        path,
        environ={
            "RISALA_HTTP__PORT": "2",
            "RISALA_HTTP__HOST": "b",
            "RISALA_HTTP__KEEP_ALIVE_S": "6",
        },
        overrides={"http.port": 3, "http.host": None, "log.level": "debug"},
    )
    assert settings.http.port == 3
    assert settings.http.host == "b"
    assert settings.http.keep_alive_s == 6
    assert settings.http.body_timeout_s == 5
    assert settings.http.graceful_stop_s == Settings().http.graceful_stop_s
    assert settings.log.level == "debug"


def test_a_profile_is_below_everything_that_is_set(write):
    path = write('[service]\nprofile = "small"\n[http]\nconnections_max = 77\n')
    settings = load_settings(path, environ={"RISALA_ENGINE__INTAKE_MAX": "78"})
    assert settings.http.connections_max == 77
    assert settings.engine.intake_max == 78
    small, usual = PROFILES["small"], Settings()
    for key, value in small.items():
        table, name = key.split(".")
        if name not in ("connections_max", "intake_max"):
            assert getattr(getattr(settings, table), name) == value
        assert value < getattr(getattr(usual, table), name)


def test_a_profile_may_be_named_anywhere():
    by_variable = load_settings(None, environ={"RISALA_SERVICE__PROFILE": "small"})
    by_flag = load_settings(None, environ={}, overrides={"service.profile": "small"})
    assert by_variable == by_flag
    assert by_flag.storage.page_cache_mb == PROFILES["small"]["storage.page_cache_mb"]
    assert load_settings(None, environ={"RISALA_SERVICE__PROFILE": "usual"}) == Settings()


def test_an_unknown_profile_is_a_fault(write):
    found, _ = faults_of(write('[service]\nprofile = "tiny"\n[storage]\ndata_dir = "x"\n'))
    assert {*found} == {"service.profile"}
    found, _ = faults_of(write('storage = 1\n[service]\nprofile = "small"\n'))
    assert {*found} == {"storage"}


def test_variables_of_every_shape():
    settings = load_settings(
        None,
        environ={
            "RISALA_DELIVERY__RETRY__ATTEMPTS_MAX": "3",
            "RISALA_PLUGINS__DISABLED": "smpp, modem",
            "RISALA_PLUGINS__FOLDER": "",
            "RISALA_PRICING__PER_SEGMENT": "0.75",
            "RISALA_LOG": '{"level": "error", "format": "json"}',
            "RISALA_LOG__LEVEL": "warning",
            "RISALA_CARRIERS": '[{"name": "a", "driver": "smpp", "smpp": {"port": 2775}}]',
            "RISALA_DATA": "/elsewhere",
            "RISALA_CONFIG": "/elsewhere.toml",
            "RISALA_SIM1_PIN": "1234",
            "HOME": "/root",
        },
    )
    assert settings.delivery.retry.attempts_max == 3
    assert settings.plugins.disabled == ("smpp", "modem")
    assert settings.plugins.folder is None
    assert settings.pricing.per_segment == "0.75"
    assert (settings.log.level, settings.log.format) == ("warning", "json")
    assert settings.carriers[0].settings == {"port": 2775}
    assert settings.storage.data_dir == Path("risala-data")


def test_the_process_environment_is_read_where_none_is_given(monkeypatch):
    monkeypatch.setenv("RISALA_HTTP__PORT", "4321")
    assert load_settings(None).http.port == 4321


def test_carriers_in_the_variable_replace_those_of_the_file(write):
    path = write('[[carriers]]\nname = "a"\ndriver = "loopback"\n')
    assert [c.name for c in load_settings(path, environ={}).carriers] == ["a"]
    environ = {"RISALA_CARRIERS": '[{"name": "b", "driver": "loopback"}]'}
    assert [c.name for c in load_settings(path, environ=environ).carriers] == ["b"]


def test_a_byte_order_mark_is_no_fault(tmp_path):
    path = tmp_path / "risala.toml"
    path.write_bytes(b"\xef\xbb\xbf[http]\nport = 1\n")
    assert load_settings(path, environ={}).http.port == 1


FAULTY = """\
[service]
default_sender = "12345"
curency = "MRU"

[http]
port = 70000
body_timeout_s = "soon"

[pricing]
per_segment = 0.5

[log]
level = "loud"

[[carriers]]
name = "mattel"
driver = "smpp"
rate_per_s = 0
rate_per_sec = 5
[carriers.modem]
port = "/dev/ttyUSB0"

[[carriers]]
name = "mattel"
driver = "smpp"
prefixes = ["+2223", "3"]
smpp = 5
[carriers.on_uncertain_code]
action = "hope"

[[carriers]]
driver = "loopback"
"""


def test_every_fault_is_named_at_once(write):
    faults, message = faults_of(
        write(FAULTY),
        environ={
            "RISALA_HTTP__HOTS": "x",
            "RISALA_STORRAGE__DATA_DIR": "x",
            "RISALA_HTTP__KEEP_ALIVE_S": "-1",
            "RISALA_CARRIERS__0__NAME": "x",
            "RISALA_DELIVERY": "{",
        },
        overrides={"engine.drain_s": 500},
    )
    texts = {key: f"{fault.text} ({fault.source})" for key, fault in faults.items()}
    in_file = "(risala.toml)"
    uncertain = "carriers[1].on_uncertain_code"
    letters = 'a name of lower-case letters, digits, "-" and "_", at most 40 characters'
    assert texts == {
        "service.default_sender": "A sender ID has at least one letter; digits alone would be a"
        f" numeric sender. {in_file}",
        "service.curency": f'there is no such setting; did you mean "currency"? {in_file}',
        "http.port": f"must be a whole number from 0 to 65535 {in_file}",
        "http.body_timeout_s": f"must be a number above 0 and at most 300, in seconds {in_file}",
        "http.hots": 'there is no such setting; did you mean "host"?'
        " (environment variable RISALA_HTTP__HOTS)",
        "http.keep_alive_s": "must be a number above 0 and at most 600, in seconds"
        " (environment variable RISALA_HTTP__KEEP_ALIVE_S)",
        "storrage": 'there is no such setting; did you mean "storage"?'
        " (environment variable RISALA_STORRAGE__DATA_DIR)",
        "pricing.per_segment": f'must be an amount in quotes, such as "0.50" {in_file}',
        "log.level": f'must be one of "debug", "info", "warning", "error" {in_file}',
        "engine.drain_s": "must be a number from 0 to 120, in seconds (command line)",
        "delivery": "must be a table, written as JSON (environment variable RISALA_DELIVERY)",
        "carriers[0].rate_per_s": f"must be a number above 0 and at most 100000 {in_file}",
        "carriers[0].rate_per_sec": 'there is no such setting; did you mean "rate_per_s"? '
        + in_file,
        "carriers[0].modem": 'is not read: the driver is "smpp", its table [carriers.smpp] '
        + in_file,
        "carriers[1].prefixes[1]": "must be the beginning of a number in quotes, such as"
        f' "+3376" {in_file}',
        "carriers[1].smpp": f"must be a table, [carriers.smpp] {in_file}",
        f"{uncertain}.action": f'must be one of "resend", "fail" {in_file}',
        f"{uncertain}.after_s": "is missing; add it. It must be a number from 0 to 86400, in"
        f" seconds {in_file}",
        "carriers[1].name": f"must be unique; carriers[0] has the same name {in_file}",
        "carriers[2].name": f"is missing; add it. It must be {letters} {in_file}",
        "carriers[0].name": "cannot be set in parts; set RISALA_CARRIERS as a whole"
        " (environment variable RISALA_CARRIERS__0__NAME)",
    }
    assert message.startswith(f"The settings have {len(faults)} faults:\n  ")
    assert "carriers[0].rate_per_s: must be a number above 0" in message


def test_a_single_fault_is_a_single_line(write):
    _, message = faults_of(write("[http]\nport = -1\n"))
    assert message == "http.port: must be a whole number from 0 to 65535 (risala.toml)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[http]\nport = \n", "is not TOML, line 2: Invalid value."),
        ("[http\n", "is not TOML, line 1: "),
        ("[http]\nport = 1\nport = 2\n", "is not TOML, line 3: "),
        ('[http]\nhost = "a', "is not TOML, "),
        ("x = [", "is not TOML, at its end: "),
    ],
)
def test_a_file_that_is_not_toml(write, text, sentence):
    _, message = faults_of(write(text))
    assert sentence in message
    assert message.endswith(".")


def test_a_file_that_cannot_be_read(tmp_path):
    _, message = faults_of(tmp_path / "none.toml")
    assert message == f"There is no file {tmp_path / 'none.toml'}; write one with `risala init`."
    _, message = faults_of(tmp_path)
    assert "cannot be read" in message
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    _, message = faults_of(binary)
    assert message.endswith("is not UTF-8 text.")


def test_one_bracket_for_carriers_is_explained(write):
    faults, _ = faults_of(write('[carriers]\nname = "a"\n'))
    assert "double brackets" in faults["carriers"].text


@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({"RISALA_HTTP__PORT__X": "1"}, "http.port.x"),
        ({"RISALA_HTTP": "5", "RISALA_HTTP__PORT": "5"}, "http.port"),
        ({"RISALA_HTTP__": "5"}, "http."),
        ({"RISALA___PORT": "5"}, ""),
        ({"RISALA_CARRIERS": "smpp"}, "carriers[0]"),
        ({"RISALA_CARRIERS": "[" * 5000}, "carriers"),
        ({"RISALA_SERVICE__CURRENCY": "mru"}, "service.currency"),
    ],
)
def test_variables_that_make_no_sense(environ, key):
    faults, _ = faults_of(environ=environ)
    assert key in faults


SECRET = "hunter2-s3cr3t"


def test_no_fault_repeats_a_value():
    for variable in ("RISALA_HTTP__PORT", "RISALA_SERVICE__CURRENCY", "RISALA_LOG__LEVEL",
                     "RISALA_CARRIERS", "RISALA_HTTP", "RISALA_STORAGE__PASSWORD",
                     "RISALA_PRICING__PER_SEGMENT"):  # fmt: skip
        for value in (SECRET, f'["{SECRET}"]', f'[{{"name": "{SECRET}!", "driver": "A"}}]'):
            faults, message = faults_of(environ={variable: value})
            assert SECRET not in message
            assert SECRET not in repr(faults)


@pytest.mark.parametrize("variable", ["RISALA_CARRIERS", "RISALA_HTTP__PORT"])
def test_no_other_exception_with_the_values_hangs_on_it(variable):
    with pytest.raises(ConfigError) as caught:
        load_settings(None, environ={variable: f'["{SECRET}'})
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


keys = st.sampled_from(
    ["HTTP", "PORT", "CARRIERS", "0", "LOG", "LEVEL", "RETRY", "DELIVERY", "X", ""]
)


@profile(max_examples=examples(50), deadline=None)
@given(
    st.dictionaries(
        st.lists(keys, min_size=1, max_size=4).map(lambda names: "RISALA_" + "__".join(names)),
        st.text(max_size=20) | st.sampled_from(["[]", "{}", "[1]", "1", '{"port": 1}', "[[]]"]),
        max_size=4,
    )
)
def test_any_environment_loads_or_is_explained(environ):
    try:
        load_settings(None, environ=environ)
    except ConfigError as error:
        explained = error
    else:
        return
    assert explained.faults


def test_a_table_that_there_is_not_is_answered_with_those_that_there_are(tmp_path):
    (tmp_path / "risala.toml").write_text("[server]\nport = 1\n")
    with pytest.raises(ConfigError) as error:
        load_settings(tmp_path / "risala.toml")
    told = str(error.value)
    assert "server: there is no such table; there are alerts, billing, carriers, " in told
    assert ", http, " in told


@pytest.mark.parametrize(
    ("currency", "key", "amount", "said"),
    [
        ("XOF", "per_segment", "25", None),
        ("XOF", "per_segment", "25.00", None),
        (
            "XOF",
            "low_balance",
            "25.5",
            'an amount in quotes, without decimals, such as "25"',
        ),
        ("TND", "per_segment", "0.045", None),
        ("TND", "per_segment", "0.0455", 'must be an amount in quotes, such as "0.500"'),
        ("MRU", "per_segment", "0.045", 'must be an amount in quotes, such as "0.50"'),
    ],
)
def test_amounts_have_the_decimals_of_the_currency(tmp_path, currency, key, amount, said):
    path = tmp_path / "risala.toml"
    price = 'per_segment = "25"\n' if key != "per_segment" else ""
    path.write_text(f'[service]\ncurrency = "{currency}"\n[pricing]\n{price}{key} = "{amount}"\n')
    if said is None:
        assert getattr(load_settings(path, environ={}).pricing, key) == amount
        return
    with pytest.raises(ConfigError) as refused:
        load_settings(path, environ={})
    assert said in str(refused.value)


def test_the_built_in_price_is_none_in_a_currency_without_decimals():
    with pytest.raises(ConfigError, match=r"pricing\.per_segment"):
        load_settings(None, environ={"RISALA_SERVICE__CURRENCY": "XOF"})


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("FR/Orange", 'did you mean "FR/Orange France" or '),
        ("matel", 'did you mean "mattel" or "mauritel"?'),
        ("x", '"FR/ACN Communications", "FR/AIF", '),
    ],
)
def test_a_network_that_is_none_is_told_with_those_of_a_like_name(write, named, told):
    path = write(
        '[numbers]\ncountries = ["MR", "FR"]\n'
        f'[[carriers]]\nname = "one"\ndriver = "loopback"\nnetworks = ["{named}"]\n'
    )
    faults, _ = faults_of(path)
    assert told in faults["carriers[0].networks"].text


SENEGAL = """
[numbers]
countries = ["SN", "MR"]
[limits]
verify_networks = ["SN/Orange", "mattel"]
[[carriers]]
name = "all"
driver = "loopback"
[[carriers]]
name = "orange"
driver = "loopback"
networks = ["SN/Orange"]
national_prefix = ""
"""


def test_a_carriers_numbers_and_networks_are_of_the_served_countries(write):
    whole, orange = load_settings(write(SENEGAL), environ={}).carriers
    assert (whole.prefixes, whole.national_prefix) == (("+221", "+222"), "+221")
    assert (orange.prefixes, orange.networks, orange.national_prefix) == ((), ("SN/Orange",), "")
    served = {"RISALA_NUMBERS__COUNTRIES": '["FR"]'}
    (whole,) = load_settings(
        write('[[carriers]]\nname = "all"\ndriver = "loopback"\n'), environ=served
    ).carriers
    assert (whole.prefixes, whole.national_prefix) == (("+33",), "+33")
    faults, told = faults_of(write(SENEGAL.replace('"SN", "MR"', '"FR"')))
    assert set(faults) == {"carriers[1].networks", "limits.verify_networks"}
    assert '"FR/Orange France"' in told


@pytest.mark.parametrize("first", ['name = "x"', 'name = "z"\npath = "x"'])
def test_two_carriers_never_have_one_address(tmp_path, first):
    path = tmp_path / "risala.toml"
    path.write_text(
        f'[[carriers]]\n{first}\ndriver = "loopback"\n'
        '[[carriers]]\nname = "y"\ndriver = "loopback"\npath = "x"\n'
    )
    faults, _ = faults_of(path)
    assert set(faults) == {"carriers[1].path"}
    assert "must be unique" in faults["carriers[1].path"].text
