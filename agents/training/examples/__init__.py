"""One example a learning library, and the agents they train."""
