"""Carriers and modems, seen and led by an operator."""
