"""Minimax and alpha-beta searches: fixed-depth, with a table, and iterative deepening."""
