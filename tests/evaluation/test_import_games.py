"""Games of other programs become a run; what is wrong with one is one line."""

import json
import re
import shutil

import numpy as np
import pytest

from c4env import evaluation
from c4env.errors import C4Error, InvalidOption, UnreadableRun
from c4env.evaluation import read_games, read_run
from c4env.evaluation.__main__ import main
from c4env.evaluation.records.game import GameRecord
from tests.helpers.commands import refusal
from tests.helpers.paths import DATA

FILES = DATA / "elsewhere"
WON = "4455667"  # four in the bottom row

REAL = {  # files that the programs wrote: the names to add, and the game
    "kaggle.json": (None, ("anna", "bert"), "", 1, "four"),
    "kaggle_illegal.json": (None, ("anna", "bert"), "7", 0, "illegal column"),
    "game_arena.json": (None, ("anna", "bert"), "2757717", 0, "four"),
    "game_arena_illegal.json": (None, ("anna", "bert"), "2757717", 0, "illegal column"),
    "plybench.json": (
        None, tuple(f"random:distribution=uniform ({seat})" for seat in ("first", "second")),
        "465367", 0, "four",
    ),
    "spin_bench.json": (None, ("random", "random"), "", 0, "four"),
    "open_spiel.txt": (("anna", "bert"), ("anna", "bert"), "4433556", 0, "four"),
    "text_arena.json": (("anna", "bert"), ("anna", "bert"), "4343434", 0, "four"),
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_files_of_other_programs(name):
    names, players, moves, winner, ending = REAL[name]
    (game,) = read_games(FILES / name, names).games
    assert (game.players, game.winner, game.ending) == (players, winner, ending)
    assert game.moves.startswith(moves)


def test_a_text_of_games(tmp_path):
    file = tmp_path / "games.txt"
    file.write_text(
        f"# of a course\ngpt claude {WON}\n\nclaude gpt {WON} 1-0\nclaude gpt 445566 0-1 resigned\n"
        "gpt claude 4455 0-1 time\ngpt claude - 0-1 illegal\ngpt claude 44 cut\ngpt claude 445\n"
    )
    run = read_games(file)
    assert run.header.kind == "games from elsewhere"
    assert [(g.winner, g.ending) for g in run.games] == [
        (0, "four"), (0, "four"), (1, "resigned"), (1, "time"), (1, "illegal column"),
        (None, "cut"), (None, "cut"),
    ]  # fmt: skip
    assert run.table.games == 5  # those with a result
    assert run.notes == ("2 games without a result, not counted in any table",)


@pytest.mark.parametrize("moves", ["[3, 3]", '"44"'])
def test_a_json_file_may_be_one_game_with_names(tmp_path, moves):
    file = tmp_path / "game.json"
    file.write_text(f'["gpt", "claude", {moves}]')
    (game,) = read_games(file).games
    assert (game.players, game.moves) == (("gpt", "claude"), "44")


def test_games_of_only_moves_have_the_given_players(tmp_path):
    file = tmp_path / "moves.txt"
    file.write_text(f"{WON}\n{WON} 1-0\n")
    assert read_games(file, ["me", "you"]).players == ("me", "you")
    with pytest.raises(UnreadableRun, match=r"moves\.txt, line 1: the players have no names"):
        read_games(file)


def test_what_python_has():
    log = json.loads((FILES / "kaggle.json").read_text())
    games = [WON, [3, 3, 4, 4, 5, 5, 6], np.array([3, 3]), ("a", "b", WON), ["a", "b", [3, 3]], log]
    run = read_games(games)
    assert [game.players for game in run.games] == [
        ("first", "second"), ("first", "second"), ("first", "second"), ("a", "b"), ("a", "b"),
        ("anna", "bert"),
    ]  # fmt: skip
    assert [game.moves for game in run.games[:5]] == [WON, WON, "44", WON, "44"]
    assert read_games(log).games == run.games[5:]
    assert read_games(iter(run.games)).games == run.games


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl"])
def test_our_own_files(tmp_path, suffix):
    run = evaluation.round_robin(["greedy", "random"], openings=1, out=tmp_path / "run")
    assert read_games(tmp_path / "run").digest == run.digest
    file = tmp_path / f"games{suffix}"
    if suffix == ".jsonl":
        shutil.copy(tmp_path / "run" / "games.jsonl", file)
    else:
        assert main(["report", str(tmp_path / "run"), "--games", str(file)]) == 0
    assert read_games(file).digest == run.digest


def test_a_line_of_json_may_hold_a_line_separator(tmp_path):
    file = tmp_path / "games.jsonl"
    file.write_text(json.dumps(["a\u2028b", "c\x85", WON], ensure_ascii=False) + "\n")
    assert read_games(file).players == ("a\u2028b", "c\x85")


def test_a_folder_is_read_in_the_order_of_names(tmp_path):
    for number in (2, 1):
        (tmp_path / f"game{number}.json").write_text(json.dumps([["a", "b", WON[: 6 + number]]]))
    (tmp_path / "README.md").write_text("no game")
    (tmp_path / "scores.jsonl").write_text("[0, 0, [1]]")  # of c4 quality --out
    (tmp_path / "game1.json").write_text(json.dumps([["a", "b", "44"]]))
    assert [game.moves for game in read_games(tmp_path).games] == ["44", WON]


def ours(**changes):
    """A JSON file of a game with all of our values."""
    return json.dumps([GameRecord(("a", "b"), "", "44", 0, "resigned").values() | changes])


BAD = {
    "a.txt": {
        "": "has no game",
        "a b 44\na b 4x": "line 2: 'a b 4x': expected `first second moves`",
        "a b 4404": "line 1: '4404': a text has 1-based columns 1..7: expected no 0",
        "a b 448": "line 1: '448': move 3, '8', is not a column",
        "a b 4 4 5": "line 1: '4': expected a result",
        "4 4 5 5": "expected columns without spaces",
        f"a b {WON} 0-1": "the moves end in 1-0 by four, not in 0-1",
        f"a b {WON}1": "move 8: column 1: the game is over",
        "a b 4455 1-0": "1-0 does not say how it ended",
        "a b 4455 resigned": "expected 1-0 or 0-1",
        "a b 4455 1-0 time": "first is to move, so 1-0 time contradicts the moves",
        "a b 4455 won": "'won': expected a result",
        "a b - 1/2-1/2": "the game has no moves",
    },
    "a.json": {
        "": "has no game",
        "[": "no JSON",
        "[]": "has no game",
        "[3, 3, 7]": "7 is not a 0-based column 0..6, which a list has; write 1-based moves",
        "[3, 3, true]": "expected integers",
        '{"game": 1}': "an object with game is not a game: expected an episode of Kaggle's",
        '[["a", "b", "44"], ["a", "b", [3, -1]]]': "game 2: -1 is not a 0-based column",
        '{"first": "a", "second": "b", "moves": "44", "result": "1-0"}': "unknown 'result'",
        '{"first": "a", "moves": "44"}': "expected moves, also first and second",
        '["1", "2", [3, 3, 2]]': "expected names, not numbers",
        '[["3", "3", "2"]]': "expected names, not numbers",
        ours(winner=3): "winner 3: expected 0, 1 or none",
        ours(winner="0"): "winner '0': expected 0, 1 or none",
        ours(first=None): "first None: expected a text",
        ours(nodes_first="0"): "nodes_first '0': expected a number",
    },
    "a.jsonl": {'["a", "b", "44"]\n["a"': "line 2: no JSON"},
    "a.csv": {
        "first,second,moves\na,b,44\na,b": "line 3: expected as many cells",
        "first,second,moves,date\na,b,44,May": "unknown 'date'",
        "first,second,moves\na, b,44": "second ' b': expected a name without spaces",
        "first,second,moves,moves\na,b,44,5": "line 1: the heading has 'moves' twice",
    },
}


@pytest.mark.parametrize(("name", "text", "why"), [(n, t, BAD[n][t]) for n in BAD for t in BAD[n]])
def test_what_is_not_a_game_is_reported_in_one_line(tmp_path, name, text, why):
    (tmp_path / name).write_text(text)
    with pytest.raises(UnreadableRun) as error:
        read_games(tmp_path / name)
    assert str(error.value).startswith(str(tmp_path / name))
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def changed(name, change):
    text = (FILES / name).read_text()
    if name.endswith(".txt"):
        return change(text)
    value = json.loads(text)
    change(value)
    return json.dumps(value)


def one_more(actions):
    """Count columns from 1, as these programs do not."""
    for holder, key in actions:
        holder[key] += 1


WRONG = {
    "kaggle.json": {
        "rewards": lambda e: e.update(rewards=[1, -1]),
        "columns": lambda e: one_more(
            (step[n % 2], "action") for n, step in enumerate(e["steps"][1:])
        ),
        "damaged": lambda e: e.pop("configuration"),
        "board": lambda e: e["configuration"].update(rows=8),
        "empty": lambda e: e.update(steps=[]),
    },
    "game_arena.json": {
        "rewards": lambda e: e.update(rewards=[-1, 1]),
        "turns": lambda e: e["steps"].pop(4),
        "end": lambda e: e["steps"].pop(),
        "damaged": lambda e: e["configuration"].update(openSpielGameParameters={"rows": None}),
        "actions": lambda e: e["steps"][3].pop(),
        "empty": lambda e: e.update(steps=[]),
    },
    "plybench.json": {
        "turns": lambda game: game["steps"].pop(3),
        "end": lambda game: game["steps"].pop(),
        "damaged": lambda game: game["steps"][2].pop("move"),
        "move": lambda game: game["steps"][2].update(move="C4"),
        "result": lambda game: game["ending"].update(result=1),
        "empty": lambda game: game.update(steps=[]),
    },
    "spin_bench.json": {
        "winner": lambda e: e.update(winner="Player 2", status="Player 2 wins!"),
        "columns": lambda e: one_more((move, "action") for move in e["game_log"]),
        "damaged": lambda e: e.pop("player1_model"),
        "empty": lambda e: e.update(game_log=[]),
    },
    "open_spiel.txt": {
        "columns": lambda text: text.replace("5\n\n", "7\n\n"),
        "damaged": lambda text: text.replace("3\n3", "3\nthree"),
        "game": lambda text: text.replace("connect_four()", "tic_tac_toe()"),
        "empty": lambda text: text[: text.index("[State]") + 8],
    },
    "text_arena.json": {
        "columns": lambda log: log.append([-1, "Player 1 dropped their disk (O) into column 7."]),
        "damaged": lambda log: log.pop(3) and log.pop(3),
        "empty": lambda log: log.clear(),
    },
}


@pytest.mark.parametrize(("name", "what"), [(n, what) for n in WRONG for what in WRONG[n]])
def test_wrong_copies_of_real_files(tmp_path, name, what):
    (tmp_path / name).write_text(changed(name, WRONG[name][what]))
    with pytest.raises(UnreadableRun) as error:
        read_games(tmp_path / name, REAL[name][0])
    assert str(error.value).startswith(str(tmp_path / name))
    assert "\n" not in str(error.value)
    assert not re.search(r"Error|None|dict|'str'|object has", str(error.value))


OTHERS = {  # files that the programs wrote of other games
    "game_arena_board.json": "open_spiel_connect_four on a board of 5x6x4: expected",
    "plybench_tictactoe.json": "'tic_tac_toe()' of PlyBench: expected connect_four()",
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_game_is_named(name):
    with pytest.raises(UnreadableRun, match=re.escape(OTHERS[name])):
        read_games(FILES / name)


def test_a_format_is_recognised_by_all_its_keys_and_its_name(tmp_path):
    file = tmp_path / "game.json"
    for value, why in {
        '{"steps": []}': "an object with steps is not a game: expected an episode",
        '{"name": "open_spiel_chess", "steps": []}': "the name 'open_spiel_chess' is not a game",
        '{"name": "connectx", "steps": 5}': "ConnectX without configuration, rewards, statuses",
        '{"moves": "44", "steps": []}': "an object with moves and an unknown 'steps'",
    }.items():
        file.write_text(value)
        with pytest.raises(UnreadableRun, match=re.escape(why)):
            read_games(file)


def test_an_arena_counts_repeated_requests_and_opens_with_its_initial_actions():
    episode = json.loads((FILES / "game_arena.json").read_text())
    assert read_games(episode).games[0].asked_again == (4, 4)  # each third answer, by design
    episode["info"]["Agents"] = [{"Name": name} for name in episode["info"].pop("TeamNames")]
    first = episode["steps"].pop(2)[0]["action"]["submission"]
    episode["info"]["initialActions"] = [first]
    (game,) = read_games(episode).games
    assert (game.players, game.opening, game.moves[:3]) == (("anna", "bert"), "2", "275")
    episode["info"]["Agents"] = [{"Name": "anna"}] * 2
    assert read_games(episode).games[0].players == ("anna (first)", "anna (second)")


@pytest.mark.parametrize(
    ("statuses", "ending", "winner"),
    [(["DONE", "TIMEOUT"], "time", 0), (["ERROR", "ERROR"], "cut", None)],
)
def test_an_arena_says_who_failed(statuses, ending, winner):
    episode = json.loads((FILES / "game_arena_illegal.json").read_text())
    episode.update(statuses=statuses, rewards=[None, None])
    (game,) = read_games(episode).games
    assert (game.ending, game.winner) == (ending, winner)


@pytest.mark.parametrize(("name", "ending"), [
    ("Refusal", "no answer"), ("Wrong action format", "unreadable"),
    ("Illegal action selected", "illegal column"),
])  # fmt: skip
def test_plybench_says_why_a_move_failed(name, ending):
    game = json.loads((FILES / "plybench.json").read_text())
    game["steps"][-1]["move"], game["ending"]["result"] = f"FAIL: {name} (?)", 3
    (read,) = read_games(game).games
    assert (read.ending, read.winner) == (ending, 1)


def test_folders_of_results_are_one_run(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / "results" / folder).mkdir(parents=True)
        shutil.copy(FILES / "plybench.json", tmp_path / "results" / folder / "game_1.json")
        (tmp_path / "results" / folder / "metadata.json").write_text('{"n_games": 1}')
    assert len(read_games(tmp_path).games) == 2


def test_games_that_no_rating_counts_or_counts_twice_are_noted():
    run = read_games([("a", "a", WON), ("a", "b", WON), ("a", "b", WON), ("b", "a", "44")])
    assert run.notes[-3:] == (
        "1 game without a result, not counted in any table",
        "1 game of an agent against itself, not rated",
        "1 game equal to earlier ones, counted by the intervals as independent",
    )
    assert read_games([("a", "a", WON)] * 2).text().startswith("2 games of a.")


def test_an_anchor_is_a_name_with_equals_too(tmp_path, capsys):
    (tmp_path / "a.txt").write_text(f"lr=0.1 lr=0.01 {WON}\nlr=0.01 lr=0.1 {WON}\n")
    assert main(["report", str(tmp_path / "a.txt"), "--anchor", "lr=0.1=1500", "--format=csv"]) == 0
    assert "1500" in capsys.readouterr().out


def test_arguments_of_read_games(tmp_path):
    with pytest.raises(C4Error, match="expected a file"):
        read_games(7)
    for missing in ("nothing", "nothing/games.csv"):
        with pytest.raises(UnreadableRun, match=f"{missing} does not exist: expected a file"):
            read_games(tmp_path / missing)
    with pytest.raises(UnreadableRun, match="nothing does not exist: expected a run directory"):
        read_run(tmp_path / "nothing")
    with pytest.raises(UnreadableRun, match="expected at least one"):
        read_games([])
    with pytest.raises(InvalidOption, match="expected the first and the second player"):
        read_games([WON], names="ab")
    with pytest.raises(UnreadableRun, match="game 1: the game names its players"):
        read_games([("a", "b", WON)], names=("c", "d"))
    with pytest.raises(UnreadableRun, match=r"has no games: expected games\.jsonl"):
        read_games(tmp_path)


@pytest.mark.compiled
def test_commands_on_the_games_of_others(tmp_path, capsys):
    late = "4211273273632243664176267437"  # the judge has few positions, all late
    file, kept = tmp_path / "games.txt", str(tmp_path / "kept")
    file.write_text(f"gpt claude {late}\nclaude gpt {late} 0-1 resigned\n")
    page = tmp_path / "page.html"
    assert main(["report", str(file), "--html", str(page), "--out", kept]) == 0
    assert "claude forfeited 1 game (1 resigned)" in capsys.readouterr().out
    assert "1 game without a result" in page.read_text()
    assert len((tmp_path / "kept" / "scores.jsonl").read_text().splitlines()) == len(late) + 1
    assert main(["quality", str(file), "--out", kept]) == 0
    assert "gpt has an accuracy of " in capsys.readouterr().out
    file.write_text("gpt claude 4x")
    for command in ("report", "quality"):
        assert f"{file}, line 1: " in refusal([command, str(file)], capsys)
