"""Who plays whom from which openings, decided before the first game."""
