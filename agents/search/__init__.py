"""Minimax and alpha-beta search: to a fixed depth, with a table, or by the clock."""
