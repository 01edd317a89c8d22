"""Tests of every board: they play on the one of their process, ``C4ENV_BOARD``."""
