"""Monte Carlo tree search, with random playouts or with a policy and value function."""
