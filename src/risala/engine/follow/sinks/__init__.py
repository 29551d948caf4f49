"""Event sinks: plugins that are given every event."""
