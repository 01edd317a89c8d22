"""Networks that learn: self-play from zero, AlphaZero in 200 lines, and an example a library."""
