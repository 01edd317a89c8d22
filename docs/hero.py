"""The moving board of the README: python -m docs.hero .github/pictures/hero.gif (needs Pillow).

A game of greedy against perfect. Below each column stands its exact score for the side to move.
Below a blunder stand the scores before it, and a red square marks its disc.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from c4env import Position, agents
from c4env.agents.solver import Solver
from c4env.render import rgb_array

PLAYERS: Final = ("greedy", "perfect")
SIDES: Final = ("Red", "Yellow")
SCALE: Final = 4  # pixels of a unit of the picture: a cell has 13 units, the frame 4
HEAD, FOOT = 32, 36  # pixels above and below the board
BACK, WORDS = (21, 27, 38), (240, 244, 250)  # dark, so that it glares on no page
WIN, DRAW, LOSS = (92, 214, 140), (170, 178, 192), (255, 128, 118)
RESULTS: Final = {1: "win", 0: "draw", -1: "loss"}


def main(path: Path) -> None:
    """Play the game and write it."""
    players = [agents.make(name) for name in PLAYERS]
    for player in players:
        player.reset(1)
    solver, position = Solver(), Position()
    frames = [drawn(position, None, scores := solver.scores(position), "greedy begins", False)]
    holds = [1600]
    while position.outcome is None:
        mover, before = position.to_move, max(s for s in scores if s is not None)
        column = players[mover].choose(position)
        asked, kept = scores, scores[column]
        assert kept is not None
        position = position.play(column)
        blunder = np.sign(kept) != np.sign(before)
        who = f"{SIDES[mover]} ({PLAYERS[mover]})"
        results = (RESULTS[int(np.sign(score))] for score in (before, kept))
        words = "{}: from {} to {}".format(who, *results)
        outcome = position.outcome
        if outcome is not None:
            scores = [None] * 7
            words = f"{who} wins" if outcome.winner is not None else "a draw"
        else:
            scores = solver.scores(position)
            words = words if blunder else f"{SIDES[1 - mover]} ({PLAYERS[1 - mover]}) to move"
        shown = asked if blunder else scores  # of the side that erred
        frames.append(drawn(position, column, shown, words, bool(blunder)))
        holds.append(3000 if outcome is not None else 2600 if blunder else 700)
    first, *others = (frame.quantize(64, Image.Quantize.MAXCOVERAGE) for frame in frames)
    first.save(path, save_all=True, append_images=others, duration=holds, loop=0, optimize=True)


def drawn(
    position: Position, last: int | None, scores: list[int | None], words: str, blunder: bool
) -> Image.Image:
    """A frame: words, the board, the scores."""
    board = Image.fromarray(rgb_array(position, last, screen_scaling=SCALE))
    round_corners = Image.new("L", board.size)
    whole = (0, 0, board.width - 1, board.height - 1)
    ImageDraw.Draw(round_corners).rounded_rectangle(whole, 6 * SCALE, 255)
    frame = Image.new("RGB", (board.width, board.height + HEAD + FOOT), BACK)
    frame.paste(board, (0, HEAD), round_corners)
    draw = ImageDraw.Draw(frame)
    font, large = ImageFont.load_default(17), ImageFont.load_default(20)
    colour = LOSS if blunder else WORDS
    draw.text((frame.width / 2, HEAD / 2), words, colour, font, anchor="mm")
    cell, edge = 13 * SCALE, 4 * SCALE
    for column, score in enumerate(scores):
        if score is not None:
            shade = WIN if score > 0 else LOSS if score < 0 else DRAW
            where = (edge + (column + 0.5) * cell, frame.height - FOOT / 2)
            draw.text(where, f"{score:+d}" if score else "0", shade, large, anchor="mm")
    if blunder and last is not None:
        row = 6 - sum(bool(position.discs(p) >> 7 * last + h & 1) for p in (0, 1) for h in range(6))
        middle = (edge + (last + 0.5) * cell, HEAD + edge + (row + 0.5) * cell)
        x, y, half = *middle, 0.49 * cell
        draw.rectangle((x - half, y - half, x + half, y + half), outline=LOSS, width=5)
    return frame


if __name__ == "__main__":
    main(Path(sys.argv[1]))
