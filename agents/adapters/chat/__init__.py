"""Language models as agents: prompts, the endpoint, and the reading of answers."""
