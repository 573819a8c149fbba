import collections
import html as H
import random
import re
import sys
import time

sys.path.insert(0, "REPO/src")
import numpy as np
from extract import UNSPACED, WORD, body, order
from selectolax.lexbor import LexborHTMLParser
from sites import SITES

import sonde.sources.page as P
from sonde.kernels.html.scan import scan
from sonde.kernels.html.wellformed import wellformed
from sonde.kernels.text import boilerplate as B

assert B.__file__.endswith(".so"), B.__file__


def scanned(html):
    ordered = html
    if not wellformed(html, P._RULES, P.CHARACTERS, P.MAX_DEPTH, P.MAX_ATTRIBUTES):
        ordered = (
            LexborHTMLParser(P.shallow(html).decode("utf8", "replace"), scripting=True).html or ""
        ).encode("utf-8", "replace")
    size = len(ordered)
    text = np.empty(size, np.uint8)
    content = np.empty(size, np.uint8)
    stack = np.empty((size, 3), np.intc)
    anchors = np.empty((size // 8, 7), np.intc)
    notes = np.empty((256, 2), np.intc)
    pieces = np.empty((size // 4 + 2, 3), np.intc)
    nodes = np.empty((size // 4 + 2, 4), np.uint64)
    l, a, _, _, _, _, p, k = scan(
        ordered, P.ELEMENTS, P.CHARACTERS, text, content, stack, anchors, notes, pieces, nodes
    )
    t = text[:l].tobytes()
    c = t if a < 0 else content[:a].tobytes()
    return t, c, pieces[:p], nodes[:k]


CH = re.compile(UNSPACED.pattern)


def bag(s):
    c = collections.Counter()
    for w in WORD.findall(s.lower()):
        if CH.match(w[0]):
            c.update(w)
        else:
            c[w] += 1
    return c


def f1(a, b):
    both = sum((a & b).values())
    n = sum(a.values()) + sum(b.values())
    return (2 * both / n if n else 1.0), both


INL = re.compile(
    r"<(/?)(?:a|abbr|b|bdi|bdo|big|cite|code|em|font|i|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var|ins|del|dfn|label|nobr|acronym)\b[^>]*>",
    re.I,
)


def truth(raw, inc, less, need=""):
    t = LexborHTMLParser(raw, scripting=True)
    if not (t.css_first(need) if need else t.css_first(inc)):
        return None
    for n in t.css(
        "script, style, noscript, template, svg, head, [hidden], [aria-hidden=true], object, iframe, video, audio, canvas"
    ):
        n.decompose()
    if less:
        for n in t.css(less):
            n.decompose()
    out = []
    got = t.css(inc)
    seen = []
    for n in got:
        # outermost only
        p = n.parent
        inside = False
        while p is not None:
            if p.attributes.get("data-jt") == "1":
                inside = True
                break
            p = p.parent
        if inside:
            continue
        n.attrs["data-jt"] = "1"
        out.append(n.html or "")
    s = INL.sub("", " ".join(out))
    s = re.sub(r"<!--.*?-->", "", s, flags=re.S)
    return H.unescape(re.sub(r'<(?:[^>"]|"[^"]*")*>', " ", s))


def run(name, limit, orders=("bfs",)):
    folder, index, inc, less, *need = SITES[name]
    fs = order(folder, index, limit)
    res = {}
    for od in orders:
        if od == "random":
            random.Random(7).shuffle(fs)
        site = B.Site()
        rows = []
        cost = [0, 0.0, 0.0]
        first = []
        for i, f in enumerate(fs):
            raw = body(f)
            html = raw.encode("utf8", "replace")
            t0 = time.perf_counter()
            t, c, pieces, nodes = scanned(html)
            t1 = time.perf_counter()
            im = B.Imprint(t, pieces, nodes)
            site.learn(im)
            kept = np.zeros(im.words, np.uint8)
            site.main(im, kept)
            sp = B.spans(im, kept)
            t2 = time.perf_counter()
            cost[0] += 1
            cost[1] += t1 - t0
            cost[2] += t2 - t1
            main = b" ".join(t[a:b].strip() for a, b in sp.tolist()).decode()
            rows.append([f, truth(raw, inc, less, *need), t.decode(), c.decode(), main])
            first.append((im, t))
            if i == 9:
                for j in range(len(rows)):
                    im, t = first[j]
                    kept = np.zeros(im.words, np.uint8)
                    site.main(im, kept)
                    rows[j][4] = b" ".join(
                        t[a:b].strip() for a, b in B.spans(im, kept).tolist()
                    ).decode()
        res[od] = (rows, cost, site)
    return res


def topics(bags, k=15):
    anyw = collections.Counter()
    tr = collections.Counter()
    n = len(bags)
    for t, b, _, _ in bags:
        anyw.update(b.keys())
        tr.update(t.keys())
    lo = max(3, n // 100)
    hi = n // 2
    c = [
        (anyw[w] / tr[w], tr[w], w)
        for w in tr
        if lo <= tr[w] <= hi and w.isalpha() and (len(w) >= 3 or CH.match(w[0]))
    ]
    c.sort(key=lambda t: (-t[0], -t[1], t[2]))
    out = [t[2] for t in c[: k - 2]]
    if c:
        out.append(min(c, key=lambda t: (abs(t[0] - 2), t[2]))[2])
        pl = [t for t in c if t[0] <= 1.05]
        if pl:
            out.append(max(pl, key=lambda t: (t[1], t[2]))[2])
    return out


def measure(rows):
    bags = [(bag(t), bag(a), bag(c), bag(m)) for _, t, a, c, m in rows if t is not None]
    tops = topics(bags)
    out = []
    for col in (2, 3):
        F = [f1(b[0], b[col])[0] for b in bags]
        tp = sum((w in b[col]) and (w in b[0]) for b in bags for w in tops)
        fp = sum((w in b[col]) and (w not in b[0]) for b in bags for w in tops)
        fn = sum((w not in b[col]) and (w in b[0]) for b in bags for w in tops)
        out.append((sum(F) / len(F), tp / max(1, tp + fp), tp / max(1, tp + fn)))
    return out, len(bags)


if __name__ == "__main__":
    limit = int(sys.argv[1])
    tot = []
    for nm in sys.argv[2:]:
        rows, cost, site = run(nm, limit)["bfs"]
        (a, b), n = measure(rows)
        tot.append(a + b)
        print(
            f"{nm:15} {n:5} before {a[0]:.3f} {a[1]:.2f} {a[2]:.2f} | now {b[0]:.3f} {b[1]:.2f} {b[2]:.2f} | scan {cost[1] / cost[0] * 1e6:.0f} main {cost[2] / cost[0] * 1e6:.0f} us",
            flush=True,
        )
    print(np.round(np.mean(tot, 0), 3))
