"""Tables that people fill have a named limit, and say so to whoever asks for one more."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.stored import alerts
from risala.engine.features.alerts.stored.alerts import MUTES_MAX, OPEN_MAX
from risala.engine.features.compat import stored as credentials
from risala.engine.features.compat.records import CompatCredential, Proof
from risala.engine.features.compat.stored import CREDENTIALS_MAX
from risala.engine.journal.accounts import keys as stored_keys
from risala.engine.journal.accounts import senders
from risala.engine.journal.accounts.keys import KEYS_MAX
from risala.engine.journal.accounts.senders import SENDERS_MAX
from risala.engine.journal.inbound import inbound
from risala.engine.journal.inbound.inbound import ROUTES_MAX
from risala.engine.journal.people import members, users
from risala.engine.journal.people.members import MEMBERS_MAX, PLACES_MAX
from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.people import Language, Membership, User
from risala.engine.model.records.inbound import InboundRoute
from risala.engine.model.records.keys import ApiKey, KeyType
from risala.engine.model.records.people.members import Invitation
from risala.engine.model.records.senders import Sender
from risala.engine.model.states import Mode
from risala.sms.numbering.plan import DEFAULT


def copies(book, table: str, column: str, number: int) -> None:
    """The one row of a table again and again, each with a ``column`` of its own."""
    cursor = book.conn.execute(f"SELECT * FROM {table} LIMIT 1")
    names = [each[0] for each in cursor.description]
    row = dict(zip(names, cursor.fetchone(), strict=True))
    row.pop("seq", None)
    own = [each for each in (column, "id") if each in row]
    rows = [row | {each: f"{each}-{n}" for each in own} for n in range(number)]
    holes = ", ".join(f":{name}" for name in row)
    sql = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({holes})"
    book.conn.executemany(sql, rows)


def test_credentials_of_an_organization(book):
    organization = book.organization()
    one = CompatCredential(
        *("crd_1", organization, "kannel", "first", Mode.LIVE, None, None, False, "last", None),
        *(book.now_ms, "usr_1", None, None),
    )
    proof = Proof(b"hash", None, None)
    book.unit(partial(credentials.add, credential=one, proof=proof))
    for n in range(2, CREDENTIALS_MAX + 1):
        another = replace(one, id=f"crd_{n}", username=f"name-{n}")
        book.unit(partial(credentials.add, credential=another, proof=proof))
    last = replace(one, id="crd_0", username="one more")
    with pytest.raises(Conflict, match=f"at most {CREDENTIALS_MAX} credentials"):
        book.unit(partial(credentials.add, credential=last, proof=proof))
    # Those of others do not count.
    theirs = replace(last, organization_id=book.organization())
    book.unit(partial(credentials.add, credential=theirs, proof=proof))


def test_keys_of_an_organization(book):
    organization = book.organization()
    moments = (book.now_ms, None, None, None)
    one = ApiKey("key_1", organization, KeyType.SECRET, Mode.LIVE, None, "last", True, *moments)
    for n in range(1, KEYS_MAX + 1):
        each = replace(one, id=f"key_{n}")
        book.unit(partial(stored_keys.add_key, key=each, digest=each.id.encode()))
    another = replace(one, id="key_0")
    with pytest.raises(Conflict, match=f"at most {KEYS_MAX} keys"):
        book.unit(partial(stored_keys.add_key, key=another, digest=b"2"))
    theirs = replace(another, organization_id=book.organization())
    book.unit(partial(stored_keys.add_key, key=theirs, digest=b"2"))


def test_senders_of_an_organization(book):
    moments = (book.now_ms, book.now_ms)
    given = (book.organization(), "Shop", "pending", False, None, "a shop", None)
    one = Sender("snd_1", *given, *moments)
    book.unit(partial(senders.add, new=one))
    copies(book, "senders", "folded", SENDERS_MAX - 1)
    with pytest.raises(Conflict, match=f"at most {SENDERS_MAX} senders"):
        book.unit(partial(senders.add, new=replace(one, id="snd_2", name="Other")))
    # One that was denied may be asked for again: it takes no new place.
    book.conn.execute("UPDATE senders SET status = 'denied' WHERE id = 'snd_1'")
    book.unit(partial(senders.add, new=replace(one, id="snd_3")))


def test_routes_of_what_comes_in(book):
    route = InboundRoute("inr_1", book.organization(), "+2223", None, book.now_ms)
    book.unit(partial(inbound.add_route, new=route, ways=DEFAULT.ways_to_write("+2223")))
    copies(book, "inbound_routes", "recipient", ROUTES_MAX - 1)
    other, ways = replace(route, number="+2224", id="inr_2"), DEFAULT.ways_to_write("+2224")
    with pytest.raises(Conflict, match=f"at most {ROUTES_MAX} routes"):
        book.unit(partial(inbound.add_route, new=other, ways=ways))


def test_alerts_at_a_time(book):
    kind = AlertKind.CARRIER_DOWN
    raised = partial(alerts.raise_one, kind=kind, facts={}, now_ms=book.now_ms)
    first = book.unit(partial(raised, subject="mattel"))
    copies(book, "alerts", "subject", OPEN_MAX - 1)
    assert alerts.open_count(book.conn) == OPEN_MAX
    assert book.unit(partial(raised, subject="chinguitel")) is None
    book.unit(lambda conn: alerts.end(conn, first.seq, {}, book.now_ms))
    assert book.unit(partial(raised, subject="chinguitel")) is not None


def test_mutes_at_a_time(book):
    mute = partial(alerts.mute, kind=AlertKind.CARRIER_DOWN, by="op", now_ms=book.now_ms)
    until = book.now_ms + 1000
    book.unit(partial(mute, subject="mattel", until=until))
    copies(book, "alert_mutes", "subject", MUTES_MAX - 1)
    with pytest.raises(Conflict, match=f"at most {MUTES_MAX} mutes"):
        book.unit(partial(mute, subject="chinguitel", until=until))
    book.unit(partial(mute, subject="mattel", until=until + 1))  # in the place of the earlier one


@pytest.fixture
def settle_in(book):
    """``settle_in(organization, "name")``: a user who is a member of it; the user's id."""

    def one(organization: str, name: str) -> str:
        user_id = f"usr_{name}"
        if users.find(book.conn, user_id) is None:
            moments = (book.now_ms, book.now_ms, None)
            new = User(user_id, f"{name}@example.com", "", Language.FRENCH, False, *moments)
            book.unit(partial(users.add, new=new))
        place = Membership(organization, user_id, Role.VIEWER, book.now_ms, book.now_ms)
        book.unit(partial(members.add, new=place))
        return user_id

    return one


def test_members_and_invitations_of_an_organization(book, settle_in):
    organization = book.organization()
    for number in range(MEMBERS_MAX):
        settle_in(organization, f"m{number}")
    with pytest.raises(Conflict, match=f"at most {MEMBERS_MAX} members"):
        settle_in(organization, "one-more")
    invitation = Invitation(
        *("inv_1", organization, "Baraka", "omar@example.com", Role.VIEWER, "usr_m0"),
        *(book.now_ms, book.now_ms + 1000),
    )
    with pytest.raises(Conflict, match=f"at most {MEMBERS_MAX} members and invitations"):
        book.unit(partial(members.invite, new=invitation))


def test_organizations_of_a_user(book, settle_in):
    for _ in range(PLACES_MAX):
        user_id = settle_in(book.organization(0), "fatima")
    with pytest.raises(Conflict, match=f"at most {PLACES_MAX} organizations"):
        settle_in(book.organization(0), "fatima")
    assert len(members.of_user(book.conn, user_id)) == PLACES_MAX


def test_an_address_is_one_user_s(book, settle_in):
    organization = book.organization()
    fatima, _ = settle_in(organization, "fatima"), settle_in(organization, "omar")
    taken = {"email": "omar@example.com"}
    with pytest.raises(Conflict, match=r"There is already a user omar@example\.com"):
        book.unit(lambda conn: users.change(conn, fatima, taken, book.now_ms))
    with pytest.raises(NotFound, match="There is no user"):
        book.unit(lambda conn: users.change(conn, "usr_nobody", taken, book.now_ms))
