"""One example for each learning library, and agents that play with the trained networks."""
