"""Guards against pumped codes, on seeded days: attacks and honest ones."""
