"""The server of ``c4 web``, a page to play, analyse and replay games."""
