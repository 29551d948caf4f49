"""``make kills``: the real process is killed, again and again, under a load of every face."""
