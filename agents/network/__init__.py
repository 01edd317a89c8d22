"""The shipped network for policy and value: its input, its output, and the agent ``learned``."""
