"""Event sinks as plugins like any other."""
