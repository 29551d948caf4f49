"""Bugs that are planted to see that they are found: one at each door, in a copy of the source."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.table import Table

from proofs.evidence import ROOT
from proofs.fuzz import campaign
from proofs.fuzz.table import target_named


@dataclass(frozen=True, slots=True)
class Plant:
    """One bug."""

    target: str
    file: str
    """Below ``src/risala``."""
    old: str
    """What stands there, once."""
    new: str

    @property
    def source(self) -> str:
        return (ROOT / "src/risala" / self.file).read_text("utf-8")


_SMPP: Final = "drivers/smpp/protocol"
_TPDU: Final = "drivers/modem/tpdu"
PLANTS: Final = (
    Plant("json-objects", "http/common/parse.py", "len(members) != len(pairs)", "not members"),
    Plant(
        "json-batches", "http/api/batch_reader.py", "if size < VALUE_CHARACTERS_MAX and", "if 0 and"
    ),
    Plant(
        "request-log",
        "engine/features/request_log/rules.py",
        '_halves("\\ufffd", _encode(value))',
        "_encode(value)",
    ),
    Plant(
        "http-heads", "http/server/parser.py", "        if rest:\n            self.feed(rest)\n", ""
    ),
    Plant("http-targets", "http/common/request.py", 'in (b".", b"..")', 'in (b".",)'),
    Plant(
        "client-addresses",
        "http/common/client_address.py",
        'rest.rpartition(",")',
        'rest.partition(",")[::-1]',
    ),
    Plant(
        "labels",
        "sms/evident.py",
        "form = declared if coding is InboundCoding.DECLARED else TextForm(coding)",
        "form = declared",
    ),
    Plant("typed-texts", "sms/typed.py", "Purpose.CODE).strip(_AROUND_CODE)", "Purpose.CODE)"),
    Plant(
        "written-numbers",
        "sms/numbering/written.py",
        "        return figure\n",
        '        return figure if isinstance(figure, NumberFault) else figure[:-1] + "9"\n',
    ),
    Plant(
        "modem-lines",
        "drivers/modem/at/engine.py",
        "len(self._line) + len(piece) > LINE_MAX",
        "len(piece) > LINE_MAX",
    ),
    Plant("modem-rows", "drivers/modem/at/fields.py", "and 0 <= rssi <= 31", ""),
    Plant(
        "modem-pdus", f"{_TPDU}/tpfields.py", "if count > self.left:", "if count > self.left + 1:"
    ),
    Plant("modem-written-pdus", f"{_TPDU}/tpfields.py", "0x08 if quarters < 0 else 0", "0"),
    Plant("modem-ussd", f"{_TPDU}/tpfields.py", "len(septets) % 8 == 7", "len(septets) % 8 == 6"),
    Plant("smpp-pdus", f"{_SMPP}/tlv.py", "if stop > end:", "if stop > end + 1:"),
    Plant(
        "smpp-streams",
        f"{_SMPP}/codec.py",
        "while end - at >= HEADER_OCTETS:",
        "while end - at > HEADER_OCTETS:",
    ),
    Plant("smpp-receipts", f"{_SMPP}/receipt.py", "{**after, **before}", "{**before, **after}"),
    Plant("smpp-submits", "smpp_server/submits.py", ' or "\\0" in text', ""),
    Plant(
        "smpp-parts",
        f"{_SMPP}/submit.py",
        "Concatenation(reference.number & 0xFFFF",
        "Concatenation(reference.number & 0x7F",
    ),
    Plant("kannel", "drivers/faces/kannel.py", "with suppress(ValueError):", "if True:"),
    Plant(
        "playsms",
        "drivers/faces/playsms.py",
        '_escaped(_NOT_IN_XML.sub("", str(value)))',
        "_escaped(str(value))",
    ),
    Plant(
        "smsgate",
        "drivers/faces/smsgate.py",
        "except (ValueError, RecursionError):",
        "except RecursionError:",
    ),
    Plant(
        "twilio",
        "drivers/faces/twilio/compat.py",
        "except ValueError:  # no base64",
        "except UnicodeDecodeError:  # no base64",
    ),
    Plant("queries", "plugins/face.py", "keep_blank_values=True", "keep_blank_values=False"),
    Plant(
        "callbacks",
        "drivers/faces/kannel.py",
        'quote(value, safe="") + each[1:]',
        "value + each[1:]",
    ),
    Plant(
        "code-templates",
        "engine/rules/template.py",
        "template.replace(EXPIRY, str(expiry_minutes))",
        "template.replace(EXPIRY, str(expiry_minutes), 1)",
    ),
    Plant(
        "bank-texts",
        "drivers/payments/patterns.py",
        'minor[:places].ljust(places, "0")',
        "minor[:places]",
    ),
    Plant(
        "bank-patterns",
        "drivers/payments/patterns.py",
        'return f"{thing}{match[0]}+"',
        'return f"{thing}{match[0]}"',
    ),
    Plant(
        "policy-words",
        "drivers/policies/plugin.py",
        "self._values[plain[begin : begin + length]]]",
        "text[begin : begin + length]]",
    ),
    Plant(
        "numbers-and-senders",
        "sms/address.py",
        'return " ".join(text.split())',
        "return text.strip()",
    ),
    Plant(
        "alphabets",
        "sms/alphabet.py",
        "return len(text) + len(_extended(text))",
        "return len(text)",
    ),
    Plant("forms", "http/web/forms.py", 'errors="strict"', 'errors="surrogateescape"'),
    Plant(
        "marks-and-cookies",
        "http/web/forms.py",
        'secret.decode("ascii", "replace")',
        'secret.decode("ascii")',
    ),
    Plant("back-to", "http/web/cookie_policy.py", " or not is_plain_path(path.encode())", ""),
    Plant("csv", "http/web/files/spreadsheet.py", 'rf"([;,\\t', 'rf"([,\\t'),
    Plant(
        "hooks",
        "engine/features/hooks/rules/reading.py",
        "\\x7f-\\x9f\\ud800-\\udfff]",
        "\\x7f-\\x9f]",
    ),
    Plant(
        "mails-to-sms",
        "cli/commands/messaging/mail_reader.py",
        r"[\x00-\x09\x0b-\x1f",
        r"[\x01-\x09\x0b-\x1f",
    ),
    Plant("mails", "engine/people/letters.py", '" " if each.isspace() else each', "each"),
    Plant(
        "control-streams",
        "http/control/streams.py",
        "data: {item.body}\\n\\n",
        "data: {item.body[:40]}\\n\\n",
    ),
    Plant("page-cursors", "http/api/management/cursors.py", " and int(place) < _PLACE_MAX", ""),
    Plant(
        "expressions",
        "engine/rules/template.py",
        'r"[A-Za-z0-9+/]{11}"',
        'r"([A-Za-z0-9+/]+)+="',
    ),
    Plant("settings", "config/load.py", "if not isinstance(raw, list):", "if raw is None:"),
    Plant(
        "webhook-signatures",
        "client/webhooks.py",
        "abs(self._now() - int(at))",
        "(self._now() - int(at))",
    ),
    Plant(
        "tables",
        "engine/features/tables/rules/recognising.py",
        "max(_width_below(sample, width), number_place + 1)",
        "_width_below(sample, width)",
    ),
    Plant(
        "webhook-addresses", "engine/rules/webhooks/url.py", 'r"[0-9]+|0x[0-9a-f]*"', 'r"[0-9]+"'
    ),
)


@contextmanager
def planted(plant: Plant) -> Iterator[Path]:
    """A copy of the source with one bug more."""
    with TemporaryDirectory(prefix="risala-plant-") as place:
        tree = Path(place) / "src"
        shutil.copytree(ROOT / "src", tree, ignore=shutil.ignore_patterns("__pycache__"))
        path = tree / "risala" / plant.file
        path.write_text(plant.source.replace(plant.old, plant.new), "utf-8")
        yield tree


def main(console: Console, only: str, seconds: int) -> int:
    """0: each was found; 1: some were not."""
    table = Table("Door", "Where", "Found", title="Bugs that were planted")
    missed = 0
    for plant in PLANTS:
        if only not in plant.target:
            continue
        with planted(plant) as tree:
            done = campaign.run(target_named(plant.target), seconds, _say_nothing, source=tree)
        where = "by a stored input" if done.inputs == 0 else f"after {done.inputs:,} inputs"
        missed += done.found is None
        if done.found is not None:
            done.found.unlink()
        told = "[red]NOT FOUND[/]" if done.found is None else where
        console.print(f"{plant.target:<20} {told}", highlight=False)
        table.add_row(plant.target, plant.file, told)
    console.print(table)
    return 1 if missed else 0


def _say_nothing(now: campaign.Campaign) -> None:
    pass
