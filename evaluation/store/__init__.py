"""What is kept on disk: games, scores, and the files they are written to."""
