"""What made the data that ships: the opening book and the exam."""
