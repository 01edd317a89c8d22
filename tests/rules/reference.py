"""The rules, the heuristics and the searches once more, slow and obvious.

What the kernels do with shifted bitboards is done here by looping over lists, straight
from the descriptions of the published systems, and shares no code with them. The tests
compare the two.

A board is a list of rows of cells, row 0 at the *bottom*; a cell is EMPTY, or the player 0
or 1 whose disc it holds. Functions that search change the board and put it back. The rules
are those of any size of a board, everything else of the usual one.
"""

import functools
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from c4env.boards import STANDARD, Size

ROWS, COLUMNS = STANDARD.rows, STANDARD.columns
EMPTY = -1
WIN = 1_000_000.0
CENTRE_FIRST = (3, 2, 4, 1, 5, 0, 6)
LEFT_TO_RIGHT = (0, 1, 2, 3, 4, 5, 6)

Board = list[list[int]]
Cells = tuple[tuple[int, int], ...]  # of one window, (row, column) each, in reading order
Key = tuple[tuple[int, ...], ...]


# -- the rules ---------------------------------------------------------------------


@functools.cache
def windows_towards(row_step: int, column_step: int, size: Size = STANDARD) -> list[Cells]:
    """Every line of cells in one direction that wins and lies on the board."""
    items = []
    for row in range(size.rows):
        for column in range(size.columns):
            steps = range(size.connect)
            cells = tuple((row + k * row_step, column + k * column_step) for k in steps)
            if all(0 <= r < size.rows and 0 <= c < size.columns for r, c in cells):
                items.append(cells)
    return items


@functools.cache
def windows(size: Size = STANDARD) -> list[Cells]:
    """Every line of cells that wins."""
    directions = (0, 1), (1, 0), (1, 1), (-1, 1)
    return [cells for step in directions for cells in windows_towards(*step, size)]


HORIZONTAL = windows_towards(0, 1)
VERTICAL = windows_towards(1, 0)
RISING = windows_towards(1, 1)
FALLING = windows_towards(-1, 1)
WINDOWS = windows()


def empty_board(size: Size = STANDARD) -> Board:
    return [[EMPTY] * size.columns for _ in range(size.rows)]


def board_after(moves: str) -> Board:
    """The board after 1-based columns; player 0 begins."""
    board = empty_board()
    for ply, digit in enumerate(moves):
        play(board, int(digit) - 1, ply % 2)
    return board


def play(board: Board, column: int, player: int) -> None:
    for row in board:
        if row[column] == EMPTY:
            row[column] = player
            return
    raise ValueError(f"column {column} is full")


def take_back(board: Board, column: int) -> None:
    for row in reversed(board):
        if row[column] != EMPTY:
            row[column] = EMPTY
            return
    raise ValueError(f"column {column} is empty")


def open_columns(board: Board) -> list[int]:
    """The columns with room, whether or not the game is over."""
    return [column for column, owner in enumerate(board[-1]) if owner == EMPTY]


def winner(board: Board, size: Size = STANDARD) -> int | None:
    for cells in windows(size):
        row, column = cells[0]
        disc = board[row][column]
        if disc == EMPTY:
            continue
        for row, column in cells:
            if board[row][column] != disc:
                break
        else:
            return disc
    return None


def winning_discs(board: Board, size: Size = STANDARD) -> set[tuple[int, int]]:
    """All cells of all lines that win."""
    return {
        cell
        for cells in windows(size)
        if len({board[r][c] for r, c in cells}) == 1 and board[cells[0][0]][cells[0][1]] != EMPTY
        for cell in cells
    }


def winning_columns(board: Board, player: int, size: Size = STANDARD) -> list[int]:
    """The columns where the player's disc wins at once; nobody has won."""
    items = []
    for column in open_columns(board):
        play(board, column, player)
        if winner(board, size) is not None:
            items.append(column)
        take_back(board, column)
    return items


def cells_completing_four(board: Board, player: int) -> set[tuple[int, int]]:
    """Cells that lie in a window whose three other cells hold the player's discs."""
    items = set()
    for cells in WINDOWS:
        for cell in cells:
            if all(board[r][c] == player for r, c in cells if (r, c) != cell):
                items.add(cell)
    return items


def is_over(board: Board, size: Size = STANDARD) -> bool:
    return winner(board, size) is not None or not open_columns(board)


def key(board: Board) -> Key:
    """Something to compare and hash."""
    return tuple(tuple(row) for row in board)


def negamax(
    board: Board, player: int, size: Size = STANDARD, known: dict[Key, int] | None = None
) -> tuple[int, int]:
    """Exact score of an undecided board for the player to move, and calls made.

    Without ``known``, which keeps the scores of a small board, nothing is remembered.
    """
    if known is not None and key(board) in known:
        return known[key(board)], 1
    cells, discs = size.rows * size.columns, sum(disc != EMPTY for row in board for disc in row)
    if winning_columns(board, player, size):
        best, nodes = (cells + 1 - discs) // 2, 1
    else:
        best, nodes = -cells if discs < cells else 0, 1
        for column in open_columns(board):
            play(board, column, player)
            score, below = negamax(board, 1 - player, size, known)
            take_back(board, column)
            best, nodes = max(best, -score), nodes + below
    if known is not None:
        known[key(board)] = best
    return best, nodes


def column_scores(
    board: Board, player: int, size: Size = STANDARD, known: dict[Key, int] | None = None
) -> list[int | None]:
    """The exact score of each column for the player, None where there is no room."""
    scores: list[int | None] = [None] * size.columns
    wins = winning_columns(board, player, size)
    for column in open_columns(board):
        if column in wins:
            scores[column] = negamax(board, player, size)[0]
            continue
        play(board, column, player)
        scores[column] = -negamax(board, 1 - player, size, known)[0]
        take_back(board, column)
    return scores


# -- random positions ----------------------------------------------------------------


def random_games(seed: int, count: int, least: int = 0, most: int = 41) -> Iterator[str]:
    """Distinct undecided positions of random play with ``least`` to ``most`` discs."""
    lots = random.Random(seed)
    seen = set()
    while len(seen) < count:
        plies = lots.randint(least, most)
        board, moves = empty_board(), ""
        while len(moves) < plies and not is_over(board):
            column = lots.choice(open_columns(board))
            play(board, column, len(moves) % 2)
            moves += str(column + 1)
        # An ending is seldom reached undecided: without the check none would be short.
        if len(moves) == plies and not is_over(board) and key(board) not in seen:
            seen.add(key(board))
            yield moves


def random_game(seed: int, size: Size) -> list[int]:
    """The columns of a game of random play, to its end."""
    lots = random.Random(seed)
    board, columns = empty_board(size), list[int]()
    while not is_over(board, size):
        columns.append(lots.choice(open_columns(board)))
        play(board, columns[-1], (len(columns) - 1) % 2)
    return columns


# -- the heuristics ------------------------------------------------------------------


def decided(board: Board, own: int) -> float | None:
    won_by = winner(board)
    return None if won_by is None else WIN if won_by == own else -WIN


def count(board: Board, player: int, discs: int) -> int:
    """Windows with exactly so many of the player's discs and none of the other's."""
    result = 0
    for (r0, c0), (r1, c1), (r2, c2), (r3, c3) in WINDOWS:
        window = (board[r0][c0], board[r1][c1], board[r2][c2], board[r3][c3])
        result += window.count(player) == discs and window.count(EMPTY) == 4 - discs
    return result


def in_centre(board: Board, player: int) -> int:
    return sum(row[3] == player for row in board)


def chain(board: Board, own: int) -> float:
    """The chain system: one pass over the windows, since the searches ask it most often."""
    n = [0, 0, 0, 0]
    other = 1 - own
    for (r0, c0), (r1, c1), (r2, c2), (r3, c3) in WINDOWS:
        window = (board[r0][c0], board[r1][c1], board[r2][c2], board[r3][c3])
        owns, others = window.count(own), window.count(other)
        if owns == 4:
            return WIN
        if others == 4:
            return -WIN
        if not others:
            n[owns] += 1
        if not owns:
            n[others] -= 1
    centre = 3 * in_centre(board, own) - 3 * in_centre(board, other)
    return ((0.01 * n[1] + 0.04 * n[2]) + 0.1 * n[3]) + centre


def window(board: Board, own: int) -> float:
    value = decided(board, own)
    if value is not None:
        return value
    other = 1 - own
    hopes = 10 * count(board, own, 3) + 5 * count(board, own, 2)
    fears = 8 * count(board, other, 3) + 4 * count(board, other, 2)
    return float(hopes - fears + 6 * in_centre(board, own))


def window_b(board: Board, own: int) -> float:
    value = decided(board, own)
    if value is not None:
        return value
    hopes = 5 * count(board, own, 3) + 2 * count(board, own, 2)
    return float(hopes - 4 * count(board, 1 - own, 3) + 3 * in_centre(board, own))


def is_supported(board: Board, row: int, column: int) -> bool:
    return row == 0 or board[row - 1][column] != EMPTY


def line_rule(window: tuple[int, ...], supported: tuple[bool, ...]) -> tuple[int, int]:
    """Value of a window read one way, and the player it counts for: the first rule that fits."""
    a, b, c, d = window
    sa, sb, sc, sd = supported
    if a != EMPTY and a == b == c and d == EMPTY and sd:
        return 16, a  # 1
    if a != EMPTY and a == b and c == d == EMPTY and sc and sd:
        return 8, a  # 2
    if a != EMPTY and a == b == d and c == EMPTY and sc:
        return 16, a  # 3
    if a != EMPTY and a == b and c == EMPTY and d != a and sc:
        return 4, a  # 4
    if a == EMPTY and b != EMPTY and b == c and d == EMPTY and sa and sd:
        return 4, b  # 5; 6 never fires
    if a != EMPTY and b == c == d == EMPTY and sb and sc and sd:
        return 4, a  # 7
    if a != EMPTY and b == c == EMPTY and d == a and sb and sc:
        return 4, a  # 8
    if a != EMPTY and b == c == EMPTY and sb and sc:
        return 2, a  # 9
    return 0, EMPTY  # 10


def line_score(board: Board, own: int) -> int:
    """The line system's score of an undecided board: every window from both ends."""
    score = 0
    for windows in (HORIZONTAL, VERTICAL, RISING, FALLING):
        for cells in windows:
            for reading in (cells, cells[::-1]):
                seen = tuple(board[r][c] for r, c in reading)
                supported = tuple(
                    windows is VERTICAL or is_supported(board, r, c) for r, c in reading
                )
                value, player = line_rule(seen, supported)
                score += value if player == own else -value
    return score


def lines(board: Board, own: int) -> float:
    value = decided(board, own)
    return float(line_score(board, own)) if value is None else value


def threats(board: Board, own: int) -> float:
    """Our own heuristic, counted as ``c4env.agents.heuristics.evaluations`` says, with its fitted
    weights."""
    value = decided(board, own)
    if value is not None:
        return value
    from c4env.agents.heuristics.weights import WEIGHTS  # numbers, no code

    weights = [float(weight) for weight in WEIGHTS]
    ready, guarded = weights[18:21], weights[21:24]
    pairs, slanted, singles = weights[24:27]
    columns, rows, first = weights[27:31], weights[31:37], weights[37]
    discs = [sum(row.count(player) for row in board) for player in (own, 1 - own)]
    ahead = (discs[0] > discs[1]) - (discs[0] < discs[1])
    total = first * (discs[0] - discs[1])
    for player, role, sign in ((own, (0, 1, 2)[ahead], 1), (1 - own, (0, 2, 1)[ahead], -1)):
        completing, others = (cells_completing_four(board, p) for p in (player, 1 - player))
        for row in range(ROWS):
            for column in range(COLUMNS):
                if board[row][column] == player:
                    total += sign * (columns[min(column, 6 - column)] + rows[row])
                elif board[row][column] == EMPTY and (row, column) in completing:
                    if row == 0 or board[row - 1][column] != EMPTY:
                        total += sign * ready[role]
                    elif (row - 1, column) in others:
                        total += sign * guarded[role]
                    else:
                        total += sign * weights[6 * role + row]
        for windows, pair in ((HORIZONTAL, pairs), (RISING, slanted), (FALLING, slanted)):
            for cells in windows:
                seen = [board[r][c] for r, c in cells]
                if 1 - player not in seen and seen.count(player) in (1, 2):
                    total += sign * (singles if seen.count(player) == 1 else pair)
    return total


HEURISTICS: dict[str, Callable[[Board, int], float]] = {
    "chain": chain,
    "lines": lines,
    "threats": threats,
    "window": window,
    "window-b": window_b,
}


# -- the searches --------------------------------------------------------------------


class System(NamedTuple):
    """A published depth-limited search."""

    evaluate: Callable[[Board, int], float]
    win: Callable[[int], float]  # value of a win with so many plies of depth remaining
    draw_is_evaluated: bool
    root_order: tuple[int, ...]
    inner_order: tuple[int, ...]


def chain_system(heuristic: str = "chain") -> System:
    """The chain system's rules, with any heuristic."""
    return System(HEURISTICS[heuristic], lambda _: WIN, True, LEFT_TO_RIGHT, CENTRE_FIRST)


WINDOW_SYSTEM = System(window, lambda left: 1000.0 + left, False, CENTRE_FIRST, CENTRE_FIRST)
WINDOW_B_SYSTEM = System(window_b, lambda _: WIN, False, LEFT_TO_RIGHT, LEFT_TO_RIGHT)


def minimax(board: Board, player: int, left: int, agent: int, system: System) -> tuple[float, int]:
    """Value for the agent with ``left`` plies of depth remaining, and boards looked at."""
    won_by = winner(board)
    if won_by is not None:
        return (system.win(left) if won_by == agent else -system.win(left)), 1
    columns = [column for column in system.inner_order if column in open_columns(board)]
    if not columns and not system.draw_is_evaluated:
        return 0.0, 1
    if not columns or left == 0:
        return system.evaluate(board, agent), 1
    values, nodes = [], 1
    for column in columns:
        play(board, column, player)
        value, below = minimax(board, 1 - player, left - 1, agent, system)
        take_back(board, column)
        values.append(value)
        nodes += below
    return (max(values) if player == agent else min(values)), nodes


def best_column(board: Board, agent: int, depth: int, system: System) -> tuple[int, float, int]:
    """The first column of the greatest value in root order, that value, and boards looked at."""
    chosen: tuple[int, float] | None = None
    nodes = 0
    for column in system.root_order:
        if column in open_columns(board):
            play(board, column, agent)
            value, below = minimax(board, 1 - agent, depth - 1, agent, system)
            take_back(board, column)
            nodes += below
            if chosen is None or value > chosen[1]:
                chosen = column, value
    assert chosen is not None
    return *chosen, nodes
