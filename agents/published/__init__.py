"""Agents of published systems, reproduced exactly, with their published settings."""
