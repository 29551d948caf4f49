"""Which names are marked: what a quick eye would take for another's, and what says nobody's."""

from __future__ import annotations

import pytest

from risala.config.kinds import SendersSection
from risala.engine.model.records.senders import Mark
from risala.engine.rules.likeness import Marker, Owned, is_generic, resembles

SETTINGS = SendersSection()


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("MATTEL", "Mattel"),
        ("M4TTEL", "Mattel"),
        ("MATTE1", "Mattel"),
        ("MatteI", "Mattel"),
        ("rnattel", "Mattel"),
        ("Mattel", "\u041c\u0430ttel"),
        ("MATTEL 24", "Mattel"),
        ("InfoMattel", "Mattel"),
        ("Matel", "Mattel"),
        ("Mattell", "Mattel"),
        ("Mattol", "Mattel"),
        ("Mattle", "Mattel"),
        ("BAN KILY", "Bankily"),
        ("8NM", "BNM"),
        ("BNM Info", "BNM"),
        ("MoovPay", "Moov"),
        ("VIS4", "Visa"),
        ("WesternUni", "Western Union"),
        ("Societe Gen", "Société Générale"),
        ("\u0391cme", "ACME"),
        ("myAcmexyz", "Acmex"),
        ("Weste", "Western Union"),
        ("Maxttel", "Mattel"),
        ("Maxtel", "Mattel"),
        ("Bnakily", "Bankily"),
        ("Bankiyl", "Bankily"),
    ],
)
def test_names_that_could_be_taken_for_another(name, other):
    assert resembles(name, other)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Acme", "Mattel"),
        ("ABNMX", "BNM"),
        ("AVIS ALERTE", "Visa"),
        ("Acma", "Acme"),
        ("Metal", "Mattel"),
        ("Shop", "Shop of ours"),
        ("Acme", "\u0631\u0633\u0627\u0644\u0629"),
        ("Acme", "!!"),
        ("Matt", "Mattel"),
        ("myAcmyz", "Acmy"),
        ("West", "Western Union"),
        ("Maxxttel", "Mattel"),
        ("Maxxel", "Mattel"),
        ("Bnakxly", "Bankily"),
        ("Bnakil", "Bankily"),
        ("Acm3s", "Acmo"),
        ("!!", "??"),
        ("!!", "Mattel"),
    ],
)
def test_names_that_are_names_of_their_own(name, other):
    assert not resembles(name, other)


@pytest.mark.parametrize(
    "name", ["INFO", "1NF0", "Sms Info", "SMSALERT", "Code 24", "A", "X 1", "AB"]
)
def test_generic_names(name):
    assert is_generic(name, SETTINGS.generic)


@pytest.mark.parametrize("name", ["Acme", "Acme Info", "Infinity", "Nouakchott", "ABC"])
def test_names_that_are_somebodys(name):
    assert not is_generic(name, SETTINGS.generic)


def test_a_generic_word_may_be_a_letter():
    assert is_generic("X Info", ("x", "info"))
    assert not is_generic("Y Info", ("x", "info"))


def test_a_mark_says_whose_name_it_is(new_sender):
    marker = Marker(SendersSection(generic=("acme",), protected=("Acme Bank",)), "ACME")
    owned = [
        Owned("org_a", "Acme Trading", "Acme"),
        Owned("org_a", "Acme Trading", "ACME"),
        Owned("org_a", "Acme Trading", "Acme"),
        Owned("org_b", "Other", "Acme"),
    ]
    resembling = "It resembles"
    assert marker.marks(new_sender("Acme"), owned) == [
        Mark("generic", "It is a generic name that anybody could use."),
        Mark("default", f"{resembling} 'ACME', the service's own sender.", "ACME"),
        Mark(
            "organization",
            f"{resembling} 'Acme' of Acme Trading (org_a).",
            "Acme",
            "org_a",
            "Acme Trading",
        ),
        Mark(
            "organization",
            f"{resembling} 'ACME' of Acme Trading (org_a).",
            "ACME",
            "org_a",
            "Acme Trading",
        ),
        Mark("organization", f"{resembling} 'Acme' of Other (org_b).", "Acme", "org_b", "Other"),
    ]
    (protected,) = marker.marks(new_sender("AcmeBank7"), ())[-1:]
    assert protected == Mark(
        "protected", f"{resembling} 'Acme Bank' (senders.protected in the settings).", "Acme Bank"
    )


def test_another_organizations_names_are_told_apart_from_ones_own(new_sender):
    marker = Marker(SETTINGS, "RISALA")
    owned = [
        Owned("org_mine", "Acme", "Acme"),
        Owned("org_theirs", "Acme Trading", "ACME"),
        Owned("org_theirs", "Acme Trading", "Acme Trading"),
        Owned("org_other", "Bazar", "Bazar"),
    ]
    marks = marker.marks(new_sender("Acme", "org_mine"), owned)
    assert [mark.code for mark in marks] == ["organization"]
    assert "'ACME' of Acme Trading (org_theirs)" in marks[0].text
    assert marker.marks(new_sender("Zamzam", "org_mine"), owned) == []
    codes = {mark.code for mark in marker.marks(new_sender("R1SALA SMS"), ())}
    assert codes == {"default"}
    codes = {mark.code for mark in marker.marks(new_sender("Info Bank"), ())}
    assert codes == {"generic"}
    codes = {mark.code for mark in marker.marks(new_sender("BankiIy"), ())}
    assert codes == {"protected"}


def test_the_lists_are_settings(new_sender):
    marker = Marker(SendersSection(generic=("thing",), protected=("Zamzam",)), "RISALA")
    assert [mark.code for mark in marker.marks(new_sender("Thing"), ())] == ["generic"]
    assert [mark.code for mark in marker.marks(new_sender("Z4MZAM"), ())] == ["protected"]
    assert marker.marks(new_sender("Mattel"), ()) == []


@pytest.fixture
def new_sender():
    from risala.engine.model.records.senders import Sender

    def make(name, organization_id="org_mine"):
        return Sender(
            "snd_1", organization_id, name, "pending", False, None, "For tests", None, 1, 1
        )

    return make
