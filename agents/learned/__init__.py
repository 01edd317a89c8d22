"""A small network trained on exact scores, played with NumPy alone.

``features`` describes a position to it, ``network`` evaluates it, ``agent`` plays it. ``labels``
and ``train`` made the weights that come with the package, and make them again::

    python -m agents.learned.train --out DIR
"""
