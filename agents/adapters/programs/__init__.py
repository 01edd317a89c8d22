"""Agents that are separate programs, which read and write lines of text."""
