"""Three simulated phones with bad days, over real HTTP, at a service that is killed again and
again: what left the phones is held against its books."""
