import numpy as np
from real import *

f = order(*SITES["cppreference"][:2], 1)
t, c, p, n = scanned(body(f[0]).encode())
print(len(t), p.shape, n.shape, flush=True)
from sonde.kernels.text.tokens import tokenise

s = np.empty(len(t), np.intc)
k = np.empty(len(t), np.uint64)
print(tokenise(t, s, k), flush=True)
from sonde.kernels.text.lossy_counting import LossyCounting

L = LossyCounting(10, 2, 0)
L.turn()
print(L.see(5), L.count(5), flush=True)
[L.see(i * 7919) for i in range(1000)]
L.close()
print(L.live, flush=True)
im = B.Imprint(t, p, n)
print(im.words, im.blocks, flush=True)
S = B.Site()
print("site", flush=True)
S.learn(im)
print("learnt", flush=True)
k = np.zeros(im.words, np.uint8)
S.main(im, k)
print(k.sum(), flush=True)
print(len(B.spans(im, k)))
