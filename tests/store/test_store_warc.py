"""WARC files: round trips, rotation, duplicates, and every way in which the last file can end."""

from __future__ import annotations

import base64
import hashlib
import random
import resource
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_runs import exchange

from sonde.errors import InputError, StoreError
from sonde.net.exchange import Exchange
from sonde.store import warc
from sonde.store.warc import RecordPlace, WarcWriter, numbered, tail_of
from sonde.store.warcreader import read_archived

warcio = pytest.importorskip("warcio.archiveiterator", reason="warcio is the independent reader")

BODY = b"".join(b"<p>tide gauge %d</p>" % number for number in range(300))


def records(path: Path) -> list[tuple[str, dict[str, str], bytes]]:
    """Type, headers and payload of every record, as another library reads them."""
    with path.open("rb") as file:
        return [
            (
                record.rec_type,
                dict(record.rec_headers.headers),
                record.content_stream().read(),
            )
            for record in warcio.ArchiveIterator(file, check_digests="raise")
        ]


def test_another_library_reads_what_was_written(tmp_path: Path) -> None:
    first, second = exchange("http://a.example/1", BODY), exchange("http://a.example/2", b"short")
    with WarcWriter(tmp_path, software="sonde/test") as writer:
        place = writer.write([first, second], when=1_700_000_000.25)
    found = records(tmp_path / "pages-00001.warc.gz")
    kinds = [kind for kind, _, _ in found]
    assert kinds == ["warcinfo", "response", "request", "response", "request"]
    assert b"software: sonde/test" in found[0][2]
    _, headers, payload = found[1]
    assert payload == BODY
    assert headers["WARC-Target-URI"] == "http://a.example/1"
    assert headers["WARC-Date"] == "2023-11-14T22:13:20.250000Z"
    assert headers["WARC-IP-Address"] == "127.0.0.1"
    digest = base64.b32encode(hashlib.sha1(BODY).digest()).decode()
    assert headers["WARC-Payload-Digest"] == f"sha1:{digest}"
    assert found[2][1]["WARC-Concurrent-To"] == headers["WARC-Record-ID"]
    assert read_archived(tmp_path, place).body == b"short"


def test_every_file_says_warc_1_1(tmp_path: Path) -> None:
    with WarcWriter(tmp_path) as writer:
        writer.write([exchange("http://a.example/", BODY)])
    data = (tmp_path / "pages-00001.warc.gz").read_bytes()
    assert zlib.decompressobj(31).decompress(data).startswith(b"WARC/1.1\r\n")


def test_a_body_stored_before_is_a_revisit(tmp_path: Path) -> None:
    with WarcWriter(tmp_path, size=1) as writer:  # a new file for each fetch
        writer.write([exchange("http://a.example/1", BODY)])
        place = writer.write([exchange("http://a.example/2", BODY)])
    kind, headers, payload = records(tmp_path / "pages-00002.warc.gz")[1]
    assert (kind, payload) == ("revisit", b"")
    assert headers["WARC-Profile"] == warc.PROFILE
    assert headers["WARC-Refers-To-Target-URI"] == "http://a.example/1"
    found = read_archived(tmp_path, place)
    assert (found.url, found.body) == ("http://a.example/2", BODY)


def test_bodies_are_not_remembered_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warc, "_REMEMBERED", 1)
    with WarcWriter(tmp_path) as writer:
        for body in (BODY, BODY + b"2", BODY):
            writer.write([exchange("http://a.example/", body)])
    kinds = [kind for kind, _, _ in records(tmp_path / "pages-00001.warc.gz")]
    assert "revisit" not in kinds


def test_what_a_url_says_cannot_add_headers(tmp_path: Path) -> None:
    nasty = exchange("http://a.example/\r\nWARC-Type: metadata", b"x")
    with WarcWriter(tmp_path) as writer:
        writer.write([nasty])
    kind, headers, _ = records(tmp_path / "pages-00001.warc.gz")[1]
    assert kind == "response"
    assert headers["WARC-Target-URI"] == "http://a.example/%0D%0AWARC-Type:%20metadata"


def test_a_cut_body_says_so(tmp_path: Path) -> None:
    with WarcWriter(tmp_path) as writer:
        writer.write([exchange("http://a.example/", BODY)], cut="size")
    assert records(tmp_path / "pages-00001.warc.gz")[1][1]["WARC-Truncated"] == "length"


@settings(max_examples=40, deadline=None)
@given(
    bodies=st.lists(st.binary(max_size=3000), min_size=1, max_size=4),
    head=st.binary(max_size=60).filter(lambda raw: b"\r" not in raw and b"\n" not in raw),
)
def test_any_bytes_come_back(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[bytes], head: bytes
) -> None:
    folder = tmp_path_factory.mktemp("warc")
    start = b"HTTP/1.1 200 OK\r\nX-Odd: " + head + b"\r\n\r\n"
    with WarcWriter(folder, size=2000) as writer:
        places = [
            writer.write([Exchange("http://a.example/", 200, b"GET", start, body, "", 0.0)])
            for body in bodies
        ]
    for place, body in zip(places, bodies, strict=True):
        found = read_archived(folder, place)
        assert found.body == body
        assert found.header("x-odd") == head.decode("latin-1").strip()


# -- the end of the last file ----------------------------------------------------------------------


def written(folder: Path, count: int = 3) -> tuple[Path, list[int]]:
    """A file of some fetches, and where each record of it ends."""
    with WarcWriter(folder) as writer:
        for number in range(count):
            writer.write([exchange(f"http://a.example/{number}", b"body %d" % number)])
    path = folder / "pages-00001.warc.gz"
    data, ends = path.read_bytes(), [0]
    while ends[-1] < len(data):
        member = zlib.decompressobj(31)
        member.decompress(data[ends[-1] :])
        ends.append(len(data) - len(member.unused_data))
    return path, ends


@pytest.mark.slow
def test_a_file_cut_at_any_byte_of_its_last_records_goes_on(tmp_path: Path) -> None:
    path, ends = written(tmp_path / "whole")
    data = path.read_bytes()
    folder = tmp_path / "cut"
    folder.mkdir()
    target = folder / path.name
    for length in range(ends[-3], len(data) + 1):
        target.write_bytes(data[:length])
        sound = max(end for end in ends if end <= length)
        with WarcWriter(folder) as writer:
            assert ("cut" in writer.report) == (sound < length)
            place = writer.write([exchange("http://a.example/new", b"after the crash")])
        assert place == f"{path.name}:{sound}"
        assert read_archived(folder, place).body == b"after the crash"
        assert target.read_bytes()[:sound] == data[:sound]
    assert records(target)[-2][2] == b"after the crash"


@settings(max_examples=60, deadline=None)
@given(share=st.floats(0, 1), since=st.integers(0, 4))
def test_a_known_place_makes_no_difference(
    tmp_path_factory: pytest.TempPathFactory, share: float, since: int
) -> None:
    folder = tmp_path_factory.mktemp("warc")
    path, ends = written(folder)
    data = path.read_bytes()
    length = round(share * len(data))
    path.write_bytes(data[:length])
    with WarcWriter(folder, since=str(RecordPlace(path.name, ends[since]))) as writer:
        pass
    sound = max(end for end in ends if end <= length)
    if length <= ends[since]:  # a record that the database knows is not there: another file
        assert "not the file that was written" in writer.report
        assert path.read_bytes() == data[:length]
    elif sound == 0:  # not even the warcinfo: it is written anew
        assert records(path)[0][0] == "warcinfo"
    else:
        assert path.read_bytes() == data[:sound]


def test_damage_that_is_no_cut_is_left_alone(tmp_path: Path) -> None:
    path, ends = written(tmp_path)
    data = bytearray(path.read_bytes())
    data[ends[2] + 40 : ends[2] + 60] = random.Random(1).randbytes(20)
    path.write_bytes(data)
    with WarcWriter(tmp_path) as writer:
        assert f"damaged from byte {ends[2]}" in writer.report
        place = writer.write([exchange("http://a.example/new", b"new")])
    assert place.startswith("pages-00002")
    assert path.read_bytes() == data
    assert tail_of(path).damage == "corrupt"


def test_rotation(tmp_path: Path) -> None:
    rng = random.Random(2)
    with WarcWriter(tmp_path, size=3000) as writer:
        places = [
            writer.write([exchange(f"http://a.example/{number}", rng.randbytes(1500))])
            for number in range(6)
        ]
    assert numbered(tmp_path) == [1, 2, 3]
    assert [RecordPlace.parse(place).name[6:11] for place in places] == [
        "00001", "00001", "00002", "00002", "00003", "00003",
    ]  # fmt: skip
    for number in numbered(tmp_path):
        path = tmp_path / f"pages-{number:05d}.warc.gz"
        assert records(path)[0][1]["WARC-Filename"] == path.name


@contextmanager
def no_more_than(size: int) -> Iterator[None]:
    """The system writes files up to this size, and then says no: as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("reopened", [False, True])
def test_a_full_disk_leaves_whole_records(tmp_path: Path, reopened: bool) -> None:
    path = tmp_path / "pages-00001.warc.gz"
    writer = WarcWriter(tmp_path)
    writer.write([exchange("http://a.example/", b"the first")])
    if reopened:
        writer.close()
        writer = WarcWriter(tmp_path)
    before = path.read_bytes()
    with writer:
        with no_more_than(len(before) + 100), pytest.raises(StoreError, match="too large"):
            writer.write([exchange("http://a.example/x", BODY)])
        assert path.read_bytes() == before
        place = writer.write([exchange("http://a.example/x", BODY)])
    assert place == f"{path.name}:{len(before)}"
    assert read_archived(tmp_path, place).body == BODY
    assert [kind for kind, _, _ in records(path)][1::2] == ["response", "response"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        WarcWriter(tmp_path / "file" / "pages")


def test_syncing_from_another_thread_while_files_change(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    done = threading.Event()
    with WarcWriter(tmp_path, size=1) as writer:

        def sync() -> None:
            try:
                while not done.is_set():
                    writer.sync()
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=sync)
        thread.start()
        for number in range(50):
            writer.write([exchange(f"http://a.example/{number}", b"x")])
        done.set()
        thread.join()
    assert failures == []


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("pages-00001.warc.gz:7", "no record at byte 7"),
        ("pages-00001.warc.gz:0", "no whole response"),
        ("pages-00001.warc.gz:99999999", "no record"),
        ("pages-00009.warc.gz:0", "No such file"),
        ("../../etc/passwd:0", "not a place"),
        ("pages-00001.warc.gz:-1", "not a place"),
        ("nonsense", "not a place"),
    ],
)
def test_bad_places(tmp_path: Path, place: str, message: str) -> None:
    written(tmp_path)
    with pytest.raises(InputError, match=message):
        read_archived(tmp_path, place)


def test_nothing_to_store(tmp_path: Path) -> None:
    with WarcWriter(tmp_path) as writer, pytest.raises(InputError, match="nothing to store"):
        writer.write([])
