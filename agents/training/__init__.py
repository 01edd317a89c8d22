"""Training: self-play from random weights, AlphaZero in 200 lines, and library examples."""
