"""A game as a notebook shows it: its boards, and a slider to go from one to the next."""

from __future__ import annotations

__any_board__ = True

import html
from typing import TYPE_CHECKING, Final

from c4env.evaluation.tables import printable
from c4env.position import Position, parse_moves
from c4env.view.rendering import svg

if TYPE_CHECKING:
    from c4env.evaluation.store.record import GameRecord

SHOW: Final = (
    "const frames = this.closest('.c4-game').querySelectorAll('.c4-frame'); "
    "frames.forEach((frame, i) => frame.hidden = i != this.value)"
)


def replay_html(game: GameRecord) -> str:
    """The boards from the opening to the end, the last one shown; one moves through them."""
    start, end = len(game.opening), len(game.moves)
    frames = []
    for plies in range(start, end + 1):
        last = parse_moves(game.moves[plies - 1])[0] if plies else None
        hidden = " hidden" if plies < end else ""
        picture = svg(Position.parse(game.moves[:plies]), last)
        frames.append(f'<div class="c4-frame"{hidden}>{picture}</div>')
    first, second = (html.escape(printable(player)) for player in game.players)
    result = "a draw" if game.winner is None else f"{(first, second)[game.winner]} wins"
    why = html.escape(printable(f"{game.ending}: {game.reason}" if game.reason else game.ending))
    return (
        f'<div class="c4-game"><div>{first} (first) against {second}: {result} ({why})</div>'
        f"{''.join(frames)}"
        f'<input type="range" min="0" max="{end - start}" value="{end - start}" '
        f'aria-label="ply" style="width:396px" oninput="{SHOW}"></div>'
    )
