"""One game starts without a compiler: Numba is loaded where kernels are needed."""

import pytest

from tests.helpers.processes import run_python

USES = {
    "aec": "env = c4env.env(); env.reset(seed=1); env.step(3); env.last(); env.state()",
    "single": "env = c4env.ConnectFourEnv(); env.reset(seed=1); env.step(3)",
    "single, openings": "c4env.ConnectFourEnv('random', openings=2).reset(seed=1)",
    "single, a function": (
        "env = c4env.ConnectFourEnv(lambda o: int(o['action_mask'].argmax()), seat=0)\n"
        "env.reset(seed=1); env.step(3)"
    ),
    "single, an agent": (
        "class Mine(c4env.agents.Agent):\n"
        "    def choose(self, position):\n"
        "        return position.legal_columns()[0]\n"
        "env = c4env.ConnectFourEnv(Mine(), seat=0); env.reset(seed=1); env.step(3)"
    ),
    "gymnasium": (
        "import gymnasium\nenv = gymnasium.make('c4env/ConnectFour-v0', opponent='random')\n"
        "env.reset(seed=1); env.step(3)"
    ),
    "position": "p = c4env.Position.parse('4455').play(2); p.mirror(); p.moves(); p._repr_svg_()",
    "observation": "c4env.position_from(c4env.observe(c4env.Position.parse('44')))",
    "openings": "c4env.list_openings(3); c4env.list_openings(['44', '45'])",
    "pictures": "env = c4env.env(render_mode='rgb_array'); env.reset(); env.render()",
}


@pytest.mark.parametrize("use", USES)
def test_one_game_loads_no_compiler(use):
    script = f"import sys, c4env\n{USES[use]}\nprint('numba' in sys.modules)"
    assert run_python("-c", script, check=True).stdout == "False\n"


def test_an_agent_of_a_host_that_needs_kernels_has_them_before_its_first_move(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import sys\n"
        "from c4env.agents import Agent\n"
        "class Mine(Agent):\n"
        "    def choose(self, position):\n"
        "        raise ValueError('c4env.bitboard' in sys.modules)\n"
    )
    script = (
        "from c4env import evaluation\n"
        "print(evaluation.round_robin(['mine.py:Mine', 'random'], 0).games[0].reason)"
    )
    assert "ValueError: True" in run_python("-c", script, cwd=tmp_path, check=True).stdout
