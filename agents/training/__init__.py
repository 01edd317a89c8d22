"""Networks that learn: the one that ships, self-play from zero, and an example for each library."""
