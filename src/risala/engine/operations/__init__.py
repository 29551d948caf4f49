"""Everything that a person may do: :mod:`risala.engine.operations.table` has all of it by name."""
