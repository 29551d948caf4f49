"""Whether channels have a part in an organization's sessions; read for each code that is sent."""

from __future__ import annotations

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
