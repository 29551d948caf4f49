"""Sign-in by OpenID Connect: loaded with the first one."""
