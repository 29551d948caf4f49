"""Event sinks: plugins that get every event."""
