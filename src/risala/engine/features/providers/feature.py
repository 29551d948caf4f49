"""Sign-in by an organization's own identity provider."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="providers",
    operations=(later("operations.people.providers:OPERATIONS"),),
    images={AuditImage.IDENTITY_PROVIDER: later("journal.people.providers:provider")},
    exported_settings={"identityProvider": later("journal.people.providers:find")},
    deleted=("provider_domains", "identity_providers", "identities"),
    tables=("identities", "identity_providers", "provider_domains"),
)
