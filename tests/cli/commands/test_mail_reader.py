"""What is read of a mail for an SMS, and what no mail can do to the reader."""

import pytest

from risala.cli.commands.messaging import mail_reader
from risala.cli.commands.messaging.mail_reader import UnreadableMail, read_mail

HEAD = "From: a@example.com\nMessage-ID: <1@example.com>\nSubject: S\n"


def mail(body: str, head: str = "") -> bytes:
    return f"{HEAD}{head}\n{body}".encode()


def multipart(*parts: str, kind: str = "mixed") -> bytes:
    inner = "".join(f"--b\n{part}\n" for part in parts)
    return mail(f"{inner}--b--\n", f"Content-Type: multipart/{kind}; boundary=b\n")


@pytest.mark.parametrize(
    ("head", "subject"),
    [
        ("Subject: =?utf-8?q?Caf=C3=A9?= =?iso-8859-1?q?_=E9?=", "Café é"),
        ("Subject: Disk\n full", "Disk full"),
        ("Subject: =?klingon?q?abc?=", "abc"),
        ("Subject: =?utf-8?q?=00a=0d=0ab?=", "a b"),
        ("X: y", ""),
    ],
)
def test_subjects_are_decoded(head, subject):
    assert read_mail(f"{head}\n\nhi\n".encode()).subject == subject


@pytest.mark.parametrize("charset", ["utf-8", "latin-1"])
def test_a_subject_of_raw_octets_is_read(charset):
    assert read_mail("Subject: Disque à 90 %\n\nhi\n".encode(charset)).subject == "Disque à 90 %"


@pytest.mark.parametrize(
    ("charset", "octets"),
    [
        ("utf-8", "Ça".encode()),
        ("utf-8", "Ça".encode("latin-1")),  # a lie
        ("iso-8859-1", "Ça".encode("latin-1")),
        ("klingon", "Ça".encode()),
        ("windows-1256", "سلام".encode("windows-1256")),
        ("utf-16", "Ça".encode("utf-16")),
        # Codecs of Python's that unpack, or that take long, are no charsets.
        *((name, "Ça".encode()) for name in ("zlib", "bz2", "hex", "rot13", "punycode", "idna")),
        ("\udcff", "Ça".encode()),
    ],
)
def test_charset_faults_are_survived(charset, octets):
    head = f"Content-Type: text/plain; charset={charset}\n\n".encode("utf-8", "surrogateescape")
    assert read_mail(HEAD.encode() + head + octets).text in ("Ça", "سلام")


TEXTS = {
    "signature": ("Hello\nworld\n-- \nBob\nACME", "Hello\nworld"),
    "a reply of Gmail": (
        "ok thanks\n\nOn Fri, Nov 27, 2026 at 8:00 AM Alice <\nalice@example.com> wrote:\n\n> hi\n",
        "ok thanks",
    ),
    "close to the words": ("ok\nLe ven. 27 nov. 2026,\nAlice a écrit :\n> salut", "ok"),
    "between quotes": ("> 1?\nyes\n> 2?\nno\n", "yes\nno"),
    "no introduction": ("Do this:\n> cmd\n", "Do this:"),
    "Outlook": ("ok\n\n-----Original Message-----\nFrom: Alice\nhi", "ok"),
    "Outlook's rule": (f"ok\n{'_' * 32}\nDe : Alice\nhi", "ok"),
    "a rule": (f"a\n{'_' * 32}\nb", f"a\n{'_' * 32}\nb"),
    "only quotes": ("> hi\n", ""),
    "control characters": ("a\x00b\tc\x1b[31m\xa0d\u200be\n\n\n\nf", "a b c [31m de\n\nf"),
}


@pytest.mark.parametrize(("body", "text"), TEXTS.values(), ids=TEXTS)
def test_the_text_is_the_writers_own(body, text):
    assert read_mail(mail(body)).text == text


def test_flowed_lines_are_joined():
    head = "Content-Type: text/plain; format=flowed\n"
    body = "A long line \ngoes on.\nAnother. \n-- \nBob"
    assert read_mail(mail(body, head)).text == "A long line goes on.\nAnother."


def test_plain_text_comes_before_html_and_attachments_are_ignored():
    attached = "Content-Disposition: attachment\nContent-Type: text/plain\n\nlog\n"
    html, plain = "Content-Type: text/html\n\n<p>rich</p>\n", "Content-Type: text/plain\n\nplain\n"
    assert read_mail(multipart(attached, html, plain)).text == "plain"
    assert read_mail(multipart(attached, html)).text == "rich"
    assert read_mail(multipart(attached)).text == ""
    forwarded = "Content-Type: message/rfc822\n\nSubject: x\n\nof another\n"
    assert read_mail(multipart(forwarded)).text == ""


def test_html_becomes_lines():
    html = (
        "<html><head><title>t</title><style>p{a:b}</style></head><body><p>Disk &amp;\nCPU</p>"
        "<table><tr><td>sda</td><td>90&nbsp;%</td></tr></table><script>x<y</script><!-- c --> end"
        "<blockquote>old<blockquote>older</blockquote></blockquote><br>now</body></html>"
    )
    found = read_mail(mail(html, "Content-Type: text/html\n")).text
    assert found == "Disk & CPU\n\nsda 90 %\n\nend\nnow"


@pytest.mark.parametrize("piece", ["<", "<a ", "<!--", "</", "<![CDATA[", "<a '", "<title><", "&#"])
def test_html_without_end_takes_no_time(piece):
    """The standard library's parser takes the square of its length: minutes for these."""
    body = piece * (mail_reader.TEXT_BYTES_MAX // 16 // len(piece))
    assert len(read_mail(mail(body, "Content-Type: text/html\n")).text) <= 1600


def test_the_same_mail_has_the_same_digest():
    one = read_mail(mail("hi"))
    assert one.digest == read_mail(b"From bob Fri Nov 27\n" + mail("hi again")).digest
    assert one.digest != read_mail(mail("hi").replace(b"<1@", b"<2@")).digest
    without = b"Subject: S\nReceived: by mx id %d\n\nhi"
    first = read_mail(b"From bob Fri Nov 27\n" + without % 1)
    assert first.digest == read_mail(b"From bob Sat Nov 28\n" + without % 1).digest
    assert first.digest != read_mail(without % 2).digest


@pytest.mark.parametrize(
    ("head", "is_automatic"),
    [
        ("Auto-Submitted: auto-replied (vacation)", True),
        ("auto-submitted: Auto-Replied", True),
        ("X-Autoreply: yes", True),
        ("Content-Type: multipart/report; boundary=b", True),
        ("Auto-Submitted: auto-generated", False),  # cron and monitoring
        ("Auto-Submitted: no", False),
        ("Precedence: bulk", False),
    ],
)
def test_automatic_replies_are_known(head, is_automatic):
    assert read_mail(mail("hi", f"{head}\n")).is_automatic is is_automatic


def test_recipients_and_sender_of_the_head():
    head = "To: x@a, Y <y@a>\nX-Original-To: 1@a\nDelivered-To: 2@a\nDelivered-To: 3@a\n"
    found = read_mail(mail("hi", f"{head}Return-Path: <Bob@Example.com>\n"))
    assert (found.recipients, found.return_path) == (("2@a",), "Bob@Example.com")
    assert read_mail(mail("hi", "Return-Path: <>\n")).return_path == ""
    assert read_mail(mail("hi", "To: x@a, Y <y@a>, x@a\n")).recipients == ("x@a", "y@a")
    assert read_mail(mail("hi", f"To: {'(' * 9999}\n")).recipients == ()
    assert read_mail(mail("hi")).return_path is None


HOSTILE = {
    "too large": (b"a" * (mail_reader.MAIL_BYTES_MAX + 1), "larger than 10 MB"),
    "a head without end": (b"X: " + b"y" * mail_reader.HEAD_BYTES_MAX, "head of the mail"),
    "parts": (multipart(*["\nx"] * mail_reader.PARTS_MAX), "too many parts"),
    "depth": (
        b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number)
            for number in range(200)
        ),
        "too many parts",
    ),
    "a description": (mail("", 'Content-Type: text/plain; a="' + '\\";' * 9999 + "\n"), "too long"),
    "of a part": (multipart('Content-Type: x/y; a="' + '\\";' * 9999 + "\n\nx"), "too long"),
    "encrypted": (multipart("\nx", kind="encrypted"), "encrypted"),
    "a number without end": (mail(f"&#{'9' * 9999};", "Content-Type: text/html\n"), "malformed"),
}


@pytest.mark.parametrize(("octets", "why"), HOSTILE.values(), ids=HOSTILE)
def test_too_much_is_refused_in_a_sentence(octets, why):
    with pytest.raises(UnreadableMail, match=why):
        read_mail(octets)
