"""Commands of the message service (27.005 §3, §4)."""

from __future__ import annotations

from typing import Final

from risala.drivers.modem.tpdu.pdu import (
    Deliver,
    Direction,
    PduError,
    Submit,
    TpAddress,
    from_hex,
    to_hex,
)
from risala.lab.modem.at import textmode
from risala.lab.modem.at.replies import BodyPrompt, Cms, CmsError, LaterReply, Reply, Rows
from risala.lab.modem.at.syntax import CommandArguments, NumberSetting
from risala.lab.modem.commands.radio import CommandForms, accepted, says
from risala.lab.modem.modem_state import ModemCore
from risala.lab.modem.world.config import ReferenceForm
from risala.lab.modem.world.storage import ALL, REPORTS, SimulatedStorage, Stat, StoredTpdu

SETTINGS: Final = (
    NumberSetting("+CMGF", ("0,1",), (0,)),
    NumberSetting("+CSDH", ("0,1",), (0,)),
    NumberSetting("+CSMS", ("0,1",), (0,)),
    NumberSetting("+CMMS", ("0-2",), (0,)),
    NumberSetting("+CGSMS", ("0-3",), (1,)),
)
_TPDU_OCTETS_MAX: Final = 200
"""The longest TPDU that +CMGS may announce, longer than any real one. The announced length is
checked before the PDU is typed."""
_WORDS: Final = {**{stat.word: int(stat) for stat in Stat}, "ALL": ALL}
_RECEIVED: Final = frozenset((Stat.REC_UNREAD, Stat.REC_READ))
_DELETE: Final = {
    1: frozenset((Stat.REC_READ,)),
    2: frozenset((Stat.REC_READ, Stat.STO_SENT)),
    3: frozenset((Stat.REC_READ, Stat.STO_SENT, Stat.STO_UNSENT)),
    4: frozenset(Stat),
}
"""``<delflag>`` of +CMGD (27.005 §3.5.4)."""


def is_text_mode(modem: ModemCore) -> bool:
    return modem.settings["+CMGF"][0] == 1


def _invalid(modem: ModemCore) -> CmsError:
    text = is_text_mode(modem)
    return CmsError(Cms.INVALID_TEXT_PARAMETER if text else Cms.INVALID_PDU_PARAMETER)


def _small(modem: ModemCore, text: str, low: int, high: int) -> int:
    if not text.isascii() or not text.isdigit() or not low <= int(text[:9]) <= high:
        raise _invalid(modem)
    return int(text[:9])


# -- settings --------------------------------------------------------------------------------------


def _service(modem: ModemCore, arguments: CommandArguments) -> Rows:
    arguments.number(0, None, (0, 1))
    [setting] = [each for each in SETTINGS if each.name == "+CSMS"]
    modem.settings.set(setting, arguments)
    return ("+CSMS: 1,1,1",)


def _charset(modem: ModemCore, arguments: CommandArguments) -> Rows:
    name = arguments.text(0).upper()
    if name not in modem.profile.alphabets:
        raise _invalid(modem)
    modem.charset = name
    return ()


def _charsets(modem: ModemCore) -> Rows:
    names = ",".join(f'"{name}"' for name in modem.profile.alphabets)
    return (f"+CSCS: ({names})",)


def _parameters(modem: ModemCore, arguments: CommandArguments) -> Rows:
    old = modem.parameters
    fo, pid, dcs = (
        _small(modem, arguments.text(at, str(default)), 0, 255)
        for at, default in ((0, old.fo), (2, old.pid), (3, old.dcs))
    )
    modem.parameters = textmode.Parameters(fo, arguments.text(1, old.vp), pid, dcs)
    return ()


def _parameters_read(modem: ModemCore) -> Rows:
    how = modem.parameters
    vp = how.vp if how.vp.isdigit() else f'"{how.vp}"'
    return (f"+CSMP: {how.fo},{vp},{how.pid},{how.dcs}",)


def _center(modem: ModemCore, arguments: CommandArguments) -> Rows:
    number = textmode.read_number(arguments.text(0), modem.charset)
    if not number.removeprefix("+").isdigit() or len(number) > 21:
        raise _invalid(modem)
    international = number.startswith("+") or arguments.text(1) == "145"
    modem.smsc_number = f"+{number.removeprefix('+')}" if international else number
    return ()


def _center_read(modem: ModemCore) -> Rows:
    number = modem.smsc_number
    return (f'+CSCA: "{modem.written(number)}",{145 if number.startswith("+") else 129}',)


def _usage(modem: ModemCore, *, named: bool) -> str:
    pieces = []
    for name in modem.memories:
        store = modem.stores[name]
        pieces.append(f'"{name}",{store.used},{store.places}' if named else _counts(store))
    return f"+CPMS: {','.join(pieces)}"


def _counts(store: SimulatedStorage) -> str:
    return f"{store.used},{store.places}"


def _memories_offered(modem: ModemCore) -> Rows:
    read = ",".join(f'"{name}"' for name in modem.stores)
    write = ",".join(f'"{name}"' for name in modem.stores if name != REPORTS)
    return (f"+CPMS: ({read}),({write}),({write})",)


def _choose_memories(modem: ModemCore, arguments: CommandArguments) -> Rows:
    chosen = list(modem.memories)
    for at, name in enumerate(arguments[:3]):
        if not name:
            continue
        if name not in modem.stores or (at > 0 and name == REPORTS):
            raise CmsError(Cms.OPERATION_NOT_SUPPORTED)
        chosen[at] = name
    modem.memories = (chosen[0], chosen[1], chosen[2])
    modem.after_answer(modem.network.flush)
    return (_usage(modem, named=False),)


def _acknowledge(modem: ModemCore, arguments: CommandArguments) -> Reply:
    kind = _small(modem, arguments.text(0, "0"), 0, 2)
    if arguments.text(1):
        _small(modem, arguments.text(1), 1, _TPDU_OCTETS_MAX)
        return BodyPrompt(lambda _: modem.incoming.acknowledge(good=kind != 2), is_text=False)
    return modem.incoming.acknowledge(good=kind != 2)


# -- reading ---------------------------------------------------------------------------------------


def _list(modem: ModemCore, arguments: CommandArguments) -> Rows:
    if is_text_mode(modem):
        stat = _WORDS.get(arguments.text(0, Stat.REC_UNREAD.word).upper())
        if stat is None:
            raise _invalid(modem)
    else:
        stat = _small(modem, arguments.text(0, "0"), 0, ALL)
    rows = []
    for index, stored in modem.stores[modem.memories[0]].list(stat):
        if is_text_mode(modem):
            rows.append(modem.writer.listed(index, stored))
        else:
            pdu, octets = to_hex(stored.tpdu, modem.smsc)
            rows.append(f"+CMGL: {index},{stored.stat:d},,{octets}\r\n{pdu}")
        if arguments.text(1) != "1":  # SIMCom: list without a change
            _is_read(stored)
    return rows


def _is_read(stored: StoredTpdu) -> None:
    if stored.stat is Stat.REC_UNREAD:
        stored.stat = Stat.REC_READ


def _index(modem: ModemCore, arguments: CommandArguments, store: SimulatedStorage) -> int:
    text = arguments.text(0)
    if not text.isascii() or not text.isdigit() or int(text[:9]) not in store.indexes:
        raise CmsError(Cms.INVALID_INDEX)
    return int(text)


def _show(modem: ModemCore, arguments: CommandArguments) -> Rows:
    store = modem.stores[modem.memories[0]]
    stored = store.get(_index(modem, arguments, store))
    if stored is None:
        match modem.profile.empty_place:
            case "ok":
                return ()
            case "zero":
                return ("+CMGR: 0,,0",)
            case _:
                raise CmsError(Cms.INVALID_INDEX)
    if is_text_mode(modem):
        row = modem.writer.shown(stored)
    else:
        pdu, octets = to_hex(stored.tpdu, modem.smsc)
        row = f"+CMGR: {stored.stat:d},,{octets}\r\n{pdu}"
    if arguments.text(1) != "1":
        _is_read(stored)
    return (row,)


def _delete(modem: ModemCore, arguments: CommandArguments) -> Rows:
    store = modem.stores[modem.memories[0]]
    flag = _small(modem, arguments.text(1, "0"), 0, 4)
    if flag:
        store.remove_all(_DELETE[flag])
    else:
        store.remove(_index(modem, arguments, store))
    modem.after_answer(modem.network.flush)
    return ()


def _delete_test(modem: ModemCore) -> Rows:
    used = ",".join(str(index) for index, _ in modem.stores[modem.memories[0]].list(ALL))
    return (f"+CMGD: ({used}),(0-4)",)


# -- sending and writing ---------------------------------------------------------------------------


def _typed_submit(modem: ModemCore, arguments: CommandArguments, body: bytes) -> Submit:
    """The SUBMIT of a body that was typed in text mode."""
    kind = int(arguments[1]) if len(arguments) > 1 and arguments[1].isdigit() else None
    return textmode.submit_of(arguments.text(0), kind, body, modem.parameters, modem.charset)


def _pdu_of(
    modem: ModemCore, body: bytes, octets: int, direction: Direction
) -> tuple[TpAddress | None, Submit | Deliver]:
    try:
        text = body.decode("ascii")
        smsc, tpdu = from_hex(text, direction)
        # The length of the TPDU alone, without the service centre (27.005 §4.3).
        if len(text) // 2 - 1 - int(text[:2], 16) != octets:
            raise PduError("the length is another")
    except (PduError, UnicodeDecodeError):
        raise CmsError(Cms.INVALID_PDU_PARAMETER) from None
    if not isinstance(tpdu, (Submit, Deliver)):
        raise CmsError(Cms.INVALID_PDU_PARAMETER)
    return smsc, tpdu


def _send(modem: ModemCore, arguments: CommandArguments) -> BodyPrompt:
    if is_text_mode(modem):
        if not arguments.text(0):
            raise _invalid(modem)
        return BodyPrompt(
            lambda body: send(modem, _typed_submit(modem, arguments, body), None), is_text=True
        )
    octets = _small(modem, arguments.text(0), 1, _TPDU_OCTETS_MAX)

    def typed(body: bytes) -> Rows | LaterReply:
        smsc, tpdu = _pdu_of(modem, body, octets, Direction.TO_NETWORK)
        assert isinstance(tpdu, Submit)
        return send(modem, tpdu, smsc)

    return BodyPrompt(typed, is_text=False)


def _keep(modem: ModemCore, tpdu: Submit | Deliver, stat: Stat) -> Rows:
    index = modem.stores[modem.memories[1]].add(tpdu, stat)
    if index is None:
        raise CmsError(Cms.MEMORY_FULL)
    return (f"+CMGW: {index}",)


def _write(modem: ModemCore, arguments: CommandArguments) -> BodyPrompt:
    if is_text_mode(modem):
        word = arguments.text(2, Stat.STO_UNSENT.word).upper()
        if word not in (Stat.STO_UNSENT.word, Stat.STO_SENT.word):
            raise CmsError(Cms.OPERATION_NOT_SUPPORTED)
        stat = Stat(_WORDS[word])
        return BodyPrompt(
            lambda body: _keep(modem, _typed_submit(modem, arguments, body), stat), is_text=True
        )
    octets = _small(modem, arguments.text(0), 1, _TPDU_OCTETS_MAX)
    stat = Stat(_small(modem, arguments.text(1, "2"), 0, 3))
    direction = Direction.TO_PHONE if stat in _RECEIVED else Direction.TO_NETWORK
    return BodyPrompt(
        lambda body: _keep(modem, _pdu_of(modem, body, octets, direction)[1], stat), is_text=False
    )


def _send_stored(modem: ModemCore, arguments: CommandArguments) -> Reply:
    store = modem.stores[modem.memories[1]]
    stored = store.get(_index(modem, arguments, store))
    if stored is None or not isinstance(stored.tpdu, Submit):
        raise CmsError(Cms.INVALID_INDEX)
    submit = stored.tpdu
    if number := arguments.text(1):
        number = textmode.read_number(number, modem.charset)
        submit = Submit(
            TpAddress.of_number(number),
            submit.user_data,
            validity=submit.validity,
            validity_format=submit.validity_format,
            status_report=submit.status_report,
            pid=submit.pid,
        )
    answer = send(modem, submit, None, name="+CMSS")
    stored.stat = Stat.STO_SENT
    return answer


def _no_commands(modem: ModemCore, _: CommandArguments) -> BodyPrompt:
    """+CMGC: the body is taken, but this network does not support SMS-COMMANDs."""

    def typed(_: bytes) -> Rows:
        raise CmsError(Cms.OPERATION_NOT_SUPPORTED)

    return BodyPrompt(typed, is_text=is_text_mode(modem))


COMMANDS: Final = {
    "+CSMS": CommandForms(
        read=lambda modem: (f"+CSMS: {modem.settings['+CSMS'][0]},1,1,1",),
        test=says("+CSMS: (0,1)"),
        set=_service,
    ),
    "+CSCS": CommandForms(
        read=lambda modem: (f'+CSCS: "{modem.charset}"',),
        test=_charsets,
        set=_charset,
    ),
    "+CSMP": CommandForms(read=_parameters_read, set=_parameters),
    "+CSCA": CommandForms(read=_center_read, set=_center),
    "+CSCB": CommandForms(read=says('+CSCB: 0,"",""'), test=says("+CSCB: (0,1)"), set=accepted),
    "+CSAS": CommandForms(execute=accepted, set=accepted, test=says("+CSAS: (0)")),
    "+CRES": CommandForms(execute=accepted, set=accepted, test=says("+CRES: (0)")),
    "+CPMS": CommandForms(
        read=lambda modem: (_usage(modem, named=True),),
        test=_memories_offered,
        set=_choose_memories,
    ),
    "+CNMI": CommandForms(
        read=lambda modem: (f"+CNMI: {modem.settings.text('+CNMI')}",),
        test=lambda modem: (f"+CNMI: {','.join(f'({x})' for x in modem.cnmi.allowed)}",),
        set=lambda modem, arguments: modem.incoming.set_routing(arguments),
    ),
    "+CNMA": CommandForms(set=_acknowledge, test=says("+CNMA: (0-2)")),
    "+CMGL": CommandForms(
        set=_list,
        test=lambda modem: (
            '+CMGL: ("REC UNREAD","REC READ","STO UNSENT","STO SENT","ALL")'
            if is_text_mode(modem)
            else "+CMGL: (0-4)",
        ),
    ),
    "+CMGR": CommandForms(set=_show),
    "+CMGD": CommandForms(set=_delete, test=_delete_test),
    "+CMGS": CommandForms(set=_send),
    "+CMGW": CommandForms(set=_write),
    "+CMSS": CommandForms(set=_send_stored),
    "+CMGC": CommandForms(set=_no_commands),
}


# A segment on its way from the modem to the network.


def send(
    modem: ModemCore, submit: Submit, smsc: TpAddress | None, *, name: str = "+CMGS"
) -> Rows | LaterReply:
    """Send a segment to the network; the answer to ``name``, perhaps after a while.

    Raises:
        CmsError: the network refuses it, or takes it and answers with an error all the same.
    """
    config, network = modem.config, modem.network
    if not modem.is_registered:
        raise CmsError(Cms.NO_NETWORK_SERVICE)
    if smsc is None and not modem.smsc_number:
        raise CmsError(Cms.SMSC_UNKNOWN)
    if config.full_blocks_sending and any(store.is_full for store in modem.stores.values()):
        raise CmsError(Cms.MEMORY_FULL)
    reference = network.next_reference()
    refusal = modem.mood.refusal()
    if refusal is not None and not refusal.taken:
        network.refused(submit, reference, refusal.error)
        raise CmsError(refusal.error)
    reports = modem.mood.reports(network.plan(submit))
    network.submit(submit, reference, reports, refusal.error if refusal else None)
    if refusal is not None:
        raise CmsError(refusal.error)
    answer = f"{name}: {_as_written(config.reference_form, reference)}"
    if config.answer_after_s:
        return LaterReply(config.answer_after_s, lambda: (answer,))
    return (answer,)


def _as_written(form: ReferenceForm, reference: int) -> int:
    match form:
        case ReferenceForm.ZERO:
            return 0
        case ReferenceForm.MINUS:
            return -1
        case ReferenceForm.WRONG:
            return (reference + 100) % 256
        case _:
            return reference
