"""Forty texts of a bank, true and false, through a modem: the true ones credit, each once."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import pytest

from risala.lab.modem.simulator import MessageReceived

pytestmark = pytest.mark.slow

CENTRE, FOREIGN = "+22236990000", "+34600000001"
FRENCH = "Vous avez reçu {amount} MRU de {payer} (M. Ould). Réf {reference}. Solde {balance} MRU."
ARABIC = "استلمت {amount} أوقية من {payer}. المرجع {reference}. الرصيد {balance} أوقية."
SETTINGS = r"""
[payments]
codes_organization = "CODES"
open_max = 100
[payments.bankily]
merchant = "038 221"
[payments.bankily.sms]
carrier = "bank"
senders = ["Bankily"]
service_centres = ["CENTRE"]
by_itself = true
payment_max = "500"
organization_day_max = "6000"
day_max = "6000"
[[payments.bankily.sms.patterns]]
text = 'Vous avez reçu {amount} MRU de {payer} \([^)]+\)\. Réf {reference}\. Solde {balance} MRU\.'
[[payments.bankily.sms.patterns]]
language = "ar"
text = 'استلمت {amount} أوقية من {payer}\. المرجع {reference}\. الرصيد {balance} أوقية\.'
""".replace("CENTRE", CENTRE)


@dataclass
class Text:
    """One sample."""

    text: str
    why: str | None = None
    """None: it credits."""
    sender: str = "Bankily"
    centre: str = CENTRE


class Samples:
    """Writes as the bank does, and as others do: ``truly`` moves the account."""

    def __init__(self) -> None:
        self.texts: list[Text] = []
        self.payments: list[tuple[str, str, int]] = []
        """What customers have begun: reference, number, amount."""
        self.balance = 10_000

    def claim(self, amount: int = 500) -> tuple[str, str]:
        number = len(self.payments)
        found = (f"BK-77103{number:02}", f"+222361234{number:02}", amount)
        self.payments.append(found)
        return found[:2]

    def say(self, template, amount, reference, payer, why=None, *, truly=False, **more) -> Text:
        balance = self.balance + (amount if truly else 0)
        self.balance = balance
        words = {"amount": amount, "reference": reference, "payer": payer, "balance": balance}
        self.texts.append(Text(template.format(**words), why, **more))
        return self.texts[-1]


def forty() -> Samples:
    made = Samples()
    true = [made.say(template, 500, *made.claim(), truly=True) for template in (FRENCH, ARABIC) * 5]
    made.texts += [Text(each.text, "credited_before") for each in true[:4]]
    eastern = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
    one = made.say(ARABIC, 500, *made.claim(), truly=True)
    one.text = one.text.translate(eastern)
    for sender in ("BankiIy", "Banki1y", "BANKlLY", "Info", "+22236000000"):
        made.say(FRENCH, 500, *made.claim(), "foreign_sender", sender=sender)
    for template in (FRENCH, ARABIC, FRENCH):
        made.say(template, 500, *made.claim(), "foreign_centre", centre=FOREIGN)
    for template in (FRENCH, ARABIC, FRENCH):  # the same letters, and another amount
        made.say(template, 5000, *made.claim(), "balance")
    for template in (FRENCH, ARABIC, FRENCH):  # less came than was said
        made.say(template, 400, *made.claim(), "amount", truly=True)
    for template in (FRENCH, ARABIC):  # somebody else's money
        made.say(template, 500, made.claim()[0], "+22246999999", "payer", truly=True)
    made.say(FRENCH, 300, "BK-nobody", "+22246999999", "unclaimed", truly=True)
    for words in ("Bonjour", "Votre code est 4711", "مرحبا بكم", "Vous avez reçu 500 MRU"):
        made.texts.append(Text(words, "no_pattern"))
    for template in (FRENCH, ARABIC, FRENCH):  # to the last letter, and more than a text may
        made.say(template, 501, *made.claim(501), "cap_payment", truly=True)
    made.say(FRENCH, 500, *made.claim(), truly=True)
    return made


def proved(service, phones, shop, reference, number, amount, until) -> str:
    """A payment of which the customer has shown that the number is theirs."""
    begun = service.perform(
        "payment.begin", organization_id=shop, method="bankily", amount=str(amount)
    )
    entered = {"reference": reference, "payer": number}
    service.perform("payment.claim", payment_id=begun["id"], entered=entered)

    def codes() -> list[str]:
        came = [each.text for each in phones.events(MessageReceived) if each.recipient == number]
        return re.findall(r"[0-9]{6}", " ".join(came))

    until(codes, f"the code is at {number}")
    service.perform("payment.check_payer", payment_id=begun["id"], code=codes()[-1])
    return begun["id"]


@pytest.mark.long
def test_forty_texts(station, running, until):
    samples = forty()
    assert len(samples.texts) == 40
    phones, bank = station.modem("sms"), station.modem("bank")
    service = running(phones, bank, carriers={"bank": {"receives_only": "true"}})
    codes = service.organization().organization_id
    service.stop()
    config = service.options[1]
    with open(config, encoding="utf-8") as file:
        written = file.read()
    with open(config, "w", encoding="utf-8") as file:
        file.write(SETTINGS.replace("CODES", codes) + written)
    service.restart()
    shop = service.organization("0.01").organization_id
    service.perform("inbound.route", organization_id=shop)
    service.perform("payment.reconcile", method="bankily", balance="10000")
    ids = [proved(service, phones, shop, *each, until) for each in samples.payments]
    events = len(service.events())

    def texts() -> list[tuple[str, str | None, str]]:
        return service.rows("SELECT state, why, body FROM bank_texts ORDER BY seq")

    for number, each in enumerate(samples.texts, 1):
        bank.do(lambda each=each: setattr(bank.simulator.modem, "smsc_number", each.centre))
        bank.receive(each.sender, each.text)
        until(
            lambda number=number: (
                len(texts()) == number
                and texts()[-1][0] not in ("unread",)
                and (texts()[-1][1] != "unclaimed" or "nobody" in texts()[-1][2])
            ),
            f"text {number} is read",
        )
        if number == 20:
            service.kill()
            service.restart()
    found = texts()
    assert [why for _, why, _ in found] == [each.why for each in samples.texts]
    states = Counter(state for state, _, _ in found)
    assert states == {"credited": 12, "noted": 4, "waiting": 12, "unmatched": 12}
    confirmed = [each for each in ids if service.perform("payment.show", payment_id=each)["paid"]]
    assert len(confirmed) == 12
    assert service.perform("org.show", organization_id=shop)["balance"] == "6000.01"
    assert service.rows("SELECT count(*) FROM inbound") == [(0,)]
    assert len(service.events()) == events, "no customer hears of any"
    service.assert_books_agree()
    service.assert_no_bug_logged()
