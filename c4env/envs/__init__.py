"""The environments: two players (AEC), one player against an opponent, and many boards."""
