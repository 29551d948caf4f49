"""The chain of the audit trail's lines, and the signed heads that go out. Pure."""
