import time

from real import *

nm = sys.argv[1]
fs = order(*SITES[nm][:2], 200)
pages = [scanned(body(f).encode("utf8", "replace")) for f in fs]


def t(label, fn):
    a = time.process_time()
    r = fn()
    print(f"{label:10} {(time.process_time() - a) / len(pages) * 1e6:.0f} us")
    return r


from sonde.kernels.text.tokens import tokenise

for _ in range(2):
    t(
        "tokens",
        lambda: [
            tokenise(p[0], np.empty(len(p[0]), np.intc), np.empty(len(p[0]), np.uint64))
            for p in pages
        ],
    )
    ims = t("imprint", lambda: [B.Imprint(p[0], p[2], p[3]) for p in pages])
    s = B.Site()
    t("learn", lambda: [s.learn(i) for i in ims])
    t("main", lambda: [s.main(i, np.zeros(i.words, np.uint8)) for i in ims])
    raw = [body(f).encode("utf8", "replace") for f in fs]
    t("scan", lambda: [scanned(r) for r in raw])
print(
    "words",
    sum(i.words for i in ims) / len(ims),
    "blocks",
    sum(i.blocks for i in ims) / len(ims),
    "nodes",
    sum(i.nodes for i in ims) / len(ims),
    "runs",
    sum(i.runs for i in ims) / len(ims),
    s.counts.live,
    s.counts.room,
    s.slots.live,
)
