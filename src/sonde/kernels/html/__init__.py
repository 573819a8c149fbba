"""Kernels of HTML: whether a page is in order, what it says, where its links lead."""
