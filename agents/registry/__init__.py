"""From a spec such as ``alphabeta:depth=7`` to an agent: the table of agents and ``make``."""
