"""The environments: for one game, one side, or thousands of boards at once."""
