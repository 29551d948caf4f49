"""What ``[carriers.smpp]`` may say. Units are in the names; unknown keys are faults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from risala.drivers.smpp.parts import PartLimits
from risala.drivers.smpp.receipt import IdForm
from risala.drivers.smpp.status import Verdict
from risala.drivers.smpp.submit import DefaultAlphabet, SubmitOptions

Octet = Annotated[int, Field(ge=0, le=255)]
Seconds = Annotated[float, Field(gt=0, le=86400)]
# Sizes of SMPP 3.4 §4.1.1 without their NUL; ASCII without controls.
SystemId = Annotated[str, Field(pattern=r"^[ -~]{1,15}$")]
StatusCode = Annotated[str, Field(pattern=r"^0x[0-9A-Fa-f]{1,8}$")]


class SmppSettings(BaseModel):
    """One account at one SMSC."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: str
    port: Annotated[int, Field(ge=1, le=65535)] = 2775
    system_id: SystemId
    password: SecretStr = SecretStr("")
    """8 characters by the standard; longer ones are in use and are sent as they are."""
    system_type: Annotated[str, Field(pattern=r"^[ -~]{0,12}$")] = ""
    bind: Literal["transceiver"] = "transceiver"
    interface_version: Octet = 0x34
    tls: bool = False
    tls_ca_file: Path | None = None
    """Certificates to trust instead of the system's."""

    connect_timeout_s: Seconds = 10.0
    response_timeout_s: Seconds = 10.0
    """After it a submit is uncertain, and a silent link is dead."""
    enquire_link_s: Seconds = 30.0
    reconnect_first_s: Seconds = 1.0
    reconnect_max_s: Seconds = 60.0
    bind_refused_wait_s: Seconds = 300.0
    """After a wrong password and the like: carriers block accounts that hammer."""
    window_max: Annotated[int, Field(ge=1, le=10000)] = 10

    default_alphabet: DefaultAlphabet = DefaultAlphabet.GSM7
    service_type: Annotated[str, Field(pattern=r"^[ -~]{0,5}$")] = ""
    source_ton: Octet | None = None
    source_npi: Octet | None = None
    dest_ton: Octet | None = None
    dest_npi: Octet | None = None
    message_id_form: IdForm = IdForm.SAME
    status_verdicts: dict[StatusCode, Verdict] = {}
    """What this carrier means by its codes: ``{"0x45" = "final"}``."""
    part_ack_wait_s: Annotated[float, Field(ge=0, le=60)] = 2.0
    """How long the answer to one part of a long inbound message waits for the others."""
    parts_timeout_s: Seconds = 3600.0
    """An inbound message of which no other part came for this long is stored incomplete."""
    query: bool = False
    """True where the carrier answers ``query_sm``."""

    @property
    def submit_options(self) -> SubmitOptions:
        return SubmitOptions(
            default_alphabet=self.default_alphabet,
            service_type=self.service_type,
            source_ton=self.source_ton,
            source_npi=self.source_npi,
            dest_ton=self.dest_ton,
            dest_npi=self.dest_npi,
        )

    @property
    def part_limits(self) -> PartLimits:
        return PartLimits(self.part_ack_wait_s, self.parts_timeout_s)

    @property
    def verdicts(self) -> dict[int, Verdict]:
        return {int(code, 16): verdict for code, verdict in self.status_verdicts.items()}
