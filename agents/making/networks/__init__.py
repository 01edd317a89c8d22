"""Networks as agents, in one shape: :mod:`~c4env.agents.making.networks.network`."""
