"""What can go wrong with rules and environments; every error is a ``ValueError``."""


class C4Error(ValueError):
    """Base of every error this project raises about its input."""


class InvalidNotation(C4Error):
    """A text is not a list of moves or a drawn board."""


class InvalidPosition(C4Error):
    """A board that no game of Connect Four reaches."""


class IllegalMove(C4Error):
    """A column that is full, not on the board, or played after the end of the game."""


class InvalidAction(C4Error):
    """An action that is not an integer 0..6."""


class InvalidObservation(C4Error):
    """An array that does not show a Connect Four board."""


class UnknownRenderMode(C4Error):
    """A render mode the environment does not have."""


class InvalidOption(C4Error):
    """An option of an environment or of ``reset`` that is unknown or has a wrong value."""
