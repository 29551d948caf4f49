"""Countries are opened and priced from the command line, without a running service."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from risala.cli.main import cli
from risala.http.api.openapi.document import document
from risala.sms.numbering.plan import plan_of

SETTINGS = '[numbers]\ncountries = ["MR", "SN"]\n[[prices]]\nprefix = "+221"\nprice = "12.00"\n'


@pytest.fixture
def run(tmp_path: Path):
    """Commands on a data directory with one organization."""
    settings = tmp_path / "risala.toml"
    settings.write_text(SETTINGS)

    def call(*arguments: str, ends: int = 0):
        where = ("--data", str(tmp_path / "data"), "--config", str(settings))
        done = CliRunner().invoke(cli, (*arguments, *where), prog_name="risala")
        assert done.exit_code == ends, done.output
        return done

    call("org", "create", "Shop")
    return call


def senegal(told):
    return next(" ".join(each.split()) for each in told.stdout.splitlines() if "SN" in each)


def test_a_country_is_opened_and_closed(run):
    assert senegal(run("country", "list")) == "SN Senegal – +221: 12.00 MRU"
    assert senegal(run("country", "open", "SN")) == "SN Senegal messages +221: 12.00 MRU"
    codes = ("SN", "--for", "verify", "--for", "publishable")
    told = senegal(run("country", "open", *codes))
    assert "messages, codes, codes by publishable keys" in told
    assert senegal(run("country", "close", *codes)) == "SN Senegal messages +221: 12.00 MRU"
    assert "home" in run("country", "open", "MR", ends=1).stderr


def test_the_reference_of_the_api_is_of_the_served_countries(tmp_path):
    settings = tmp_path / "risala.toml"

    def told(countries, ends=0):
        settings.write_text(f"[numbers]\ncountries = {countries}\n")
        arguments = ("openapi", "--config", str(settings))
        done = CliRunner().invoke(cli, arguments, prog_name="risala")
        assert done.exit_code == ends, done.output
        return done

    found = told(["FR"]).stdout
    assert json.loads(found) == document(plan=plan_of(("FR",)))
    assert "+222" not in found
    assert "'XX'" in told(["XX"], ends=1).stderr
    settings.write_text('[service]\ncurrency = "XOF"\n[pricing]\nper_segment = "25"\n')
    done = CliRunner().invoke(cli, ["openapi", "--config", str(settings)], prog_name="risala")
    assert json.loads(done.stdout) == document(currency="XOF")
    settings.unlink()
    done = CliRunner().invoke(cli, ["openapi"], prog_name="risala")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == document()


def test_an_organization_has_prices_of_its_own(run):
    assert "+221: 9.00 MRU" in senegal(run("country", "price", "+221", "9"))
    found = json.loads(run("country", "drop-price", "+221", "--json").stdout)
    assert found["countries"][1]["prices"] == [{"prefix": "+221", "price": "12.00"}]


def test_a_made_up_event_has_a_number_of_home(tmp_path):
    settings = tmp_path / "risala.toml"
    settings.write_text('[numbers]\ncountries = ["FR"]\n')
    for event, member in (("sms.delivered", "to"), ("sms.received", "from")):
        arguments = ("trigger", event, "--config", str(settings))
        done = CliRunner().invoke(cli, arguments, prog_name="risala")
        assert json.loads(done.stdout)[member] == "+33612345678"
