"""From a spec (``alphabeta:depth=7``) to an agent: the table of all agents, and its reader."""
