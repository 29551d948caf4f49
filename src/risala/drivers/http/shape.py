"""How an API is called and what it says: the tables of a preset, checked.

A preset's file and the overrides in the settings have the same tables; together they are one
:class:`Shape`. Each field's meaning stands below it, and in the driver's reference page.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from risala.drivers.http.sources import Source, pointer_of, source_of
from risala.drivers.http.words import (
    DEFAULT_STATUSES,
    ReceiptVerdict,
    WordVerdict,
    cause_word,
    receipt_verdict_of,
    status_fault,
    verdict_of,
)
from risala.sms.cause import Cause

PATHS: Final = r"^(/[A-Za-z0-9._-]{1,64}){1,8}$"


def _source(written: object) -> Source | None:
    if not isinstance(written, str):
        raise ValueError("must be a text")
    return source_of(written) if written else None


def _pointer(written: object) -> tuple[str, ...] | None:
    if not isinstance(written, str):
        raise ValueError("must be a text")
    if not written:
        return None
    return ("",) if written == "/" else pointer_of(written)


def _table(read: Any, key: Any = None) -> Any:  # noqa: ANN401 -- a validator's shape
    def check(table: object) -> object:
        if not isinstance(table, dict) or not all(isinstance(each, str) for each in table.values()):
            raise ValueError("must be a table of texts")
        kept = {word: each for word, each in table.items() if each}
        if key is not None and (fault := next(filter(None, map(key, kept)), None)):
            raise ValueError(fault)
        return {word.casefold(): _verdict(read, word, each) for word, each in kept.items()}

    return BeforeValidator(check)


def _verdict(read: Any, word: str, written: str) -> object:  # noqa: ANN401 -- a validator's shape
    try:
        return read(written)
    except ValueError as error:
        raise ValueError(f"`{word[:40]}`: {error}") from None


OptionalSource = Annotated[Source | None, BeforeValidator(_source)]
Pointer = Annotated[tuple[str, ...] | None, BeforeValidator(_pointer)]
Verdicts = Annotated[dict[str, WordVerdict], _table(verdict_of)]
Statuses = Annotated[dict[str, WordVerdict], _table(verdict_of, status_fault)]
ReceiptVerdicts = Annotated[dict[str, ReceiptVerdict], _table(receipt_verdict_of)]
Causes = Annotated[dict[str, Cause], _table(cause_word)]
Texts = dict[str, str]
Method = Literal["GET", "POST", "PUT"]


def _path(path: str) -> str:
    if path and (not path.startswith("/") or path.startswith("//")):
        raise ValueError("begins with one `/`")
    return path


Path = Annotated[str, AfterValidator(_path)]


class ShapeTable(BaseModel):
    """The base of all tables."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )


class AuthShape(ShapeTable):
    """How we prove who we are."""

    kind: Literal["none", "basic", "bearer", "header", "query", "oauth2", "login", "hmac"] = "none"
    """`basic`: `user` and `password`; `bearer`: `token`; `header`, `query`: a field of its own;
    `oauth2`: client credentials, which are `user` and `password`; `login`: a token that a request
    with `fields` is answered with; `hmac`: a signature."""
    name: str = ""
    """The header or the query's field, for `header`, `query` and `hmac`."""
    value: str = ""
    """The value of that header or field, with holes; for `hmac` with `{signature}`."""
    path: Path = ""
    """The path at which a token is asked for (`oauth2`, `login`), behind `url`."""
    fields: dict[str, Any] = {}
    """The body of the request for a token, as JSON, with holes (`login`)."""
    token: OptionalSource = None
    """The source of the token in the answer (`login`)."""
    life: OptionalSource = None
    """The source of the seconds that the token lives (`login`); empty: 300 s."""
    client: Literal["basic", "form"] = "basic"
    """Whether the client's id and secret go in a header, or in the form (`oauth2`)."""
    scope: str = ""
    """The scope that is asked for (`oauth2`); empty: none."""
    algorithm: Literal["sha1", "sha256", "sha512"] = "sha256"
    """The hash of `hmac`, whose key is `password`."""
    encoding: Literal["hex", "base64"] = "hex"
    """How the signature of `hmac` is written."""
    parts: tuple[str, ...] = ("body",)
    """What `hmac` signs, one behind the other: `method`, `path` (with its query), `body`, `time`,
    `id`, or `=WORDS`."""


class SendShape(ShapeTable):
    """How a message is sent."""

    method: Method = "POST"
    """`GET` has no body: `fields` are its query then."""
    path: Path = ""
    """Behind `url`, with holes."""
    body: Literal["json", "form", "query"] = "json"
    """What `fields` become."""
    fields: dict[str, Any] = {}
    """The body, with holes. A member with a hole that nothing fills is left out."""
    headers: Texts = {}
    """More headers, with holes."""
    codings: dict[Literal["gsm7", "ucs2"], str] = {}
    """What `{coding}` is for texts of either alphabet."""
    flash: str = ""
    """What `{flash}` is for a flash message, and left out of others. Empty: the API sends none."""
    languages: dict[str, str] = {}
    """What `{language}` is in calls. A code in a language that is missing is spoken in English."""
    alphabet: Literal["any", "gsm7", "ascii"] = "any"
    """Texts that the API takes: `any`; `gsm7`: without Arabic, emojis and the like; `ascii`:
    without accents too. Another text goes to another carrier, or fails with `NOT_ENCODABLE`."""
    parts_max: Annotated[int, Field(ge=0, le=255)] = 0
    """The most SMS that a text may have; 0: any number. A longer text goes to another carrier, or
    fails with `TOO_LONG`."""
    validity_s_max: Annotated[int, Field(ge=60)] = 604_800
    """The longest validity that the API takes, in seconds."""
    once: str = ""
    """The member or header, with `{id}` in it, by which the aggregator knows a request again and
    takes it once, as it documents. An attempt whose answer is lost is then made again, as the same.
    Empty: there is none, and the attempt is uncertain."""
    once_s: Annotated[int, Field(ge=0, le=31_536_000)] = 0
    """How long the aggregator knows it again, in seconds; more than a submit takes."""


class AnswerShape(ShapeTable):
    """What an answer to a message means."""

    id: OptionalSource = None
    """The source of the carrier's id."""
    own_id: bool = False
    """True: the carrier repeats our `{id}` in its receipts, and gives none."""
    no_id: bool = False
    """True: the carrier gives no id, and so no receipts. A yes is all that is ever known."""
    word: OptionalSource = None
    """The source of the carrier's word: a status or an error's code. Of alternatives, the first
    that `words` knows; so in `receipt`."""
    words: Verdicts = {}
    """What words mean, before any status."""
    statuses: Statuses = Field(default=DEFAULT_STATUSES, validate_default=True)
    """What HTTP statuses mean, added to those that all presets share."""
    json_only: bool = True
    """True: a yes is JSON, so that a page of a proxy is none."""
    parts: OptionalSource = None
    """The source of the number of parts that the carrier counts."""
    cost: OptionalSource = None
    """The source of the price, for the timeline."""


class PollShape(ShapeTable):
    """How something is asked for that does not come by itself."""

    path: Path = ""
    """Behind `url`, with holes: `{cursor}` is the last id that was read. Empty: not asked."""
    method: Method = "GET"
    every_s: Annotated[float, Field(ge=1, le=86400)] = 30.0
    """Seconds between two questions."""
    cursor: OptionalSource = None
    """The source of an item's id, for `{cursor}`."""


class HeardShape(ShapeTable):
    """What is common to receipts and texts."""

    path: Annotated[str, Field(pattern=PATHS)]
    """Behind our address for the carrier."""
    each: Pointer = None
    """The pointer to the list of several; `/` is a body that is a list. Without it: one."""
    kind: OptionalSource = None
    """The source of the word that says what is told, if one path tells several things."""
    kinds: tuple[str, ...] = ()
    """What of these is read here."""
    id: OptionalSource = None
    """The source of the carrier's id: of the message, or of the text."""
    to: OptionalSource = None
    """The source of the number that the message or the text was for."""
    plus: bool = False
    """True: numbers come with their country's code and without the `+`."""
    status: Annotated[int, Field(ge=200, le=299)] = 200
    """Our answer's status."""
    body: str = ""
    """Our answer's body."""
    content_type: str = "text/plain"
    """What our answer's body is."""
    poll: PollShape = PollShape()
    """How it is asked for: [below](#receiptpoll). The items are read in the same way."""


class ReceiptShape(HeardShape):
    """How receipts come."""

    path: Annotated[str, Field(pattern=PATHS)] = "/receipt"
    word: OptionalSource = None
    """The source of the carrier's word for the state."""
    words: ReceiptVerdicts = {}
    """What words mean: a state, and maybe a cause. Any other word changes nothing and is shown."""
    code: OptionalSource = None
    """The source of an error's code."""
    codes: Causes = {}
    """The cause of each code."""
    none: tuple[str, ...] = ("0",)
    """Codes that say that nothing is wrong."""


class InboundShape(HeardShape):
    """How texts from phones come."""

    path: Annotated[str, Field(pattern=PATHS)] = "/inbound"
    sender: OptionalSource = None
    """The source of the author's number."""
    text: OptionalSource = None
    """The source of the text."""


class ProofShape(ShapeTable):
    """How the carrier proves that a call is its own."""

    kind: Literal["address", "hmac"] = "address"
    """`address`: a secret in our address (`risala carriers rotate NAME`); `hmac`: a signature."""
    header: str = ""
    """The header that has the signature."""
    prefix: str = ""
    """What stands before the signature; several are separated by spaces."""
    algorithm: Literal["sha1", "sha256", "sha512"] = "sha256"
    encoding: Literal["hex", "base64"] = "hex"
    parts: tuple[str, ...] = ("body",)
    """What is signed, one behind the other: `url` (our whole address, with its query), `body`,
    `sorted_form` (names and values of the form, by name), `header:NAME`, or `=WORDS`."""
    secret: Literal["signing_secret", "password", "token"] = "signing_secret"  # noqa: S105 -- a name
    """Which setting is the key."""
    secret_form: Literal["text", "whsec"] = "text"  # noqa: S105 -- a form
    """`text`: as it is; `whsec`: base64, maybe behind `whsec_`."""
    time: OptionalSource = None
    """The source of the time, in seconds since 1970: then it may be `age_s` from ours."""
    age_s: Annotated[int, Field(ge=1, le=86400)] = 300
    """The most seconds between that time and ours."""


class QueryShape(ShapeTable):
    """How to ask what became of a message."""

    path: Path = ""
    """Behind `url`, with `{carrier_id}`. Empty: it cannot be asked."""
    method: Method = "GET"
    fields: dict[str, Any] = {}
    """The body of a `POST`, as JSON, with holes."""
    id: OptionalSource = None
    """The source of the id in the answer; empty: the id is the one that was asked for."""
    word: OptionalSource = None
    """The source of the word, if not as in `receipt`."""
    code: OptionalSource = None
    """The source of the code, if not as in `receipt`."""


class LookShape(ShapeTable):
    """A call that costs nothing, by which the account is looked at."""

    path: Path = ""
    """Behind `url`. Empty: it is looked only whether a connection can be made."""
    method: Method = "GET"
    fields: dict[str, Any] = {}
    """The body of a `POST`, as JSON, with holes."""
    balance: OptionalSource = None
    """The source of the account's credit, which is shown."""


class Shape(ShapeTable):
    """A whole preset."""

    title: str = ""
    """The aggregator's own name."""
    source: str = ""
    """The documents or sources that the preset follows."""
    read: str = ""
    """The day on which they were read, such as `2026-11-30`."""
    url: str = ""
    """The address of the API; empty: each account has its own."""
    notes: tuple[str, ...] = ()
    """What an operator enters there, and in the settings: sentences in Markdown."""
    needs: tuple[str, ...] = ()
    """Settings that an account must have, beside `preset`."""
    auth: AuthShape = AuthShape()
    send: SendShape = SendShape()
    answer: AnswerShape = AnswerShape()
    receipt: ReceiptShape | None = None
    inbound: InboundShape | None = None
    proof: ProofShape = ProofShape()
    query: QueryShape = QueryShape()
    look: LookShape = LookShape()
