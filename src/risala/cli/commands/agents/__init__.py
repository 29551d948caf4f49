"""What a person starts for an agent: `risala mcp`."""
