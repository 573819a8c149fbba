"""Pages of a site in an order, as arrays: words, blocks, links, paths, truth."""

import collections
import html
import pickle
import random
import re
import sys
import urllib.parse

import numpy as np
from selectolax.lexbor import LexborHTMLParser
from sites import SITES

TOK = re.compile(r'<(/?)([a-zA-Z][^\s/>]*)((?:[^>"]|"[^"]*")*)>|<!--.*?-->|<![^>]*>|([^<]+)', re.S)
ATT = re.compile(r'([^\s="]+)(?:="([^"]*)")?')
SKIP = set(
    "template svg object audio video canvas datalist style noscript iframe noframes noembed script title head".split()
)
BLOCK = set(
    """address article blockquote body button center details dialog dir div dl fieldset figcaption figure form h1 h2 h3 h4 h5 h6 hgroup legend main menu ol pre section select summary table textarea ul caption dd dt li optgroup option p tbody td tfoot th thead tr html nav header footer aside""".split()
)
VOIDB = set("br hr img input".split())
VOID = VOIDB | set("area base col embed link meta param source track wbr".split())
CH = set("nav header footer aside".split())
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
WORD = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+|[^\\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)


def cuts(run):
    out = []
    b = 0
    for i in range(1, len(run)):
        h = (ord(run[i - 1]) * 0x9E3779B1 + ord(run[i]) * 0x85EBCA6B) & 0xFFFFFFFF
        if (h >> 16) % 3 == 0:
            out.append(run[b:i])
            b = i
    out.append(run[b:])
    return out


def words_of(s):
    out = []
    for w in WORD.findall(s.lower()):
        if UNSPACED.match(w[0]):
            out += cuts(w)
        else:
            out.append(w)
    return out


class Page:
    pass


def read(raw, inc, less, vocab, paths, need=""):
    t = (
        LexborHTMLParser(raw.decode("utf-8", "replace"), scripting=True)
        if hasattr(raw, "decode")
        else LexborHTMLParser(raw)
    )
    inn = t.css(inc) if inc else []
    for n in inn:
        n.attrs["data-jt"] = "1"
    for n in t.css(less) if less else []:
        n.attrs["data-jt"] = "0"
    h = t.html or ""
    p = Page()
    W = []
    L = []
    T = []
    B = []
    blocks = []  # per block: path id, chrome, words
    stack = []  # (tag, truth, chrome, skip, link, pathid)
    truth = 0
    chrome = 0
    skip = 0
    link = 0
    path = 0
    fresh = True
    main = 0
    sect = 0
    for m in TOK.finditer(h):
        end, tag, attrs, text = m.groups()
        if text is not None:
            if skip:
                continue
            ws = words_of(html.unescape(text))
            if not ws:
                continue
            if fresh:
                blocks.append((path, chrome, main))
                fresh = False
            b = len(blocks) - 1
            for w in ws:
                W.append(vocab.setdefault(w, len(vocab)))
                L.append(link)
                T.append(truth)
                B.append(b)
            continue
        if tag is None:
            continue
        tag = tag.lower()
        if end:
            while stack:
                s = stack.pop()
                truth, chrome, skip, link, path, main, sect = s[1:]
                if s[0] in BLOCK:
                    fresh = True
                if s[0] == tag:
                    break
            continue
        if tag in VOIDB:
            fresh = True
        if tag in VOID:
            continue
        a = dict((k.lower(), v) for k, v in ATT.findall(attrs))
        if attrs.rstrip().endswith("/") and False:
            continue
        stack.append((tag, truth, chrome, skip, link, path, main, sect))
        if tag in BLOCK:
            fresh = True
        jt = a.get("data-jt")
        if jt == "1":
            truth = 1
        elif jt == "0":
            truth = 0
        role = a.get("role", "")
        if tag in CH:
            chrome |= 1
        if tag in ("nav", "aside") or (tag in ("header", "footer") and not sect):
            chrome |= 2
        if role in (
            "navigation",
            "banner",
            "contentinfo",
            "complementary",
            "search",
            "menu",
            "menubar",
            "doc-toc",
        ):
            chrome |= 4
        if (
            tag == "nav"
            or (tag in ("header", "footer") and not sect)
            or role in ("navigation", "banner", "contentinfo", "search", "menu", "menubar")
        ):
            chrome |= 8
        if tag == "aside":
            chrome |= 16
        if tag == "article" or tag == "main":
            chrome &= ~16
        if tag in ("article", "main", "section", "aside", "nav"):
            sect = 1
        if tag == "main" or role == "main":
            main |= 1
        if tag == "article":
            main |= 2
        if tag in SKIP or "hidden" in a or a.get("aria-hidden", "").lower() == "true":
            skip = 1
        if tag == "a" and a.get("href"):
            link = 1
        path = paths.setdefault(
            (path, tag, a.get("id", ""), a.get("class", ""), role), len(paths) + 1
        )
        if tag in ("script", "style", "textarea", "title", "noscript", "iframe", "xmp"):
            pass
    p.words = np.array(W, np.int32)
    p.link = np.array(L, np.int8)
    p.truth = np.array(T, np.int8)
    p.block = np.array(B, np.int32)
    p.paths = np.array([b[0] for b in blocks], np.int32)
    p.chrome = np.array([b[1] for b in blocks], np.int8)
    p.main = np.array([b[2] for b in blocks], np.int8)
    p.has = bool(t.css_first(need)) if need else bool(inn)
    return p


def charset(raw):
    m = re.search(rb'charset=["\']?([\w-]+)', raw[:2000])
    return m.group(1).decode() if m else "utf-8"


def body(f):
    raw = f.read_bytes()
    if f.suffix == ".gz":
        import gzip

        raw = gzip.decompress(raw)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        try:
            return raw.decode(charset(raw), "replace")
        except LookupError:
            return raw.decode("latin-1")


def order(folder, index, limit, ok=None):
    folder = folder.resolve()
    if (folder / "00000.url").exists():
        return sorted(folder.glob("*.html"))[:limit]
    if index is None or not (folder / index).exists():
        fs = sorted(f for f in folder.rglob("*.html")) + sorted(folder.rglob("*.htm"))
        random.Random(7).shuffle(fs)
        start = fs[:1]
        pref = [f for f in fs if f.name in ("index.html", "index.htm")]
        start = pref[:1] or start
    else:
        start = [folder / index]
        fs = []
    seen = set(start)
    q = collections.deque(start)
    out = []

    def add(f):
        if f not in seen:
            seen.add(f)
            q.append(f)

    while len(out) < limit:
        if not q:
            rest = [f for f in fs if f not in seen]
            if not rest:
                break
            add(rest[0])
            continue
        f = q.popleft()
        try:
            s = body(f)
        except Exception:
            continue
        out.append(f)
        for h in re.findall(r'<(?:a|frame|area)\s[^>]*?(?:href|src)=["\']?([^"\'\s>#]+)', s, re.I):
            h = urllib.parse.unquote(html.unescape(h)).split("?")[0]
            if ":" in h.split("/")[0] or not h:
                if h.startswith("http://news.example/"):
                    h = str(folder) + "/" + h[20:]
                else:
                    continue
            try:
                g = (f.parent / h).resolve()
            except Exception:
                continue
            if g in seen or g.suffix not in (".html", ".htm", ".xhtml"):
                continue
            if folder in g.parents and g.is_file():
                add(g)
    return out


if __name__ == "__main__":
    names = sys.argv[2:] or list(SITES)
    limit = int(sys.argv[1])
    for name in names:
        folder, index, inc, less, *need = SITES[name]
        if not folder.exists():
            print(name, "missing")
            continue
        fs = order(folder, index, limit)
        vocab = {}
        paths = {}
        pages = []
        for f in fs:
            p = read(body(f), inc, less, vocab, paths, *need)
            p.name = str(f.relative_to(folder.resolve()))
            if len(p.words):
                pages.append(p)
        inv = [None] * (len(paths) + 1)
        for k, v in paths.items():
            inv[v] = k
        pickle.dump((pages, list(vocab), inv), open(f"cache/{name}.pkl", "wb"))
        n = sum(len(p.words) for p in pages)
        print(
            f"{name:15} pages {len(pages):5} with truth {sum(p.has for p in pages):5} words/page {n / max(1, len(pages)):8.0f} share {sum(int(p.truth.sum()) for p in pages) / max(1, n):.2f} blocks/page {sum(len(p.paths) for p in pages) / max(1, len(pages)):.0f} paths {len(paths)} unspaced {sum(bool(UNSPACED.match(w[0])) for w in vocab) / max(1, len(vocab)):.2f}",
            flush=True,
        )
