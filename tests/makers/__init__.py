"""What made the data that ships: the opening book, the exam, the weights."""
