"""What is fetched of the web: which addresses, how much, and how often redirected."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from pgs_neo4j.documents.sources import fetch as fetching
from pgs_neo4j.documents.sources.addresses import is_public, url_id
from pgs_neo4j.documents.sources.fetch import Fetched, fetch
from pgs_neo4j.documents.sources.find import find_sources
from pgs_neo4j.documents.sources.loader import ENDINGS, FileLoader
from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.model.documents import DocumentSource, LoadedDocument

HOSTS = {"docs.test": "93.184.216.34", "other.test": "9.9.9.9", "inner.test": "8.8.8.8 10.1.2.3"}
Answer = Callable[[httpx2.Request], httpx2.Response]


class Web:
    """Hosts with addresses, one answer for all, and what was asked of them."""

    def __init__(self) -> None:
        self.answer: Answer = lambda request: httpx2.Response(404)
        self.asked: list[httpx2.Request] = []

    def reply(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        return self.answer(request)


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Web:
    web = Web()

    async def resolved(_: object, host: str, port: int, **__: object) -> list[Any]:
        if host not in HOSTS:
            raise socket.gaierror
        return [(None, None, None, "", (each, port)) for each in HOSTS[host].split()]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", resolved)
    transport = httpx2.MockTransport(web.reply)
    monkeypatch.setattr(fetching, "open_client", lambda: httpx2.AsyncClient(transport=transport))
    return web


def page(data: bytes, kind: str = "text/html", **headers: str) -> Answer:
    def answer(_: httpx2.Request) -> httpx2.Response:
        given = {"content-type": kind, **{k.replace("_", "-"): v for k, v in headers.items()}}
        return httpx2.Response(200, headers=given, stream=httpx2.ByteStream(data))

    return answer


def redirect(target: str) -> Answer:
    return lambda _: httpx2.Response(302, headers={"location": target})


async def get(url: str = "https://docs.test/a.html", *, private: bool = False) -> Fetched:
    return await fetch(url, 1000, ENDINGS, private=private)


async def test_the_address_that_was_checked_is_the_one_asked(web: Web) -> None:
    web.answer = page(b"<p>Hi", "text/html; charset=ISO-8859-1")
    found = await get("https://docs.test:8443/a?b=1#part")
    assert found == Fetched(b"<p>Hi", ".html", "iso-8859-1")
    (asked,) = web.asked
    assert str(asked.url) == "https://93.184.216.34:8443/a?b=1"
    assert asked.headers["host"] == "docs.test:8443"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.extensions["sni_hostname"] == "docs.test"


@pytest.mark.parametrize(
    "url",
    [
        "https://inner.test/", "http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/meta",
        "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/",
    ],
)  # fmt: skip
async def test_private_addresses_are_refused_unless_allowed(web: Web, url: str) -> None:
    host = httpx2.URL(url).host
    HOSTS.setdefault(host, host)
    web.answer = page(b"secret", "text/plain")
    with pytest.raises(
        InputFileError, match="has a private address; to fetch it anyway, add --allow-private"
    ):
        await get(url)
    assert web.asked == []
    assert (await get(url, private=True)).data == b"secret"


async def test_a_redirect_is_checked_like_the_first_request(web: Web) -> None:
    web.answer = redirect("http://inner.test/x")
    with pytest.raises(InputFileError, match=r"inner\.test has a private address"):
        await get()
    web.answer = redirect("file:///etc/passwd")
    with pytest.raises(InputFileError, match="not a URL of http or https"):
        await get()
    web.answer = redirect("https://me:secret@other.test/")
    with pytest.raises(InputFileError, match="must not contain a name or password") as caught:
        await get()
    assert "secret" not in str(caught.value)
    web.answer = redirect("/again")
    web.asked.clear()
    with pytest.raises(InputFileError, match="it redirects more than 5 times"):
        await get()
    assert len(web.asked) == 6
    there, moved = page(b"# Hi", "text/plain"), redirect("//other.test/b.md")
    web.answer = lambda request: (there if request.url.path == "/b.md" else moved)(request)
    assert await get() == Fetched(b"# Hi", ".md", "")
    assert web.asked[-1].headers["host"] == "other.test"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (page(b"x" * 1001), "it is larger than 0.001 MB"),
        (page(b"x", content_length="5000"), "it is larger than 0.001 MB"),
        (page(b"x", content_encoding="gzip"), "compresses it, though that was not requested"),
        (page(b"x", "image/png"), "no reader takes its media type image/png"),
        (page(b"x", ""), "it has no media type"),
        (lambda _: httpx2.Response(500), "replied with the status 500"),
        (lambda _: httpx2.Response(302), "replied with the status 302"),
    ],
)
async def test_what_cannot_be_used_is_one_sentence(web: Web, answer: Answer, said: str) -> None:
    web.answer = answer
    with pytest.raises(InputFileError, match=said):
        await get("https://docs.test/a")


async def test_a_host_that_fails_or_hangs_is_told(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    web.answer = fail
    with pytest.raises(InputFileError, match=r"could not be fetched \(ConnectError\)"):
        await get()
    with pytest.raises(InputFileError, match=r"the host nowhere\.test has no known address"):
        await get("https://nowhere.test/")
    monkeypatch.setattr(fetching, "SECONDS", 0.01)

    async def hang(*_: object, **__: object) -> str:
        await asyncio.sleep(60)
        return ""

    monkeypatch.setattr(fetching, "resolve", hang)
    with pytest.raises(InputFileError, match="fetching it took more than 0 seconds"):
        await get()


@pytest.mark.parametrize(
    ("kind", "url", "ending"),
    [
        ("text/html; charset=utf-8", "https://docs.test/a.pdf", ".html"),
        ("application/pdf", "https://docs.test/a", ".pdf"),
        ("text/plain", "https://docs.test/data.CSV?x=.md", ".csv"),
        ("application/octet-stream", "https://docs.test/a.docx", ".docx"),
        ("application/json", "https://docs.test/api", ".json"),
    ],
)
async def test_the_media_type_decides_the_reader(
    web: Web, kind: str, url: str, ending: str
) -> None:
    web.answer = page(b"x", kind)
    assert (await get(url)).ending == ending


async def test_a_url_is_loaded_like_a_file(web: Web) -> None:
    (source,) = find_sources(["https://docs.test/notes?api_key=abc"], FileLoader().takes).listed
    assert source.id == "https://docs.test/notes?api_key=***"
    assert "abc" not in repr(source)
    web.answer = page("Größe".encode("cp1252"), "text/plain; charset=windows-1252")
    (one,) = [one async for one in FileLoader().load(source)]
    assert isinstance(one, LoadedDocument)
    assert (one.id, one.text.text, one.note) == (source.id, "Größe", "")
    assert web.asked[0].url.params["api_key"] == "abc"
    web.answer = page(b'{"id": 1, "text": "a"}\n', "application/jsonl")
    (record,) = [one async for one in FileLoader().load(source)]
    assert record.id == f"{source.id}#1"


def test_the_id_of_a_url_holds_no_secret() -> None:
    assert url_id("HTTPS://Docs.test/A/b?x=1&token=t&sig=s#y") == (
        "https://docs.test/A/b?x=1&token=***&sig=***"
    )
    with pytest.raises(UsageError, match="must not contain a name or password") as caught:
        find_sources(["https://me:secret@docs.test/"], FileLoader().takes)
    assert "secret" not in str(caught.value)
    for wrong in ("https://", "http://a b/", "https://docs.test:x/", "http://docs.test/\n"):
        with pytest.raises(UsageError, match="not a URL"):
            find_sources([wrong], FileLoader().takes)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("127.0.0.1", False),
        ("10.0.0.1", False), ("192.168.1.1", False), ("169.254.1.1", False), ("0.0.0.0", False),
        ("100.64.0.1", False), ("224.0.0.1", False), ("240.0.0.1", False), ("::1", False),
        ("fe80::1%eth0", False), ("fc00::1", False), ("::ffff:10.0.0.1", False),
        ("2002:a00:1::", False), ("64:ff9b::a00:1", False), ("64:ff9b::5db8:d822", True),
        ("2002:5db8:d822::", True), ("::ffff:93.184.216.34", True), ("64:ff9b:1::5db8:d822", False),
        ("fec0::1", False), ("3fff::1", False), ("3fff:fff:ffff::1", False), ("5f00::1", False),
        ("3ffe::1", False), ("2001:db8::1", False), ("2001::1", False),
        ("2001:0:5db8:d822::", False),
        ("2001:2::1", False), ("2001:10::1", False), ("2001:20::1", False), ("2001:200::1", True),
        ("2620:4f:8000::1", False), ("100::1", False), ("100:0:0:1::1", False), ("ff0e::1", False),
        ("fdff::1", False), ("::", False), ("::a00:1", False), ("::5db8:d822", False),
        ("::ffff:0:10.0.0.1", False), ("4000::1", False), ("2a00::1", True), ("172.31.0.1", False),
        ("172.32.0.1", True), ("192.0.0.9", False), ("192.0.2.1", False), ("192.31.196.1", False),
        ("192.52.193.1", False), ("192.88.99.1", False), ("192.175.48.1", False),
        ("198.19.255.255", False), ("198.51.100.1", False), ("203.0.113.1", False),
        ("255.255.255.255", False), ("239.1.1.1", False), ("1.1.1.1", True), ("100.128.0.1", True),
    ],
)  # fmt: skip
def test_an_address_is_public_or_not(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_two_texts_of_one_name_are_refused() -> None:
    given = [DocumentSource(id="a.md", data=text) for text in ("# Hi\n", "x")]
    with pytest.raises(UsageError, match=r"a text and a text would both have the id a\.md"):
        find_sources(given, FileLoader().takes)
