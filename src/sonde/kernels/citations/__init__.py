"""Kernels of the most cited: expanding, sampling and revisiting by weight."""
