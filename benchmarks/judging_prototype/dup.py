import math
from collections import Counter, defaultdict

from real import *

from sonde.kernels.text.shingles import shingled
from sonde.sources.web.twins import Twins, printed


def sets(nm, limit):
    fs = order(*SITES[nm][:2], limit)
    site = B.Site()
    out = []
    cpu = 0
    for f in fs:
        t, c, p, n = scanned(body(f).encode("utf8", "replace"))
        im = B.Imprint(t, p, n)
        site.learn(im)
        k = np.zeros(im.words, np.uint8)
        site.main(im, k)
        a = time.process_time()
        buf = np.empty(im.words, np.uint64)
        m = shingled(im, k, buf, True, True)
        s = np.unique(buf[:m])
        pr = printed(s)
        cpu += time.process_time() - a
        out.append((f.name, s, pr))
    return out, cpu / len(fs) * 1e6


def exact(S, J=0.9):
    freq = Counter()
    for s in S:
        freq.update(s.tolist())
    inv = defaultdict(list)
    pairs = []
    fz = [frozenset(s.tolist()) for s in S]
    for i, s in enumerate(S):
        n = len(s)
        if n < 10:
            continue
        pre = sorted(s.tolist(), key=lambda x: (freq[x], x))[: n - math.ceil(J * n) + 1]
        cand = set()
        for x in pre:
            cand.update(inv[x])
        for j in cand:
            m = len(S[j])
            if not (J * n <= m <= n / J):
                continue
            both = len(fz[i] & fz[j])
            jac = both / (n + m - both)
            if jac >= J:
                pairs.append((j, i, jac))
        for x in pre:
            inv[x].append(i)
    return pairs, fz


for nm in sys.argv[2:]:
    data, us = sets(nm, int(sys.argv[1]))
    pairs, fz = exact([d[1] for d in data])
    true = {i for j, i, _ in pairs}
    tw = Twins()
    flag = {}
    t0 = time.process_time()
    for i, (name, s, p) in enumerate(data):
        t = tw.find(p)
        if t:
            flag[i] = t
        tw.add(str(i), p)
    cpu = (time.process_time() - t0) / len(data) * 1e6

    def J(i, j):
        b = len(fz[i] & fz[j])
        return b / max(1, len(fz[i]) + len(fz[j]) - b)

    ex = {i: J(i, int(t.name)) for i, t in flag.items()}
    good = sum(x >= 0.9 for x in ex.values())
    print(
        f"{nm:14} pages {len(data)} true pages {len(true)} pairs {len(pairs)} flagged {len(flag)} P {good / max(1, len(flag)):.3f} R {len(true & set(flag)) / max(1, len(true)):.3f} least exact {min(ex.values(), default=1):.3f} | shingles {us:.0f} us, twins {cpu:.0f} us",
        flush=True,
    )
