"""An agent that imports this repository's own agents: ``c4 run mine.py:agent random``."""

from agents import Centre

agent = Centre()
