"""What the doctor says of carriers that let phones prove their numbers by the operator's word."""

from __future__ import annotations

from collections.abc import Iterator

from risala.engine.model.findings import Finding, Grade, Patient

_NAME = "origins"


def examine(patient: Patient) -> list[Finding]:
    """A finding for each carrier whose senders the settings trust."""
    return list(_findings(patient))


def _findings(patient: Patient) -> Iterator[Finding]:
    for carrier in patient.settings.carriers:
        if carrier.enabled and carrier.origin == "trusted":
            yield Finding(
                _NAME,
                Grade.OK,
                f"Texts that {carrier.name} brings prove the number of their sender, because the"
                " settings say origin = trusted. That is right only where its aggregator refuses"
                " forged senders; else write untrusted.",
            )
        elif carrier.enabled and carrier.origin == "network" and carrier.driver in ("smpp", "http"):
            yield Finding(
                _NAME,
                Grade.WARN,
                f"{carrier.name} has origin = network, but its driver receives on no SIM of its"
                " own. Write trusted where its aggregator refuses forged senders, else untrusted.",
            )
