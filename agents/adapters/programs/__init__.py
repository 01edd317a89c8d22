"""Other programs as agents: asked and answering in lines, started and ended with their owner."""
