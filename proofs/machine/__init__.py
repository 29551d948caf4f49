"""``make machine-test``: the Debian package, and the first message, on real machines.

Each machine is a Debian in qemu with its own kernel, systemd and disk. ``image`` makes the disk,
``guest`` starts a machine and talks to it, ``packages`` builds the packages there, ``steps`` and
``later`` try them, ``clock`` measures the way to the first message.
"""
