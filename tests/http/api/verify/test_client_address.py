"""Whose address it is: the socket's, and what a trusted proxy may say about it."""

from ipaddress import ip_address

import pytest
from pydantic import ValidationError

from risala.config.model import HttpSection
from risala.http.common.client_address import ClientAddresses, bucket_of, parse_address

PROXIES = ("10.0.0.0/24", "192.0.2.10", "2001:db8:ffff::/48")


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        # Nobody that we trust: the header is the client's own invention.
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
        ("203.0.113.9", ["198.51.100.1, 10.0.0.1"], "203.0.113.9"),
        ("2001:db8::9", ["198.51.100.1"], "2001:db8::9"),
        # A trusted peer.
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.255", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.1.0", ["198.51.100.1"], "10.0.1.0"),
        ("192.0.2.10", ["198.51.100.1"], "198.51.100.1"),
        ("192.0.2.11", ["198.51.100.1"], "192.0.2.11"),
        ("2001:db8:ffff::1", ["2001:db8:1::1"], "2001:db8:1::1"),
        # The rightmost that is not itself trusted, whatever stands left of it.
        ("10.0.0.1", ["1.1.1.1, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1, 198.51.100.1, 10.0.0.2"], "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1", "198.51.100.1", "10.0.0.2,192.0.2.10"], "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1,198.51.100.1 ,\t10.0.0.2 "], "198.51.100.1"),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        # What cannot be read ends the search: left of it stands what anybody may have written.
        ("10.0.0.1", ["198.51.100.1, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1, unknown, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["unknown, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1,"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1;203.0.113.1"], "10.0.0.1"),
        ("10.0.0.1", ["<script>"], "10.0.0.1"),
        # Ports, brackets, clothes.
        ("10.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("10.0.0.1", ["[2001:db8::7]:4711"], "2001:db8::7"),
        ("10.0.0.1", ["[2001:db8::7]"], "2001:db8::7"),
        ("::ffff:10.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("::ffff:203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
        # A unix socket has no address; who may reach it is a matter of its file's mode.
        (None, ["198.51.100.1"], "198.51.100.1"),
        (None, ["1.1.1.1, 198.51.100.1, 10.0.0.1"], "198.51.100.1"),
        (None, [], None),
        (None, ["unknown"], None),
    ],
)
def test_the_clients_address(peer, forwarded, client):
    found = ClientAddresses(PROXIES).of(peer, forwarded)
    assert found == (None if client is None else ip_address(client))


def test_without_proxies_nothing_forwarded_counts():
    assert ClientAddresses(()).of("127.0.0.1", ["1.1.1.1"]) == ip_address("127.0.0.1")


def test_networks_in_ipv6_clothes_and_with_host_bits():
    for text in ("::ffff:10.0.0.0/120", "10.0.0.77/24"):
        assert ClientAddresses([text]).of("10.0.0.1", ["1.1.1.1"]) == ip_address("1.1.1.1")
        assert ClientAddresses([text]).of("10.0.1.1", ["1.1.1.1"]) == ip_address("10.0.1.1")


@pytest.mark.parametrize(
    "text",
    ["", " ", "unknown", "_hidden", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4:",
     "1.2.3.4:x", "1.2.3.4:٣", "1.2.3.4:123456", "[::1", "[::1]x", "[::1]:", ":::", "١.٢.٣.٤",
     "[1.2.3.4]:80:80", "1.2.3.4/32", "::1/128", "x" * 10_000],
)  # fmt: skip
def test_what_is_no_address(text):
    assert parse_address(text) is None


def test_a_long_header_is_read_from_its_end():
    forwarded = ["1.1.1.1," * 100_000 + "198.51.100.1"]
    assert ClientAddresses(PROXIES).of("10.0.0.1", forwarded) == ip_address("198.51.100.1")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("fe80::1%eth0", "fe80::1%eth1", True),
        ("0.0.0.1", "::1:0:0:0:0", False),
    ],
)
def test_who_shares_a_limit(one, other, same):
    first, second = (bucket_of(parse_address(text)) for text in (one, other))
    assert (first == second) is same
    assert first != bucket_of(None)


@pytest.mark.parametrize("text", ["10.0.0.1", "10.0.0.0/8", "10.0.0.1/8", "::1", "2001:db8::/32"])
def test_a_proxy_is_an_address_or_a_network(text):
    assert HttpSection(trusted_proxies=[text]).trusted_proxies == (text,)


@pytest.mark.parametrize("text", ["", "proxy.example", "10.0.0.1:80", "10.0.0.0/33", "*"])
def test_anything_else_is_a_fault_of_the_settings(text):
    with pytest.raises(ValidationError, match="no address or network"):
        HttpSection(trusted_proxies=[text])
