"""Where a webhook may go: hostile URLs and addresses as a table."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest

from cases import sweep
from risala.engine.rules.webhooks.url import AddressRules, UrlRefused, address_fault, parse_target

STRICT = AddressRules()
LOOSE = AddressRules(allow_insecure=True)

HOSTILE_ADDRESSES = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200",
    "100.127.255.255", "127.0.0.1", "127.8.8.8", "169.254.0.1", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.0.192", "192.0.2.1", "192.88.99.1",
    "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
    "240.0.0.1", "255.255.255.255", "168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::a83f:8110",
    "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "100::1",
    "2001::1", "2001:0:7f00:1::", "2001:10::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1",
    "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fd20:ce::254", "fd12:3456::1", "fe80::1",
    "fe80::1%eth0",
    "fec0::1", "ff02::1", "2a00:1450::5efe:7f00:1", "2a00:1450::200:5efe:a00:1", "4000::1",
]  # fmt: skip


@sweep("text", HOSTILE_ADDRESSES)
def test_no_such_address_is_called(text):
    assert address_fault(ip_address(text), STRICT)


@sweep(
    "text",
    ["1.1.1.1", "41.223.100.10", "2a00:1450:4006::200e", "64:ff9b::101:101", "::ffff:1.1.1.1",
     "2606:4700:4700::1111"],
)  # fmt: skip
def test_the_internet_is_called(text):
    assert address_fault(ip_address(text), STRICT) is None


@sweep("text", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_only_when_insecure(text):
    assert address_fault(ip_address(text), STRICT)
    assert address_fault(ip_address(text), LOOSE) is None


@sweep("text", ["10.0.0.1", "169.254.169.254", "0.0.0.0", "fe80::1", "::"])
def test_insecure_is_no_way_into_other_networks(text):
    assert address_fault(ip_address(text), LOOSE)


def test_networks_may_be_opened_but_never_the_metadata():
    rules = AddressRules(networks=(ip_network("10.1.0.0/16"), ip_network("0.0.0.0/0")))
    assert address_fault(ip_address("10.1.2.3"), rules) is None
    assert address_fault(ip_address("::ffff:10.1.2.3"), rules) is None
    assert address_fault(ip_address("169.254.169.254"), rules)
    assert address_fault(ip_address("100.100.100.200"), rules)
    assert address_fault(ip_address("168.63.129.16"), rules)


HOSTILE_URLS = [
    "", " ", "example.com", "//example.com/", "https://", "https:///path", "https://:443/",
    "http://example.com/", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/",
    "unix:///run/x.sock", "javascript:alert(1)", "HTTPS//example.com",
    "https://user@example.com/", "https://user:pw@example.com/", "https://example.com@127.0.0.1/",
    "https://127.0.0.1#@example.com/", "https://example.com/#part", "https://example.com/#",
    "https://example.com:80/", "https://example.com:22/", "https://example.com:0/",
    "https://example.com:65536/", "https://example.com:x/", "https://example.com:443:443/",
    "https://exa mple.com/", "https://example.com/ x", "https://example.com\\@127.0.0.1/",
    "https://example.com/\r\nHost: evil", "https://example.com/\x00", "https://example.com/\u00a0",
    "https://127.0.0.1/", "https://127.1/", "https://127.0.1/", "https://2130706433/",
    "https://0x7f000001/", "https://0x7f.0.0.1/", "https://0177.0.0.1/", "https://017700000001/",
    "https://0/", "https://127.0.0.1./", "https://000127.0.0.1/", "https://127.0.0.01/",
    "https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/",
    "https://[0:0:0:0:0:ffff:127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/",
    "https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://[::1", "https://[v1.x]/",
    "https://[fd00:ec2::254]/", "https://169.254.169.254/latest/meta-data/", "https://10.0.0.1/",
    "https://100.64.0.1/", "https://192.168.0.1/", "https://0.0.0.0/", "https://224.0.0.1/",
    "https://localhost/", "https://LOCALHOST/", "https://x.localhost/", "https://intranet/",
    "https://metadata.google.internal/", "https://.example.com/", "https://example..com/",
    "https://example.com./", "https://-x.example.com/", "https://exam_ple!.com/",
    "https://１２７.０.０.１/", "https://127。0。0。1/", "https://ⓛocalhost/", "https://①0.0.0.1/",
    "https://[::１]/", "https://" + "a" * 64 + ".com/", "https://" + "a." * 130 + "com/",
    "https://example.com/" + "a" * 2048, "https://example.com/é",
    "https://nas.local/", "https://NAS.Local/", "https://a.b.internal/", "https://router.lan/",
    "https://nas.home.arpa/", "https://1.0.0.127.in-addr.arpa/", "https://x.home/", "https://x.corp/",
    "https://x.mail/", "https://x.intranet/", "https://x.private/", "https://x.localdomain/",
    "https://x.test/", "https://x.invalid/", "https://x.onion/", "https://svc.cluster.local/",
    "https://nas.ｌocal/", "https://nas。local/", "https://xn--a/", "https://xn--a.example.com/",
    "https://xn--ls8h.example.com/", "https://☕.example.com/", "https://a\u200db.example.com/",
    "https://-ü.example.com/", "https://" + "ü" * 64 + ".com/", "https://\u0301a.example.com/",
]  # fmt: skip


@sweep("url", HOSTILE_URLS)
def test_no_such_url_is_taken(url):
    with pytest.raises(UrlRefused) as refused:
        parse_target(url, STRICT)
    assert str(refused.value).endswith(".")


def test_there_are_enough_of_them():
    assert len(HOSTILE_URLS) >= 40


@sweep(
    ("url", "host", "port", "path", "authority"),
    [
        ("https://example.com", "example.com", 443, "/", "example.com"),
        ("HTTPS://EXAMPLE.com:443/A?b=%20", "example.com", 443, "/A?b=%20", "example.com"),
        ("https://a_b.example.com/x", "a_b.example.com", 443, "/x", "a_b.example.com"),
        ("https://1.1.1.1/", "1.1.1.1", 443, "/", "1.1.1.1"),
        ("https://[2606:4700::1111]/", "2606:4700::1111", 443, "/", "[2606:4700::1111]"),
        # By IDNA 2003 the first two would be other people's domains.
        ("https://straße.de/", "xn--strae-oqa.de", 443, "/", "xn--strae-oqa.de"),
        ("https://βόλος.com/", "xn--nxasmm1c.com", 443, "/", "xn--nxasmm1c.com"),
        ("https://xn--strae-oqa.de/", "xn--strae-oqa.de", 443, "/", "xn--strae-oqa.de"),
        ("https://STRASSE.de/", "strasse.de", 443, "/", "strasse.de"),
        ("https://BÜCHER.example.com/", "xn--bcher-kva.example.com", 443, "/",
         "xn--bcher-kva.example.com"),
        ("https://ｅxample.com/", "example.com", 443, "/", "example.com"),  # a wide letter
        ("https://hooks.example/", "hooks.example", 443, "/", "hooks.example"),
        ("https://local.com/", "local.com", 443, "/", "local.com"),
        ("https://رسالة.موريتانيا/", "xn--mgbewi0g.xn--mgbah1a3hjkrd", 443, "/",
         "xn--mgbewi0g.xn--mgbah1a3hjkrd"),
    ],
)  # fmt: skip
def test_a_url_is_taken_apart_once(url, host, port, path, authority):
    target = parse_target(url, STRICT)
    assert (target.host, target.port, target.path, target.authority) == (
        host, port, path, authority,
    )  # fmt: skip


def test_lengths_at_their_edges():
    longest = "https://example.com/" + "a" * (2048 - 20)
    assert len(parse_target(longest, STRICT).path) == 2029
    with pytest.raises(UrlRefused, match="at most 2048"):
        parse_target(longest + "a", STRICT)
    host = ".".join(["a" * 61] * 4) + ".abcde"
    assert len(host) == 253
    assert parse_target(f"https://{host}/", STRICT).host == host
    with pytest.raises(UrlRefused, match="must be a name, or an address"):
        parse_target(f"https://{host}f/", STRICT)


def test_a_backslash_is_no_slash():
    with pytest.raises(UrlRefused, match="no spaces, backslashes or control"):
        parse_target("https://example.com/a\\b", STRICT)


def test_https_is_taken_where_insecure_too():
    assert parse_target("https://example.com/", LOOSE).scheme == "https"


def test_the_ports_that_may_be_are_told():
    with pytest.raises(UrlRefused, match=r"only these ports: 443, 8443\.$"):
        parse_target("https://example.com:80/", AddressRules(ports=(443, 8443)))


def test_what_only_a_network_knows_is_told_by_its_last_label():
    with pytest.raises(UrlRefused, match=r"^Names that end in \.lan work only inside"):
        parse_target("https://a.b.lan/", STRICT)
    for url in ("https://localhost/", "https://a.b.localhost/"):
        with pytest.raises(UrlRefused, match="is known on the public internet"):
            parse_target(url, STRICT)


def test_an_address_with_an_interface_is_refused_for_it():
    with pytest.raises(UrlRefused, match="must not name a network interface"):
        parse_target("https://[fe80::1%25eth0]/", LOOSE)


@pytest.mark.parametrize("url", ["https://example.com/", "http://example.com/", "nonsense"])
def test_without_a_port_nothing_leaves(url):
    with pytest.raises(UrlRefused, match="No request leaves this service"):
        parse_target(url, AddressRules(ports=()))


def test_ports_are_a_list_and_any_where_insecure():
    assert parse_target("https://example.com:8443/", AddressRules(ports=(443, 8443))).port == 8443
    target = parse_target("http://localhost:9999/", LOOSE)
    assert (target.scheme, target.host, target.authority) == ("http", "localhost", "localhost:9999")
    assert parse_target("http://127.0.0.1/", LOOSE).authority == "127.0.0.1"
    with pytest.raises(UrlRefused):
        parse_target("http://10.0.0.1/", LOOSE)


def test_plain_http_is_refused_with_the_setting_that_allows_it():
    with pytest.raises(UrlRefused, match=r"begins with https://\..*webhooks\.allow_insecure"):
        parse_target("http://example.com/", STRICT)
    with pytest.raises(UrlRefused) as refused:
        parse_target("ftp://example.com/", STRICT)
    assert "allow_insecure" not in str(refused.value)


def test_inside_names_are_for_whoever_opened_a_network_of_his_own():
    opened = AddressRules(networks=(ip_network("10.1.0.0/16"),))
    with pytest.raises(UrlRefused, match=r"\.lan work only inside .*webhooks\.allow_networks"):
        parse_target("https://crm.lan/", STRICT)
    assert parse_target("https://crm.lan/", opened).host == "crm.lan"
    for rules in (opened, STRICT):
        with pytest.raises(UrlRefused):
            parse_target("https://x.localhost/", rules)
    assert parse_target("http://crm.lan/", LOOSE).host == "crm.lan"
