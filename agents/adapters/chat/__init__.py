"""Language models as agents: prompts, requests, and parsing of answers."""
