"""Other programs as agents, which read and write lines and end with their owner."""
