"""What a numbering plan knows of one country's mobile numbers; and which country a calling code is
of (ITU-T E.164), known also where its numbers are not served, without the library, whose tables
take memory. Pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, Protocol


class Block(NamedTuple):
    """Numbers that begin alike and were allotted together."""

    prefix: str
    """``+`` and digits."""
    network: str | None
    """None: fixed lines, or nobody knows whose they are."""


class Country(Protocol):
    """The mobile numbers of one country, as ``+`` and digits (E.164)."""

    @property
    def code(self) -> str:
        """ISO 3166-1, two letters."""

    @property
    def name(self) -> str:
        """In English, for errors."""

    @property
    def calling_code(self) -> str:
        """The digits behind ``+`` (ITU-T E.164). Countries may share them, as +1 and +7."""

    @property
    def example(self) -> str:
        """A mobile number, for placeholders and documents."""

    @property
    def time_zone(self) -> str:
        """The time zone of most of its people, such as ``Africa/Nouakchott``."""

    @property
    def digit_places(self) -> tuple[tuple[str, ...], ...]:
        """For each length that its numbers have: the possible digits at each place behind the
        calling code, such as ``("234", "0123456789", …)``."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The prefixes by which networks differ, as far as the plan knows any."""

    def serves(self, number: str) -> bool:
        """Whether a text is one of the country's mobile numbers. Nothing is normalised."""

    def read(self, text: str) -> str | None:
        """The number that people write so: ``+`` and digits, or digits alone as at home; None if
        it is none of the country's mobile numbers."""

    def local(self, number: str) -> str:
        """One of the country's numbers as its people write it, with spaces."""

    def international(self, number: str) -> str:
        """One of the country's numbers with ``+`` and the calling code in front, with spaces."""

    def network_of(self, number: str) -> str | None:
        """The network to which a number was allotted; it may have been ported since."""


_TABLE: Final = (
    "1US 20EG 211SS 212MA 213DZ 216TN 218LY 220GM 221SN 222MR 223ML 224GN 225CI 226BF 227NE "
    "228TG 229BJ 230MU 231LR 232SL 233GH 234NG 235TD 236CF 237CM 238CV 239ST 240GQ 241GA "
    "242CG 243CD 244AO 245GW 246IO 247AC 248SC 249SD 250RW 251ET 252SO 253DJ 254KE 255TZ "
    "256UG 257BI 258MZ 260ZM 261MG 262RE 263ZW 264NA 265MW 266LS 267BW 268SZ 269KM 27ZA 290SH "
    "291ER 297AW 298FO 299GL 30GR 31NL 32BE 33FR 34ES 350GI 351PT 352LU 353IE 354IS 355AL "
    "356MT 357CY 358FI 359BG 36HU 370LT 371LV 372EE 373MD 374AM 375BY 376AD 377MC 378SM 380UA "
    "381RS 382ME 383XK 385HR 386SI 387BA 389MK 39IT 40RO 41CH 420CZ 421SK 423LI 43AT 44GB "
    "45DK 46SE 47NO 48PL 49DE 500FK 501BZ 502GT 503SV 504HN 505NI 506CR 507PA 508PM 509HT "
    "51PE 52MX 53CU 54AR 55BR 56CL 57CO 58VE 590GP 591BO 592GY 593EC 594GF 595PY 596MQ 597SR "
    "598UY 599CW 60MY 61AU 62ID 63PH 64NZ 65SG 66TH 670TL 672NF 673BN 674NR 675PG 676TO 677SB "
    "678VU 679FJ 680PW 681WF 682CK 683NU 685WS 686KI 687NC 688TV 689PF 690TK 691FM 692MH 7RU "
    "81JP 82KR 84VN 850KP 852HK 853MO 855KH 856LA 86CN 880BD 886TW 90TR 91IN 92PK 93AF 94LK "
    "95MM 960MV 961LB 962JO 963SY 964IQ 965KW 966SA 967YE 968OM 970PS 971AE 972IL 973BH 974QA "
    "975BT 976MN 977NP 98IR 992TJ 993TM 994AZ 995GE 996KG 998UZ "
)
"""Each code with the ISO 3166-1 letters of the country, or of the largest that share it."""
COUNTRIES: Final[dict[str, str]] = dict(re.findall(r"([0-9]+)([A-Z]{2})", _TABLE))
DIGITS_MIN: Final = {1: 11, 2: 9, 3: 8}
"""The fewest digits of a mobile number with its calling code, by how many the code has. Fewer are
a number of the reader's own country with a ``+`` too many, sooner than a number abroad."""


def english_name(code: str) -> str:
    """A country by its ISO 3166-1 letters; the letters where no name is known."""
    from babel import Locale  # only where somebody is told

    return str(Locale("en").territories.get(code, code))


def country_of_code(digits: str) -> str | None:
    """The country whose calling code a number in the international form begins with; None: no
    country has it, or the number has too few digits."""
    for length, digits_min in DIGITS_MIN.items():
        country = COUNTRIES.get(digits[:length])
        if country is not None:
            return country if len(digits) >= digits_min else None
    return None
