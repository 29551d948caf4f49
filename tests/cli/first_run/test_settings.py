"""What the answers change in the settings, and that everything else stays."""

import os
import stat
import tomllib

import pytest

from risala.cli.commands.upkeep.service import used_data
from risala.cli.first_run.settings import SettingsFile
from risala.cli.reach.refused import CommandRefused
from risala.config.load import load_settings

ANSWERS = {
    "country": "MR",
    "payer": "customers",
    "currency": "MRU",
    "price": "0.50",
    "carrier": "smpp",
    "carrier_name": "mattel",
    "smpp_host": "smsc.example.net",
    "smpp_port": "2775",
    "smpp_tls": "no",
    "smpp_system_id": "risala",
    "smpp_password": "s3'cret",
    "smpp_rate": "10",
    "sender": "RISALA",
    "public_url": "https://sms.example.mr",
    "port": "8080",
    "mail_host": "smtp.example.mr",
    "mail_port": "587",
    "mail_security": "starttls",
    "mail_user": "u",
    "mail_password": "m4il",
    "mail_sender": "sms@example.mr",
    "operator": "me@example.mr",
    "organization": "Mine",
    "phone": "",
}


@pytest.fixture(autouse=True)
def no_passwords(monkeypatch):
    for name in ("MATTEL_PASSWORD", "MAIL_PASSWORD", "OTHER_PASSWORD", "SIM_1_PIN"):
        monkeypatch.setenv(name, "")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "risala.toml"


def write(path, answers=ANSWERS):
    SettingsFile.at(path).write(answers)
    return SettingsFile.at(path)


def without_people(answers):
    people = ("operator", "organization", "phone")
    return {name: each for name, each in answers.items() if name not in people and each}


def test_a_new_file_explains_everything_and_holds_no_password(path):
    written = write(path)
    assert written.present_answers() == without_people(ANSWERS)
    reference = (path.parent / "risala.reference.toml").read_text()
    assert "# The settings of Risala." in reference
    assert tomllib.loads(written.text)["service"] == {"currency": "MRU", "default_sender": "RISALA"}
    assert len([each for each in written.text.splitlines() if each.startswith("#")]) == 2
    assert "s3'cret" not in written.text
    assert "m4il" not in written.text
    for each in (path, path.parent / "secrets"):
        assert stat.S_IMODE(each.stat().st_mode) == 0o600
    settings = load_settings(path)
    assert settings.carriers[0].settings["password_env"] == "MATTEL_PASSWORD"
    assert os.environ["MATTEL_PASSWORD"] == "s3'cret"


def test_the_same_answers_change_nothing(path):
    before = write(path)
    at = path.stat().st_mtime_ns
    after = write(path, {**before.present_answers(), "operator": "x@y.z"})
    assert after.text == before.text
    assert path.stat().st_mtime_ns == at


def test_only_what_is_answered_otherwise_changes(path):
    before = write(path)
    mine = before.text.replace(
        '[[carriers]]\nname = "mattel"', '# my note\n[[carriers]]\nname = "mattel"\npriority = 3'
    )
    path.write_text(mine + '\n[[carriers]]\nname = "mine"\ndriver = "loopback"\n')
    after = write(path, {**before.present_answers(), "smpp_port": "2776", "public_url": ""})
    carriers = tomllib.loads(after.text)["carriers"]
    assert (carriers[0]["smpp"]["port"], carriers[0]["priority"]) == (2776, 3)
    assert carriers[1] == {"name": "mine", "driver": "loopback"}
    assert "# my note" in after.text
    assert '#public_url = "https://sms.example.mr"' in after.text


def test_another_way_switches_the_first_one_off_and_on_again(path):
    smpp = write(path).present_answers()
    modem = {
        **smpp,
        "carrier": "modem",
        "carrier_name": "sim-1",
        "modem_port": "/dev/a",
        "modem_pin": "4711",
    }
    both = write(path, modem)
    carriers = tomllib.loads(both.text)["carriers"]
    assert [each.get("enabled", True) for each in carriers] == [False, True]
    assert carriers[1] == {
        "name": "sim-1",
        "driver": "modem",
        "rate_per_s": 0.2,
        "modem": {"port": "/dev/a", "pin_env": "SIM_1_PIN"},
    }
    again = write(path, smpp)
    carriers = tomllib.loads(again.text)["carriers"]
    assert [each.get("enabled", True) for each in carriers] == [True, False]
    assert len(carriers) == 2


AGGREGATOR = {
    **ANSWERS,
    "carrier": "http",
    "carrier_name": "big",
    "http_preset": "twilio",
    "http_needs": "user password secret_address",
    "http_user": "AC1",
    "http_password": "t0ken",
    "http_rate": "5",
}


def test_an_aggregator_that_signs_is_told_its_own_address(path):
    file = write(path, AGGREGATOR)
    assert tomllib.loads(file.text)["carriers"] == [
        {
            "name": "big",
            "driver": "http",
            "rate_per_s": 5,
            "http": {
                "preset": "twilio",
                "user": "AC1",
                "password_env": "BIG_PASSWORD",
                "secret_address": "https://sms.example.mr/carriers/big",
            },
        }
    ]
    load_settings(path, environ={"BIG_PASSWORD": "t0ken"})
    assert write(path, AGGREGATOR).text == file.text


def test_without_a_public_address_no_aggregator_can_sign_calls_to_it(path):
    with pytest.raises(CommandRefused, match="answer with one"):
        write(path, {**AGGREGATOR, "public_url": ""})
    assert not path.exists()
    numbered = {
        "http_preset": "orange",
        "http_needs": "user password values.sender_number",
        "http_sender_number": "2240000",
    }
    file = write(path, {**AGGREGATOR, "public_url": "", **numbered})
    table = tomllib.loads(file.text)["carriers"][0]["http"]
    assert table["values"] == {"sender_number": "2240000"}
    assert "secret_address" not in table
    assert SettingsFile.at(path).present_answers()["http_sender_number"] == "2240000"


@pytest.mark.parametrize("trial", ["trial", "lo"])
def test_back_to_a_trial_the_carrier_keeps_its_name(path, trial):
    path.write_text(f'[[carriers]]\nname = "{trial}"\ndriver = "loopback"\n' * (trial == "lo"))
    mine = write(path).present_answers()
    again = write(path, {**mine, "carrier": "trial"})
    named = {each["name"]: each.get("enabled", True) for each in again.tree["carriers"]}
    assert named == {trial: True, "mattel": False}
    assert again.present_answers()["carrier_name"] == trial


def test_another_home_keeps_the_countries_that_were_named(path):
    path.write_text('[numbers]\ncountries = ["MR", "SN", "ML"]\n')
    assert tomllib.loads(write(path, {**ANSWERS, "country": "SN"}).text)["numbers"] == {
        "countries": ["SN", "MR", "ML"]
    }


def test_a_password_that_stands_in_the_file_is_changed_there(path):
    path.write_text(
        '[[carriers]]\nname = "a"\ndriver = "smpp"\n[carriers.smpp]\nhost = "h"\nsystem_id = "s"\n'
        'password = "old"\n'
    )
    assert SettingsFile.at(path).present_answers()["smpp_password"] == "old"
    assert 'password = "new"' in write(path, {**ANSWERS, "smpp_password": "new"}).text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("x =", "is not TOML"), ("[http]\nunknown = 1\n", "unknown"), ("http.port = 1\n", "by hand")],
)
def test_a_file_that_cannot_be_changed_is_left_as_it_is(path, text, sentence):
    path.write_text(text)
    with pytest.raises(CommandRefused, match=sentence):
        write(path)
    assert path.read_text() == text
    assert sorted(each.name for each in path.parent.iterdir()) == ["risala.toml"]


def test_rights_that_somebody_gave_are_not_widened(path):
    path.write_text("")
    path.chmod(0o640)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_writes_the_services_group_may_read(path):
    os.chown(path.parent, 0, 1)
    write(path)
    for name, rights in (("risala.toml", (0o640, 1)), ("secrets", (0o600, 0))):
        status = (path.parent / name).stat()
        assert (stat.S_IMODE(status.st_mode), status.st_gid) == rights


@pytest.mark.parametrize(
    ("currency", "price", "low"), [("EUR", "0.05", "0.25"), ("XOF", "25", "125")]
)
def test_a_low_balance_fits_the_currency_and_the_price(path, currency, price, low):
    pricing = write(path, {**ANSWERS, "currency": currency, "price": price}).tree["pricing"]
    assert pricing == {"per_segment": price, "low_balance": low}


def test_a_file_that_has_a_price_gets_no_other_low_balance(path):
    path.write_text('[pricing]\nper_segment = "0.40"\n')
    assert write(path).tree["pricing"] == {"per_segment": "0.50"}


def test_a_file_that_has_a_price_says_that_customers_pay(path):
    path.write_text('[pricing]\nper_segment = "0.40"\n')
    present = SettingsFile.at(path).present_answers()
    assert present == {"price": "0.40", "payer": "customers"}
    assert "billing" not in write(path, {**ANSWERS, **present}).tree


def test_a_file_with_a_carrier_and_no_country_serves_the_usual_one(path):
    path.write_text('[[carriers]]\nname = "a"\ndriver = "loopback"\n')
    assert SettingsFile.at(path).present_answers()["country"] == "MR"


def test_nobody_who_pays_has_no_price_and_the_currency_of_the_country(path):
    mine = {**ANSWERS, "country": "FR", "payer": "self", "parts_per_day": "150"}
    tree = write(path, {k: v for k, v in mine.items() if k not in ("currency", "price")}).tree
    assert tree["billing"] == {"payer": "self", "self_parts_per_day": 150}
    assert tree["service"]["currency"] == "EUR"
    assert tree["pricing"] == {"per_segment": "0", "low_balance": "0"}
    assert "price" not in SettingsFile.at(path).present_answers()


def test_a_data_directory_that_was_named_is_kept(path, tmp_path):
    SettingsFile.at(path).write(ANSWERS, tmp_path / "here")
    assert load_settings(path, environ={}).storage.data_dir == tmp_path / "here"


def test_an_empty_directory_beside_one_that_was_used_is_told(path, tmp_path):
    used, empty = tmp_path / "risala-data", tmp_path / "empty"
    used.mkdir()
    write(path)
    assert used_data(empty, path) is None
    (used / "risala.db").touch()
    assert used_data(empty, path) == used
    assert used_data(used, path) is None


def test_a_stick_is_asked_for_its_address_and_keeps_its_password_apart(path):
    smpp = {name for name in ANSWERS if name.startswith(("smpp_", "sender"))}
    stick = {
        "carrier": "hilink",
        "carrier_name": "stick-1",
        "hilink_url": "http://192.168.9.1",
        "hilink_password": "st1ck-s3cret",
    }
    written = write(path, {name: ANSWERS[name] for name in ANSWERS if name not in smpp} | stick)
    [carrier] = tomllib.loads(written.text)["carriers"]
    assert carrier == {
        "name": "stick-1",
        "driver": "hilink",
        "rate_per_s": 0.2,
        "hilink": {"url": "http://192.168.9.1", "password_env": "STICK_1_PASSWORD"},
    }
    assert "st1ck-s3cret" not in written.text
    assert written.secrets["STICK_1_PASSWORD"] == "st1ck-s3cret"
