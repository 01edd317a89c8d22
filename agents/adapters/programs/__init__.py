"""Other programs as agents, which read and write lines."""
