"""``make life``: a service that is stopped, frozen, told to read its settings anew, started with a
long queue, and left alone under load for an hour."""
