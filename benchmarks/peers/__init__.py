"""Programs that one could take instead, under the same load; each says what its yes is worth."""
