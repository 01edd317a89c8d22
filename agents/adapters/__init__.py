"""Other people's agents as agents of the zoo, one adapter a module; README.md has the protocols."""
