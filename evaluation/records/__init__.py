"""Store games, scores and answers in files."""
