import sys

import numpy as np
from proto import *


def slots(pages, inv, ids):
    # map path id -> slot chain (list of slot ids root..leaf)
    table = {}
    chain = {0: ()}

    def get(p):
        c = chain.get(p)
        if c is None:
            par, tag, i, cl, role = inv[p]
            up = get(par)
            key = (up[-1] if up else 0, tag, cl, i if ids else "", role)
            s = table.setdefault(key, len(table) + 1)
            c = chain[p] = up + (s,)
        return c

    for p in pages:
        p.chain = [get(int(x)) for x in p.paths]
    return len(table)


def judge(pages, inv, opt, correct=True):
    ns = slots(pages, inv, opt.get("ids", 0))
    W = np.zeros(ns + 1, np.int64)
    R = np.zeros(ns + 1, np.int64)
    N = np.zeros(ns + 1, np.int64)
    T = {}
    keeps = []
    n = 0
    tr = opt.get("trust", 0)
    mainpages = 0
    outside = [0, 0]

    def counts(p, n):
        link = max(3, min(8, -(-n // 100)))
        text = max(5, min(50, -(-n // 20)))
        strongt = max(2, -(-n // 2))
        bc = np.array([T.get(k, 0) for k in p.bkey.tolist()])
        rc = np.array([T.get(k, 0) for k in p.rkey.tolist()], dtype=int)
        rep = (bc >= np.where(p.linkish, link, text))[p.block]
        st = (bc >= strongt)[p.block]
        for at in p.rat[rc >= text].tolist():
            rep[at : at + K] = True
        for at in p.rat[rc >= strongt].tolist():
            st[at : at + K] = True
        rep |= st
        return rep, st

    def visible(p):
        if opt.get("chrome", 1) == 1:
            return (p.chrome[p.block] & 1) == 0
        return (p.chrome[p.block] & 6) == 0

    def learn(p, rep):
        w = np.add.reduceat(np.ones(len(p.words), np.int64), p.starts)
        r = np.add.reduceat(rep.astype(np.int64), p.starts)
        seen = set()
        for b, c in enumerate(p.chain):
            if not VIS[b]:
                continue
            for s in c:
                W[s] += w[b]
                R[s] += r[b]
                if s not in seen:
                    seen.add(s)
                    N[s] += 1

    def decide(p, n):
        vis = visible(p)
        rep, st = counts(p, n)
        if opt.get("slot"):
            hi, minp = opt["slot"], opt.get("minp", 5)
            bad = np.zeros(len(p.chain), bool)
            good = np.zeros(len(p.chain), bool)
            for b, c in enumerate(p.chain):
                for s in c:
                    if N[s] >= minp and R[s] >= hi * W[s]:
                        bad[b] = True
                        break
                if opt.get("lo"):
                    s = c[-1]
                    if N[s] >= minp and R[s] <= opt["lo"] * W[s]:
                        good[b] = True
            rep = rep | bad[p.block]
            if opt.get("sst", 1):
                st = st | bad[p.block]
            if opt.get("lo"):
                rep = rep & ~(good[p.block] & ~st)
        idx = np.nonzero(vis)[0]
        out = np.zeros(len(p.words), bool)
        m = core(rep[idx], st[idx], opt)
        out[idx] = ~m
        if tr and mainpages >= 0.9 * n:
            inm = (p.main[p.block] & 1) > 0
            if tr == 2:
                out = np.where(
                    inm, vis if not opt.get("tedge") else ~edges(rep, st, vis & inm), out & False
                )
            else:
                out = out | (inm & vis)
        return out

    def edges(rep, st, vis):
        idx = np.nonzero(vis)[0]
        o = np.ones(len(rep), bool)
        o[idx] = core(rep[idx], st[idx], dict(opt, open=10**9, keepstrong=1))
        return o

    for i, p in enumerate(pages):
        n += 1
        vw = visible(p)
        VIS = vw[p.starts]
        keys = set(p.bkey[VIS].tolist())
        if len(p.rat):
            keys |= set(p.rkey[VIS[p.block[p.rat]]].tolist())
        for k in keys:
            T[k] = T.get(k, 0) + 1
        if (p.main & 1).any():
            mainpages += 1
        if opt.get("slot"):
            learn(p, counts(p, n)[0])
        keeps.append(decide(p, n))
        if correct and n == 10:
            for j in range(10):
                keeps[j] = decide(pages[j], 10)
    return keeps


def core(rep, st, opt):
    n = len(rep)
    rep = rep.copy()
    OPEN = opt.get("open", 8)
    EDGE = opt.get("edge", 10)
    rs = runs_of(rep)
    own = [(b - a, -a) for v, a, b in rs if not v]
    if not own:
        return rep
    H = -max(own)[1]
    lo = 0
    hi = n
    for seq, back in ((rs, False), (rs[::-1], True)):
        to = None
        for v, a, b in seq:
            if not v:
                if b - a > EDGE or a == H:
                    break
            elif st[a:b].any() or not opt.get("needstrong", 1):
                to = a if back else b
        if to is not None:
            if back:
                rep[to:] = True
                hi = to
            else:
                rep[:to] = True
                lo = to
    for v, a, b in runs_of(rep):
        if v and b - a <= OPEN and a > lo and b < hi:
            if opt.get("keepstrong"):
                rep[a:b] = False
            else:
                rep[a:b] &= st[a:b]
    return rep


def run(names, opts, order="bfs"):
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
        for k, o in opts.items():
            b = evaluate(pages, vocab, judge(pages, inv, o), tops)
            tot[k].append(b)
            line += f" | {b[0]:.2f} {b[1]:.2f} " + " ".join(f"{x:.3f}" for x in b[2:])
        print(line, flush=True)
    print("today", np.round(np.mean(base, 0), 3))
    for k in opts:
        print(k, np.round(np.mean(tot[k], 0), 3))


if __name__ == "__main__":
    opts = {
        "trust2": dict(trust=2),
        "tedge": dict(trust=2, tedge=1),
        "chrome2": dict(trust=2, chrome=2),
    }
    run(sys.argv[1:] or DEV, opts)
