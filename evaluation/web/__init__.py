"""The server of ``c4 web``, a page to play, analyse and replay games."""

from c4env.geometry import require_standard

require_standard(__name__)
