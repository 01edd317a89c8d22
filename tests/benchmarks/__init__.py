"""Speed, measured beside what it is to be compared with, in one run."""
