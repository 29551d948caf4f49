"""Messages of all organizations: found by what somebody has of one, and looked into."""
