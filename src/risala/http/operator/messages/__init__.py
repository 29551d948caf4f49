"""Messages of all organizations: found by any known detail, and shown one by one."""
