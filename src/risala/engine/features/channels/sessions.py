"""The part of channels in verification sessions: how the first code leaves, and what is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from risala.config.channels import SMS, ChannelTable
from risala.engine.actors.alarm import Bell
from risala.engine.features.channels.records import NAME, ChannelUse
from risala.engine.features.channels.rules import PATH, chosen, following, is_address, offered
from risala.engine.features.channels.stored import ChannelRepository, ChannelSession
from risala.engine.model.errors import Invalid
from risala.engine.model.money import minor_units
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import CodeRoute
from risala.engine.model.times import iso
from risala.engine.rules.router import channel_route
from risala.engine.rules.verification import VerificationRow
from risala.engine.verify.session_features import CodeCheck, Opening, SessionSources
from risala.plugins.channel_driver import code_text


class ChannelSessions:
    """A :class:`risala.engine.verify.session_features.SessionFeature`."""

    def __init__(self, sources: SessionSources) -> None:
        self.tables = sources.settings.channels.by_name
        """The channels of the service, with the prices of this moment."""
        self.bell = Bell()
        """Rung when a session is opened that may have a next delivery."""
        self._stored = sources.repositories.part(ChannelRepository)

    async def open(self, opening: Opening) -> Opening:
        named: Sequence[str] | None = opening.command.beside.get(PATH)
        use = self._stored.use_of(opening.organization_id)
        channels = self._channels(use, opening, named)
        if opening.is_fixed or (channels == (SMS,) and named is None):
            return opening  # as if there were no channels
        first = channels[0]
        session = self._session(opening, use, channels)
        store = self._stored.beginning(session, first, opening.now_ms)
        self.bell.ring()  # its row is there before the next look: that is seconds later
        own = opening.text if opening.words else ""
        return replace(
            opening,
            text=opening.text if first == SMS else code_text(opening.command.locale, own),
            leaves=None if first == SMS else leaves_by(self.tables, first),
            features=(*opening.features, NAME),
            stores=(*opening.stores, store),
        )

    def _channels(
        self, use: ChannelUse, opening: Opening, named: Sequence[str] | None
    ) -> tuple[str, ...]:
        to = opening.command.to
        if is_address(to) and not (use.addresses and opening.key_type is KeyType.SECRET):
            text = (
                "Codes to e-mail addresses need a secret key, and `risala verify channels"
                " --addresses` or the box in Verify > Channels."
            )
            raise Invalid("to", "no_address", text)
        there = offered(self.tables, to)
        if opening.words:  # a payment or variables, which most channels' own texts have not
            there = [each for each in there if each == SMS or self.tables[each].carries_texts]
        return chosen(use, opening.key_type, named, there)

    def _session(
        self, opening: Opening, use: ChannelUse, channels: tuple[str, ...]
    ) -> ChannelSession:
        fallback_ms = use.fallback_s * 1000
        comes = following(channels, channels[:1])
        return ChannelSession(
            verification_id=opening.id,
            organization_id=opening.organization_id,
            channels=",".join(channels),
            key_type=opening.key_type.value,
            locale=opening.command.locale,
            text=opening.text,
            fallback_ms=fallback_ms,
            deliveries=1,
            message_id=None,
            next_at=None if comes is None else opening.now_ms + fallback_ms,
        )

    def code(self, session: VerificationRow) -> str | None:
        return None

    def words(self, session: VerificationRow) -> Mapping[str, str]:
        return {}

    def judge(self, session: VerificationRow, check: CodeCheck) -> bool | None:
        return None

    def details(self, session: VerificationRow) -> Mapping[str, Any]:
        there = self._stored.deliveries_of(session.id)
        if not there:
            return {}
        return {
            "channel": there[-1].channel,
            "deliveries": [
                {"channel": each.channel, "status": each.status, "at": iso(each.at)}
                for each in there
            ],
        }


def leaves_by(tables: Mapping[str, ChannelTable], channel: str) -> CodeRoute:
    """The route and the price of a code by a channel."""
    return CodeRoute(channel_route(channel), minor_units(tables[channel].price))
