"""One example for each learning library, and agents that play what the examples trained."""
