"""Character encodings: bytes to text as in a browser, by byte-order mark, header, meta, or a guess.

The guess is UTF-8 where the bytes are valid UTF-8 and windows-1252 otherwise, which is right for
nearly everything that declares nothing. Labels map to decoders by the WHATWG Encoding Standard
(``latin-1`` means windows-1252, ``gb2312`` means GB 18030, ...); a label outside the list is
ignored rather than looked up among Python's codecs, some of which are not encodings of text.
Decoding never fails: bytes that cannot be decoded become U+FFFD.
"""

from __future__ import annotations

import re

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))

_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,512}?charset\s*=\s*[\"']?\s*([a-z0-9_:.+-]{2,40})")
_XML = re.compile(
    rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([a-z0-9_:.+-]{2,40})", re.IGNORECASE
)
_PRESCAN = 1_024

_DECODERS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 x-unicode20utf8",
    "cp1252": "windows-1252 cp1252 x-cp1252 latin1 latin-1 l1 iso-8859-1 iso8859-1 iso88591 "
    "iso_8859-1 ascii us-ascii ansi_x3.4-1968 iso-ir-100 cp819 ibm819",
    "iso8859-2": "iso-8859-2 iso8859-2 iso88592 latin2 l2",
    "iso8859-3": "iso-8859-3 iso8859-3 latin3",
    "iso8859-4": "iso-8859-4 iso8859-4 latin4",
    "iso8859-5": "iso-8859-5 iso8859-5 cyrillic",
    "iso8859-6": "iso-8859-6 iso8859-6 arabic",
    "iso8859-7": "iso-8859-7 iso8859-7 greek",
    "iso8859-8": "iso-8859-8 iso8859-8 hebrew iso-8859-8-i",
    "iso8859-10": "iso-8859-10 iso8859-10 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13",
    "iso8859-14": "iso-8859-14 iso8859-14",
    "iso8859-15": "iso-8859-15 iso8859-15 latin9 latin-9",
    "iso8859-16": "iso-8859-16",
    "cp1254": "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 latin5",
    "cp874": "windows-874 iso-8859-11 tis-620",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251",
    "cp1253": "windows-1253 cp1253 x-cp1253",
    "cp1255": "windows-1255 cp1255 x-cp1255",
    "cp1256": "windows-1256 cp1256 x-cp1256",
    "cp1257": "windows-1257 cp1257 x-cp1257",
    "cp1258": "windows-1258 cp1258 x-cp1258",
    "cp866": "ibm866 cp866 866",
    "koi8-r": "koi8-r koi8 koi",
    "koi8-u": "koi8-u koi8-ru",
    "mac-roman": "macintosh mac x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic",
    "gb18030": "gb18030 gbk gb2312 gb_2312-80 x-gbk chinese",
    "big5hkscs": "big5 big5-hkscs cn-big5 x-x-big5",
    "euc_jp": "euc-jp x-euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp932": "shift_jis shift-jis sjis ms_kanji windows-31j x-sjis",
    "cp949": "euc-kr ks_c_5601-1987 korean ksc5601 windows-949",
    "utf-16-le": "utf-16 utf-16le unicode",
    "utf-16-be": "utf-16be",
}
_CODEC = {label: codec for codec, labels in _DECODERS.items() for label in labels.split()}


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """The text of a body and the name of the decoder that made it."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace"), codec
    codec = _declared(body, content_type)
    if codec == "utf-8" or not codec:
        try:
            return body.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            codec = codec or "cp1252"
    return body.decode(codec, "replace"), codec


def transcoded(body: bytes, content_type: str = "") -> tuple[bytes, str]:
    """The body in UTF-8, and the name of the decoder that its text was made with."""
    text, codec = decode(body, content_type)
    if codec == "utf-8" and "\ufffd" not in text and not body.startswith(_BOMS[0][0]):
        return body, codec
    return text.encode("utf-8", "replace"), codec


def _declared(body: bytes, content_type: str) -> str:
    """The declared decoder, or an empty string."""
    if "charset" in content_type.lower() and (found := _HEADER.search(content_type)):
        codec = _CODEC.get(found[1].lower(), "")
        if codec:
            return codec
    head = body[:_PRESCAN].lower()
    declared = (_META.search(head) if b"charset" in head else None) or _XML.match(head)
    if declared is None:
        return ""
    codec = _CODEC.get(declared[1].decode("ascii").lower(), "")
    # A document whose declaration could be read as ASCII is not UTF-16, whatever it says.
    return "utf-8" if codec.startswith("utf-16") else codec
