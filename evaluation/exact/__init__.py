"""Judge agents and heuristics by exact play."""

from c4env.geometry import require_standard

require_standard(__name__)
