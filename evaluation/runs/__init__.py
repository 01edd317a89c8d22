"""Play games and tournaments on workers."""
