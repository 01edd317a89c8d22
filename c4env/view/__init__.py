"""Pictures of a board: text, pixels, SVG, and a window to play in."""
