"""Proof that the tests see small changes: mutmut makes them, and a test must fail for each."""
