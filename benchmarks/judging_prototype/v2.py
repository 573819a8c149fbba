import re
import sys

import numpy as np
from proto import *

DIG = re.compile(r"[0-9]+")
HEAD = set("h1 h2 h3 h4 h5 h6".split())


def prep(p):
    """split linkish blocks at link boundaries; recompute keys"""
    if hasattr(p, "pk"):
        return
    n = len(p.words)
    lk = p.linkish[p.block]
    cut = np.zeros(n, bool)
    cut[p.starts] = True
    if n > 1:
        cut[1:] |= lk[1:] & (p.link[1:] != p.link[:-1])
    st = np.nonzero(cut)[0]
    pb = np.cumsum(cut) - 1
    en = np.append(st[1:], n)
    h = mix(p.words + 1)
    pos = np.arange(n) - st[pb]
    ln = en - st
    p.pst, p.pen, p.pb = st, en, pb
    p.plink = p.linkish[p.block[st]]
    p.pk = mix(
        np.add.reduceat(h * POW[pos], st)
        + ln.astype(np.uint64)
        + np.where(p.plink, np.uint64(1 << 40), np.uint64(0))
    )


def ctxs(pages, inv, m):
    memo = {}

    def get(x):
        r = memo.get(x)
        if r is None:
            y = x
            out = []
            while y and len(out) < m:
                par, tag, i, cl, role = inv[y]
                if tag in ("html", "body"):
                    break
                out.append((tag, DIG.sub("", cl)))
                y = par
            r = memo[x] = hash(tuple(out)) & 0xFFFFFFFFFFFFFFFF
        return r

    for p in pages:
        c = np.array([get(int(x)) for x in p.paths], np.uint64)
        p.bk = mix(p.bkey + c)
        p.pk2 = mix(p.pk + c[p.block[p.pst]])
        p.rk = p.rkey


def judge2(pages, inv, o, correct=True):
    for p in pages:
        prep(p)
    ctxs(pages, inv, o.get("ctx", 0))
    T = {}
    IDS = {}
    SL = {}  # slot key -> [W,R,N,L]
    keeps = []
    n = 0
    cache = {}
    th = o.get("theta", 0.3)
    thin = o.get("thin", 0.8)
    minp = o.get("minp", 4)
    heads = {}
    heads1 = {}

    def chain_of(path, c):
        if not path:
            return ()
        r = c.get(path)
        if r is not None:
            return r
        par, tag, i, cl, role = inv[path]
        up = chain_of(par, c) if par else ()
        if tag in ("html", "body"):
            cl = ""
            i = ""
        if i and IDS.get(i, 0) < max(3, 0.1 * min(n, 100)):
            i = ""
        k = hash((up[-1] if up else 0, tag, DIG.sub("", cl), DIG.sub("", i), role))
        r = c[path] = up + (k,)
        return r

    def isin(path, what):
        while path:
            par, tag, i, cl, role = inv[path]
            if tag in what:
                return True
            path = par
        return False

    def allids(p):
        s = set()
        for x in set(p.paths.tolist()):
            while x:
                par, tag, i, cl, role = inv[x]
                if i:
                    s.add(i)
                x = par
        return s

    def thr(n):
        return max(3, min(8, -(-n // 100))), max(5, min(50, -(-n // 20))), max(2, -(-n // 2))

    def counts(p, n, lt=None):
        link, text, strongt = thr(n)
        if lt:
            link, text = min(link, lt), min(text, lt)
        bc = np.array([T.get(k, 0) for k in p.bk.tolist()])
        rc = np.array([T.get(k, 0) for k in p.rkey.tolist()], dtype=int)
        pc = np.array([T.get(k, 0) for k in p.pk2.tolist()])
        rep = (bc >= np.where(p.linkish, link, text))[p.block]
        st = (bc >= strongt)[p.block]
        rep |= (pc >= np.where(p.plink, link, text))[p.pb]
        st |= (pc >= strongt)[p.pb]
        for at in p.rat[rc >= text].tolist():
            rep[at : at + K] = True
        for at in p.rat[rc >= strongt].tolist():
            st[at : at + K] = True
        rep |= st
        return rep, st

    def strong80(p, n):
        t = max(2, -(-4 * n // 5))
        bc = np.array([T.get(k, 0) for k in p.bk.tolist()])
        rc = np.array([T.get(k, 0) for k in p.rk.tolist()], dtype=int)
        pc = np.array([T.get(k, 0) for k in p.pk2.tolist()])
        st = (bc >= t)[p.block] | (pc >= t)[p.pb]
        for at in p.rat[rc >= t].tolist():
            st[at : at + K] = True
        return st

    def visible(p):
        return (p.chrome[p.block] & o.get("vis", 1)) == 0

    def decide(p, n, new=False):
        vis = visible(p)
        rep, st = counts(p, n)
        c = {}
        bvis = vis[p.starts]
        chains = [chain_of(int(x), c) for x in p.paths]
        # core: longest run of own words over visible text, links count less
        idx = np.nonzero(vis)[0]
        if len(idx) == 0:
            return np.zeros(len(p.words), bool)
        r2 = rep[idx]
        best = None
        own = ~r2
        ownw = (~rep) & vis
        nl = np.add.reduceat((ownw & (p.link == 0)).astype(int), p.starts)
        al = np.add.reduceat(ownw.astype(int), p.starts)
        if o.get("head", 0):
            nl = nl * 1
        hbk = int(np.lexsort((np.arange(len(nl)) * -1, al, nl))[-1])
        if al[hbk] == 0:
            # nothing of its own: all that is not strong
            out = np.zeros(len(p.words), bool)
            out[idx] = True
            return out & ~rep if o.get("none") else out & ~st
        if new:
            for s in chains[hbk]:
                SL[s][4] += 1
        hb = set(chains[hbk])
        a = int(np.searchsorted(idx, p.starts[hbk]))
        bad = np.zeros(len(chains), np.int8)
        tm = o.get("tm") and mainpages >= 0.9 * n
        for b_, ch in enumerate(chains):
            if not bvis[b_]:
                continue
            inm = tm and p.main[b_] & 1
            for s in ch:
                if s in hb:
                    continue
                e = SL.get(s)
                if e is None or e[2] < max(minp, o.get("mn", 0) * n):
                    continue
                if inm and e[2] < 0.8 * n:
                    continue
                if o.get("cs") and e[4] * o["cs"] >= e[2]:
                    continue
                if e[1] >= thin * e[0] and e[3] * 2 >= e[0]:
                    bad[b_] = 2
                    break
                if e[1] >= th * e[0]:
                    bad[b_] = 1
                    break
                if (
                    o.get("nav")
                    and not inm
                    and n >= 10
                    and e[3] >= o["nav"] * e[0]
                    and e[2] >= o.get("navn", 0.8) * n
                ):
                    bad[b_] = 1
                    break
        hd = np.array([heads.setdefault(int(x), isin(int(x), HEAD)) for x in p.paths])
        h1 = np.array([heads1.setdefault(int(x), isin(int(x), ("h1",))) for x in p.paths])
        wb = bad[p.block]
        own_head = hd[p.block] & ~rep
        if tm:
            st = st & ~((p.main[p.block] & 1 > 0) & ~strong80(p, n))
        ch1 = ((wb >= 1) & ~own_head) | st
        ch2 = (wb == 2) & ~own_head
        out = np.ones(len(p.words), bool)
        m = ch1[idx]
        # edges: maximal chrome prefix and suffix, allowing for gaps of own words <= gap
        k = len(idx)
        g = o.get("gap", 0)
        oh = own_head[idx]
        ow1 = (h1[p.block] & ~rep)[idx] if o.get("thru") == 1 else oh
        rr = runs_of(m)
        lo = 0
        hi = k
        for v, x, y in rr:
            if v:
                lo = y
            elif (y - x > g or (x <= a < y)) and not (o.get("thru") and ow1[x:y].all()):
                break
        for v, x, y in rr[::-1]:
            if v:
                hi = x
            elif (y - x > g or (x <= a < y)) and not (o.get("thru") and ow1[x:y].all()):
                break
        keep = np.zeros(k, bool)
        if lo < hi:
            keep[lo:hi] = True
        else:
            keep = ~m
        keep |= oh
        ok = ~ch2[idx]
        if o.get("trust") and mainpages >= 0.9 * n:
            ok |= (p.main[p.block[idx]] & 1) > 0
        if o.get("dropst"):
            ok2 = ~st[idx]
        else:
            ok2 = np.ones(k, bool)
        if o.get("trust") and mainpages >= 0.9 * n and o.get("dropst") != 2:
            ok2 |= (p.main[p.block[idx]] & 1) > 0
        keep &= ok & ok2
        if o.get("guard"):
            ow = ~rep[idx]
            if o.get("gl"):
                ow = ow & (p.link[idx] == 0)
            if (ow & ~keep).sum() * o["guard"] > (ow & keep).sum():
                keep = ~st[idx] & (wb[idx] < (2 if o.get("g2") else 9)) | oh
        out = np.zeros(len(p.words), bool)
        out[idx] = keep
        return out

    mainpages = 0
    for i, p in enumerate(pages):
        n += 1
        prep(p)
        vw = visible(p)
        VIS = vw[p.starts]
        keys = set(p.bk[VIS].tolist()) | set(p.pk2[vw[p.pst]].tolist())
        if len(p.rat):
            keys |= set(p.rkey[VIS[p.block[p.rat]]].tolist())
        for k in keys:
            T[k] = T.get(k, 0) + 1
        for d in allids(p):
            IDS[d] = IDS.get(d, 0) + 1
        if (p.main & 1).any():
            mainpages += 1
        rep, st = counts(p, n, o.get("lt"))
        c = {}
        seen = set()
        for b, x in enumerate(p.paths.tolist()):
            if not VIS[b]:
                continue
            s0, e0 = p.starts[b], p.ends[b]
            w = int(e0 - s0)
            r = int(rep[s0:e0].sum())
            l = int(p.linkw[b])
            for s in chain_of(x, c):
                e = SL.setdefault(s, [0, 0, 0, 0, 0])
                e[0] += w
                e[1] += r
                e[3] += l
                if s not in seen:
                    seen.add(s)
                    e[2] += 1
        keeps.append(decide(p, n, True))
        if correct and n == 10:
            for j in range(10):
                keeps[j] = decide(pages[j], 10)
    return keeps


def run(names, opts, order="bfs", fn=judge2):
    tot = {k: [] for k in opts}
    base = []
    for nm in names:
        try:
            pages, vocab, inv = load(nm, order=order)
        except FileNotFoundError:
            continue
        tops = topics(pages, vocab)
        a = evaluate(pages, vocab, today(pages), tops)
        base.append(a)
        line = f"{nm:15}" + " ".join(f"{x:.2f}" for x in a[2:])
        for k, opt in opts.items():
            b = evaluate(pages, vocab, fn(pages, inv, opt), tops)
            tot[k].append(b)
            line += f" | {b[0]:.2f} {b[1]:.2f} " + " ".join(f"{x:.3f}" for x in b[2:])
        print(line, flush=True)
    print("today", np.round(np.mean(base, 0), 3))
    for k in opts:
        print(
            k,
            np.round(np.mean(tot[k], 0), 3),
            "min F",
            round(min(x[2] for x in tot[k]), 3),
            "worst loss",
            round(max(y[2] - x[2] for x, y in zip(tot[k], base)), 3),
        )


if __name__ == "__main__":
    opts = {k: dict(dict(trust=1, dropst=1), **v) for k, v in eval(sys.argv[1]).items()}
    run(sys.argv[2:] or DEV, opts)
