"""What results say about strength: win tables, Elo ratings, sequential tests."""
