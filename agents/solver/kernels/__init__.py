"""The exact search: kernels and their transposition table."""
