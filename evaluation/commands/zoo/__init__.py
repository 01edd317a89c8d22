"""An agent by itself: described, tried, written, served to other programs."""
