import sys

sys.path.insert(0, "REPO/src")
import sonde.kernels as K

K.PACKAGES = ("text",)
py = K.load("python")
B = py.boilerplate
print(B.__file__)
import real

f = real.order(*real.SITES["cppreference"][:2], 12)
s = B.Site()
import numpy as np

for x in f:
    t, c, p, n = real.scanned(real.body(x).encode())
    im = B.Imprint(t, p, n)
    s.learn(im)
    k = np.zeros(im.words, np.uint8)
    s.main(im, k)
    print(
        x.name, im.words, im.blocks, im.parts, im.runs, im.nodes, int(k.sum()), len(B.spans(im, k))
    )
