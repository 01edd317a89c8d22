"""The search for exact scores: its kernels and their transposition table."""
