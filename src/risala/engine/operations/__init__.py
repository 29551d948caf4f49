"""What people do with the core's things. :mod:`risala.engine.gateway.table` has all of it."""
