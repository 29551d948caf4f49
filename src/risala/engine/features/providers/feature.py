"""Sign-in by an identity provider: to the console, or by an organization's own."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.people_records import MailKind

_STORED: Final = "features.providers.stored.providers:"
_SERVICE: Final = "features.providers.service:"
FEATURE: Final = Feature(
    name="providers",
    operations=(later("features.providers.operations:OPERATIONS"),),
    images={AuditImage.IDENTITY_PROVIDER: later(_STORED + "provider")},
    exported_settings={"identityProvider": later(_STORED + "find")},
    duties={Duty.PROVIDER_ALONE: later(_STORED + "requires")},
    access=later(_SERVICE + "Providers"),
    letters={MailKind.PROVIDER_CHANGED: later(_SERVICE + "letter")},
    deleted=("provider_domains", "identity_providers", "identities"),
    of_users=("identities",),
    sealed=later(_STORED + "SEALED"),
    tables=("identities", "identity_providers", "provider_domains"),
    dashboard=(elsewhere("http.dashboard.provider:ROUTES"),),
    console=(elsewhere("http.operator.organizations.provider:ROUTES"),),
    commands={"provider": elsewhere("cli.commands.people.provider:provider")},
)
