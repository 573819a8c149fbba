"""Addresses that are refused, in every spelling; secrets that hide; codings with a limit."""

from __future__ import annotations

import asyncio
import pickle
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.errors import InputError
from sonde.net.decoding import BadEncoding, unpack
from sonde.net.guard import BlockedAddress, Guard, GuardedResolver, refusal
from sonde.net.secret import Secret, revealed


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "168.63.129.16",
        "100.64.0.1",
        "100.100.100.200",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "192.0.0.192",
        "198.18.0.1",
        "192.0.2.1",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "::ffff:0:10.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2001:0:7f00:1::1",
        "2001:0:5db8:d822::80ff:fffe",
        "2001:4860::5efe:10.0.0.1",
        "2001:4860::200:5efe:127.0.0.1",
        "not an address",
    ],
)
def test_refused(address: str) -> None:
    assert refusal(address) is not None


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "64:ff9b::8.8.8.8"]
)
def test_public(address: str) -> None:
    assert refusal(address) is None


def test_the_guard_opens_on_request() -> None:
    assert Guard(allow_private=True).refusal("127.0.0.1") is None
    assert Guard(allow_private=True).literal_refusal("127.0.0.1") is None
    guard = Guard()
    assert guard.literal_refusal("[::1]") == "loopback"
    assert guard.literal_refusal("a.example") is None
    guard.exempt.add("127.0.0.1")
    assert guard.refusal("127.0.0.1") is None
    assert guard.literal_refusal("127.0.0.1") == "loopback"


def test_the_socket_factory_has_the_last_word() -> None:
    info = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("10.0.0.1", 80))
    with pytest.raises(BlockedAddress, match="private"):
        Guard().socket(info)
    Guard(allow_private=True).socket(info).close()


def test_the_resolver_drops_refused_addresses_and_keeps_answers() -> None:
    asked: list[str] = []

    async def lookup(host: str) -> list[str]:
        asked.append(host)
        return {"mixed.example": ["10.0.0.1", "8.8.8.8"], "in.example": ["10.0.0.1"]}.get(host, [])

    async def body() -> None:
        resolver = GuardedResolver(Guard(), lookup=lookup, size=2)
        assert await resolver.addresses("mixed.example") == ["8.8.8.8"]
        assert await resolver.addresses("mixed.example") == ["8.8.8.8"]
        assert asked == ["mixed.example"]
        with pytest.raises(BlockedAddress, match="private"):
            await resolver.addresses("in.example")
        with pytest.raises(OSError, match="no address"):
            await resolver.addresses("none.example")
        (result,) = await resolver.resolve("mixed.example", 80)
        assert (result["host"], result["port"], result["family"]) == ("8.8.8.8", 80, socket.AF_INET)
        with pytest.raises(BlockedAddress):
            await resolver.addresses("[::1]")
        stale = GuardedResolver(Guard(), lookup=lookup, ttl=0.0)
        await stale.addresses("mixed.example")
        await stale.addresses("mixed.example")
        assert asked.count("mixed.example") == 3
        await resolver.close()

    asyncio.run(body())


def test_secrets_hide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = Secret("hunter2")
    assert "hunter2" not in f"{secret} {secret!r} {[secret]}"
    assert revealed(secret) == "hunter2"
    assert revealed("plain") == "plain"
    assert secret == Secret("hunter2")
    assert secret != Secret("other")
    assert len({secret, Secret("hunter2")}) == 1
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(InputError, match="line breaks"):
        Secret("a\nb")

    monkeypatch.setenv("SONDE_TEST_SECRET", "from env")
    assert Secret.from_environment("SONDE_TEST_SECRET").reveal() == "from env"
    with pytest.raises(InputError, match="NOT_SET"):
        Secret.from_environment("SONDE_TEST_NOT_SET")

    file = tmp_path / "secret"
    file.write_text("from file\nmore\n")
    file.chmod(0o644)
    with pytest.raises(InputError, match="read by others"):
        Secret.from_file(file)
    file.chmod(0o600)
    assert Secret.from_file(file).reveal() == "from file"
    file.write_text("")
    with pytest.raises(InputError, match="empty"):
        Secret.from_file(file)
    with pytest.raises(InputError, match="cannot read"):
        Secret.from_file(tmp_path / "none")


@given(st.binary(max_size=200), st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br"]))
def test_unpacking_rubbish_ends_in_bytes_or_in_bad_encoding(body: bytes, coding: str) -> None:
    try:
        out, _ = unpack(body, coding, 1_000)
    except BadEncoding:
        return
    assert len(out) <= 1_000


def test_deflate_without_a_header_and_gzip_with_members() -> None:
    import gzip
    import zlib

    raw = zlib.compressobj(wbits=-15)
    assert unpack(raw.compress(b"abc") + raw.flush(), "deflate", 10) == (b"abc", False)
    assert unpack(gzip.compress(b"ab") + gzip.compress(b"cd"), "gzip", 10) == (b"abcd", False)
    assert unpack(gzip.compress(b"ab") + b"rubbish", "gzip", 10) == (b"ab", False)
    assert unpack(gzip.compress(b"abc" * 1000)[:30], "gzip", 9_999)[0].startswith(b"abc")
    assert unpack(b"", "br", 10) == (b"", False)
    assert unpack(b"plain", "", 3) == (b"pla", True)
