import collections
import pickle
import random
import sys


class Page:
    pass


import __main__

__main__.Page = Page
import numpy as np

M64 = np.uint64
rng = np.random.default_rng(1)


def mix(x):
    x = x.astype(np.uint64)
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


P = np.uint64(0x100000001B3)
POW = np.ones(200000, np.uint64)
with np.errstate(over="ignore"):
    for i in range(1, 200000):
        POW[i] = POW[i - 1] * P
np.seterr(over="ignore")
K = 6
LK = 1


def load(name, limit=None, order="bfs"):
    pages, vocab, inv = pickle.load(open(f"cache/{name}.pkl", "rb"))
    if order == "random":
        random.Random(7).shuffle(pages)
    pages = pages[:limit] if limit else pages
    for p in pages:
        h = mix(p.words + 1)
        n = len(h)
        nb = len(p.paths)
        starts = np.searchsorted(p.block, np.arange(nb))
        ends = np.append(starts[1:], n)
        p.starts = starts
        p.ends = ends
        p.len = ends - starts
        pos = np.arange(n) - starts[p.block]
        p.bkey = mix(np.add.reduceat(h * POW[pos], starts) + p.len.astype(np.uint64))
        p.linkw = np.add.reduceat(p.link.astype(np.int64), starts)
        p.linkish = 2 * p.linkw >= p.len
        if LK:
            p.bkey = mix(p.bkey + p.linkish.astype(np.uint64))
        if n >= K:
            r = np.zeros(n - K + 1, np.uint64)
            for k in range(K):
                r += h[k : n - K + 1 + k] * POW[K - 1 - k]
            ok = (p.block[: n - K + 1] == p.block[K - 1 :]) & (p.len[p.block[: n - K + 1]] > K)
            at = np.nonzero(ok)[0]
            # long blocks: only first and last
            b = p.block[at]
            long = p.len[b] > 32
            edge = (at == starts[b]) | (at == ends[b] - K)
            at = at[~long | edge]
            p.rat = at
            p.rkey = mix(
                r[at]
                + np.uint64(77)
                + (p.linkish[p.block[at]].astype(np.uint64) if LK else np.uint64(0))
            )
        else:
            p.rat = np.zeros(0, int)
            p.rkey = np.zeros(0, np.uint64)
    return pages, vocab, inv


def topics(pages, vocab, k=15):
    anyw = collections.Counter()
    tr = collections.Counter()
    for p in pages:
        if not p.has:
            continue
        anyw.update(np.unique(p.words).tolist())
        tr.update(np.unique(p.words[p.truth > 0]).tolist())
    n = sum(p.has for p in pages)
    lo = max(3, n // 100)
    hi = n // 2
    c = [
        (anyw[w] / tr[w], tr[w], w)
        for w in tr
        if lo <= tr[w] <= hi and (vocab[w].isalpha()) and len(vocab[w]) >= 3
    ]
    c.sort(key=lambda t: (-t[0], -t[1], t[2]))
    out = [t[2] for t in c[: k - 2]]
    mid = min(c, key=lambda t: (abs(t[0] - 2), t[2]))
    out.append(mid[2])
    plain = [t for t in c if t[0] <= 1.05]
    if plain:
        out.append(max(plain, key=lambda t: (t[1], -t[2]))[2])
    return out


class Score:
    def __init__(s):
        s.tp = s.fp = s.fn = 0
        s.f = []
        s.ttp = s.tfp = s.tfn = 0


def evaluate(pages, vocab, keeps, tops=None, detail=None):
    s = Score()
    tops = topics(pages, vocab) if tops is None else tops
    T = np.array(tops)
    for i, (p, k) in enumerate(zip(pages, keeps)):
        if not p.has:
            continue
        t = p.truth > 0
        tp = int((k & t).sum())
        fp = int((k & ~t).sum())
        fn = int((~k & t).sum())
        s.tp += tp
        s.fp += fp
        s.fn += fn
        s.f.append(2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 1.0)
        a = np.isin(T, p.words[k])
        b = np.isin(T, p.words[t])
        s.ttp += int((a & b).sum())
        s.tfp += int((a & ~b).sum())
        s.tfn += int((~a & b).sum())
        if detail is not None:
            detail.append((s.f[-1], fp, fn, i))
    return (
        s.tp / max(1, s.tp + s.fp),
        s.tp / max(1, s.tp + s.fn),
        sum(s.f) / max(1, len(s.f)),
        s.ttp / max(1, s.ttp + s.tfp),
        s.ttp / max(1, s.ttp + s.tfn),
    )


def today(pages):
    return [(p.chrome[p.block] & 1) == 0 for p in pages]


def runs_of(mask):
    # maximal runs: list of (value,start,end)
    n = len(mask)
    if n == 0:
        return []
    ch = np.nonzero(np.diff(mask.astype(np.int8)))[0] + 1
    b = np.concatenate([[0], ch, [n]])
    return [(bool(mask[b[i]]), int(b[i]), int(b[i + 1])) for i in range(len(b) - 1)]


def smooth(rep, strong, OPEN=8, EDGE=10):
    n = len(rep)
    rep = rep.copy()
    for v, a, b in runs_of(rep):
        if v and b - a <= OPEN and a > 0 and b < n:
            rep[a:b] &= strong[a:b]
    rs = runs_of(rep)
    own = [(b - a, -a) for v, a, b in rs if not v]
    if not own:
        return rep
    H = -max(own)[1]
    for seq, back in ((rs, False), (rs[::-1], True)):
        to = None
        for v, a, b in seq:
            if not v:
                if b - a > EDGE or a == H:
                    break
            elif strong[a:b].any():
                to = a if back else b
        if to is not None:
            if back:
                rep[to:] = True
            else:
                rep[:to] = True
    return rep


def judge_proto(pages, correct=True):
    T = {}
    keeps = []
    n = 0

    def decide(p, n):
        vis = (p.chrome[p.block] & 1) == 0
        link = max(3, min(8, -(-n // 100)))
        text = max(5, min(50, -(-n // 20)))
        strongt = max(2, -(-n // 2))
        bc = np.array([T.get(k, 0) for k in p.bkey.tolist()])
        rc = np.array([T.get(k, 0) for k in p.rkey.tolist()], dtype=int)
        brep = bc >= np.where(p.linkish, link, text)
        rep = brep[p.block]
        st = (bc >= strongt)[p.block]
        mx = np.zeros(len(p.words) + 1, int)
        r = np.zeros(len(p.words) + K, bool)
        for at in p.rat[rc >= text].tolist():
            rep[at : at + K] = True
        for at in p.rat[rc >= strongt].tolist():
            st[at : at + K] = True
        rep |= st
        idx = np.nonzero(vis)[0]
        out = np.zeros(len(p.words), bool)
        out[idx] = ~smooth(rep[idx], st[idx])
        return out

    for i, p in enumerate(pages):
        n += 1
        vb = (p.chrome & 1) == 0
        keys = (
            set(p.bkey[vb].tolist()) | set(p.rkey[vb[p.block[p.rat]]].tolist())
            if len(p.rat)
            else set(p.bkey[vb].tolist())
        )
        for k in keys:
            T[k] = T.get(k, 0) + 1
        keeps.append(decide(p, n))
        if correct and n == 10:
            for j in range(10):
                keeps[j] = decide(pages[j], 10)
    return keeps


DEV = "cppreference postgresql python apache handbook schools linux pandas openjdk node erlang lilypond indieweb git-annex gimp-ru octave eigen".split()
HELD = "news forum handbook-ja gimp-zh libreoffice-ja rust django sqlite qt ikiwiki ghc glib libreoffice-fr".split()
if __name__ == "__main__":
    from time import time

    names = sys.argv[2:] or DEV
    for order in sys.argv[1].split(","):
        tot = []
        for nm in names:
            try:
                pages, vocab, inv = load(nm, order=order)
            except FileNotFoundError:
                continue
            tops = topics(pages, vocab)
            a = evaluate(pages, vocab, today(pages), tops)
            t0 = time()
            b = evaluate(pages, vocab, judge_proto(pages), tops)
            tot.append(a + b)
            print(
                f"{nm:15}",
                " ".join(f"{x:.3f}" for x in a),
                "|",
                " ".join(f"{x:.3f}" for x in b),
                f"{time() - t0:.1f}s",
                [vocab[t] for t in tops[:4]],
                flush=True,
            )
        print("mean", order, np.round(np.mean(tot, 0), 3))
