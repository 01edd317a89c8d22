"""Games that a person plays, or looks at."""
