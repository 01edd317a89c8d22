"""Monte-Carlo tree search: by random playouts, or led by a policy and value function."""
