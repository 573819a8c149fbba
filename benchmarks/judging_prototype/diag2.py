import sys

from v2 import *

nm = sys.argv[1]
opt = eval(sys.argv[2]) if len(sys.argv) > 2 else {}
k = int(sys.argv[3]) if len(sys.argv) > 3 else 5
pages, vocab, inv = load(nm)
keeps = judge2(pages, inv, opt)
d = []
evaluate(pages, vocab, keeps, detail=d)
d.sort()
for f, fp, fn, i in d[:: max(1, len(d) // (3 * k))][:k] if len(sys.argv) <= 4 else d[:k]:
    p = pages[i]
    kp = keeps[i]
    print("##", i, p.name, "F", round(f, 2), "fp", fp, "fn", fn, "of", int((p.truth > 0).sum()))
    lab = np.where(p.truth > 0, np.where(kp, "+", "-"), np.where(kp, "!", "."))
    out = ""
    last = None
    for j in range(len(p.words)):
        if p.chrome[p.block[j]] & 1:
            continue
        key = lab[j]
        if key != last:
            out += f" {key}["
            last = key
        elif j and p.block[j] != p.block[j - 1]:
            out += " /"
        out += " " + vocab[p.words[j]]
    import re

    segs = re.split(r" (?=[-+!.]\[)", out)
    for s in segs[:40]:
        w = s.split()
        print("   ", " ".join(w[:18]) + (f" ...({len(w)})" if len(w) > 18 else ""))
