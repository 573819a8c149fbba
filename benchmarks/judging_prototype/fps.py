import collections
import sys

from v2 import *

nm = sys.argv[1]
opt = eval(sys.argv[2])
pages, vocab, inv = load(nm)
tops = topics(pages, vocab)
keeps = judge2(pages, inv, opt)
c = collections.Counter()
ex = {}


def name(x):
    out = []
    while x:
        par, tag, i, cl, role = inv[x]
        out.append(tag + ("#" + i if i else "") + ("." + cl.replace(" ", ".") if cl else ""))
        x = par
    return ">".join(out[::-1][1:])


for i, (p, k) in enumerate(zip(pages, keeps)):
    if not p.has:
        continue
    for t in tops:
        at = np.nonzero((p.words == t) & k)[0]
        if len(at) and not ((p.words == t) & (p.truth > 0)).any():
            b = p.block[at[0]]
            key = (vocab[t], name(p.paths[b])[-110:])
            c[key] += 1
            ex.setdefault(
                key, (i, " ".join(vocab[w] for w in p.words[max(0, at[0] - 8) : at[0] + 8]))
            )
for k, v in c.most_common(int(sys.argv[3]) if len(sys.argv) > 3 else 8):
    print(v, k, ex[k])
