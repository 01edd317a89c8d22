"""Judge a folder of anybody's games: which moves lost, where and how, on one page.

python docs/examples/judge_an_arena.py FOLDER --html arena.html

Needs games in a format that c4env reads, such as the episodes of Kaggle's Game Arena. Other files
are left out, with a line each. For 42 games of seven agents it took 10 seconds and printed:

    player                      accuracy               optimal  giving_away                 loss
    dahlia         98.6% (96.4 .. 100.0)  88.7% (81.3 .. 94.1)         0.8%  0.17 (0.08 .. 0.29)
    birch-large     83.5% (69.4 .. 92.3)  80.1% (73.1 .. 85.7)         8.3%  0.65 (0.39 .. 1.01)
    ...

The page shows for each player the accuracy with its interval, the first move of a game that lost
it, the moves that cost most, and all games with the exact score of every column.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from c4env import evaluation

ENDINGS = ".csv", ".json", ".jsonl", ".txt"


def games_in(folder):
    """Return the games of all files in a folder, and a line for each file without such games."""
    games, left_out = [], []
    for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS):
        try:
            games += evaluation.read_games(path).games
        except ValueError as error:  # a damaged file, or another game
            left_out.append(str(error))
    return games, left_out


def c4(*words, **options):
    """Run a command of c4env; a command that fails has said why."""
    command = [sys.executable, "-m", "c4env.evaluation", *map(str, words)]
    if code := subprocess.run(command, check=False, **options).returncode:
        sys.exit(code)


def judge(folder, html, out=None):
    """Write the page of a folder of games, and print how accurate each player is."""
    games, left_out = games_in(folder)
    for line in left_out:
        print("left out:", line, file=sys.stderr)
    if not games:
        sys.exit(f"{folder} has no games: expected a folder of {', '.join(ENDINGS)} files")
    with tempfile.TemporaryDirectory() as temporary:
        found = Path(temporary, folder.resolve().name)  # the page has its name as the title
        found.mkdir()
        (found / "games.json").write_text(json.dumps([game.values() for game in games]), "utf-8")
        scores = out or temporary
        c4("report", found, "--html", html, "--out", scores, stdout=subprocess.DEVNULL)
        c4("quality", found, "--out", scores)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Judge a folder of games")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="files of games")
    parser.add_argument("--html", default="arena.html", help="the page, default %(default)s")
    parser.add_argument("--out", metavar="DIR", help="keep the exact scores for the next time")
    arguments = parser.parse_args()
    judge(arguments.folder, arguments.html, arguments.out)
