"""Kernels of recorded graphs: building them, coverage, reach, and how a crawl compares."""
