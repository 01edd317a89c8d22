"""Exact reproductions of published systems with their published settings."""
