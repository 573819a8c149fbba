from real import *

from sonde.kernels.text.shingles import digest, shingled
from sonde.kernels.text.simhash import distinct
from sonde.sources.web.staleness import Said, Staleness
from sonde.sources.web.traps import TrapDetector


def said(im, k):
    buf = np.empty(im.words, np.uint64)
    m = shingled(im, k, buf, False, True)
    s = np.sort((buf[:m] >> np.uint64(32)).astype(np.uint32))
    s = s[: distinct(s)]
    w, _ = digest(im, k, False, True)
    b, n = digest(im, k, False, False)
    return Said(s, w, b, n)


if __name__ == "__main__":
    for nm in sys.argv[2:]:
        folder = SITES[nm][0].resolve()
        fs = order(*SITES[nm][:2], int(sys.argv[1]))
        site = B.Site()
        S = Staleness()
        old = TrapDetector()
        ref = 0
        refold = 0
        stale = 0
        rep = 0
        v = 0
        for f in fs:
            url = "http://h.example/" + str(f.relative_to(folder))
            t, c, p, n = scanned(body(f).encode("utf8", "replace"))
            if old.verdict(url, "h.example"):
                refold += 1
            else:
                old.observe(url, c.decode())
            if S.verdict(url):
                ref += 1
                continue
            im = B.Imprint(t, p, n)
            site.learn(im)
            k = np.zeros(im.words, np.uint8)
            site.main(im, k)
            a, b = S.observe(url, said(im, k), 0)
            stale += not a
            rep += b
            v += 1
        print(
            f"{nm:14} pages {len(fs)} stale {stale} repeats {rep} refused {ref} (before {refold})",
            flush=True,
        )
