"""Kernels of the model: the frontier table, what ranks it, what learns, the loop over a graph."""
