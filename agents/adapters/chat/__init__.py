"""Language models as agents: how they are asked, and how their answers are read."""
