"""The operator's console: pages over all organizations, with sessions of their own."""
