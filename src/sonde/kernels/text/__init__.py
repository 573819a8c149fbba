"""Kernels of text: folding, words, fingerprints, and the wikis' own markup."""
