"""The search for an exact score: its kernels, the table they share, threads that run them."""
