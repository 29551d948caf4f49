"""Tables of people, as they are uploaded."""

from __future__ import annotations


def number(row: int) -> str:
    return f"+2223{row:07d}"


def table(count: int, first: int = 1) -> bytes:
    """A file of so many people."""
    people = (f"Name {n};{number(n)}\n" for n in range(first, first + count))
    return f"name;phone\n{''.join(people)}".encode()
