"""What a board looks like: text, pixels, SVG, and a window to play in."""
