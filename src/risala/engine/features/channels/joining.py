"""Whether channels have a part in an organization's sessions, read for each code that is sent; and
their prices, where the settings are read again."""

from __future__ import annotations

from risala.config.model import Settings
from risala.engine.services import Services
from risala.engine.verify.session_features import SessionSources


def is_joined(sources: SessionSources, organization_id: str) -> bool:
    """True where the service has channels, and the organization opened one."""
    if not sources.settings.channels.by_name:
        return False
    # Imported here: a service without channels does without the rest.
    from risala.config.channels import SMS
    from risala.engine.features.channels.stored import ChannelRepository

    use = sources.repositories.part(ChannelRepository).use_of(organization_id)
    return use.channels != (SMS,)


def retune(services: Services, settings: Settings) -> None:
    """Apply prices that were changed while it runs, to each code from now on."""
    if not settings.channels.by_name:
        return
    # Imported here: as above.
    from risala.engine.features.channels.records import NAME
    from risala.engine.features.channels.sessions import ChannelSessions

    part = services.session_features.part(NAME)
    assert isinstance(part, ChannelSessions)
    part.tables.update(settings.channels.by_name)
