"""AlphaZero in one short file: a network plays itself with a tree search (PUCT), and learns.

python docs/examples/alphazero.py --out DIR --positions 20000
c4 run alphazero=docs/examples/alphazero.py:AlphaZero:path=DIR random greedy --openings 1

Needs PyTorch (pip install torch). The training took 70 seconds of one core, and the games
7 seconds. They printed, among others:

   22,038 positions  loss 2.269
rank  agent                     Elo  score  games  LOS  nodes     ms
 1-2  alphazero  +207 (-20 .. +721)  87.5%     16  85%      0     34
 1-3  greedy     +38 (-112 .. +198)  56.3%     16  94%      0  0.038
 2-3  random     -244 (-960 .. +46)   6.3%     16           0  0.028

The same command resumes a training, and more positions continue it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from torch import nn

import c4env
from c4env.agents import Agent, Reads, validate_args

SIMULATIONS, C = 32, 1.5  # simulations per move; weight of priors against values from -1 to 1
NOISE, SHARE = 1.0, 0.25  # Dirichlet noise at the root, so that every column is tried now and then
DRAWN = 12  # plies in which visits weigh the draw of a column; later the most visited is played
KEPT, USES, BATCH, RATE = 50_000, 4, 256, 2e-3  # positions kept, uses of each, batch, rate
COLUMNS, CHECKPOINT = 7, "checkpoint.pt"


class ConvNet(nn.Module):
    """A network that maps planes ``[M, 6, 7, 2]`` to logits ``[M, 7]`` and values ``[M]``."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        net = [nn.Flatten(), nn.Linear(42 * width, 128), nn.ReLU()]
        for inputs in (width, width, width, 2):
            net = [nn.Conv2d(inputs, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), *net]
        self.body = nn.Sequential(*net)
        self.policy, self.value = nn.Linear(128, COLUMNS), nn.Linear(128, 1)

    def forward(self, planes: Any) -> tuple[Any, Any]:
        """Return logits and values for the side to move."""
        hidden = self.body(planes.permute(0, 3, 1, 2).float())
        return self.policy(hidden), self.value(hidden).squeeze(-1).tanh()


class Node:
    """A position in a search tree, with statistics of its columns for the side to move."""

    def __init__(self, position: c4env.Position) -> None:
        self.position, self.children = position, dict[int, Node]()
        end = position.outcome  # at the end the side to move has lost, or the game is drawn
        self.result = None if end is None else 0.0 if end.winner is None else -1.0
        self.prior = np.zeros(0)  # [7] once the network has evaluated the position
        self.visits, self.total = np.zeros(COLUMNS), np.zeros(COLUMNS)

    def select(self) -> int:
        """Return the column with the greatest sum of mean value and exploration bonus."""
        bonus = C * self.prior * np.sqrt(self.visits.sum() + 1) / (1 + self.visits)
        mean = self.total / np.maximum(self.visits, 1)
        return int(np.where(self.prior > 0, mean + bonus, -np.inf).argmax())

    def child(self, column: int) -> Node:
        """Return the node after a column is played."""
        if column not in self.children:
            self.children[column] = Node(self.position.play(column))
        return self.children[column]


def observed(nodes: list[Node]) -> tuple[Any, Any]:
    """Return planes ``[M, 6, 7, 2]`` and masks ``[M, 7]`` of nodes, each for the side to move."""
    seen = [c4env.observe(node.position) for node in nodes]
    return tuple(np.stack([one[key] for one in seen]) for key in ("observation", "action_mask"))


def search(network: ConvNet, roots: list[Node], simulations: int, chance: Any = None) -> None:
    """Search several trees at once: each simulation evaluates one leaf of each tree in a batch."""
    for simulation in range(simulations + 1):
        paths, leaves = [], []
        for node in roots:
            path = []
            while len(node.prior):
                path.append((node, column := node.select()))
                node = node.child(column)
            paths.append(path)
            leaves.append(node)
        values = np.array([leaf.result or 0.0 for leaf in leaves])
        if new := [i for i, leaf in enumerate(leaves) if leaf.result is None]:
            planes, masks = observed([leaves[i] for i in new])
            with torch.inference_mode():
                answer = network.eval()(torch.from_numpy(planes).to(network.policy.weight.device))
            logits, values[new] = (part.double().cpu().numpy() for part in answer)
            weights = np.exp(logits - logits.max(axis=1, keepdims=True)).clip(1e-6) * masks
            for i, weight in zip(new, weights, strict=True):
                leaves[i].prior = weight / weight.sum()  # 0 where a column is full
        for path, value in zip(paths, values.tolist(), strict=True):
            for node, column in reversed(path):
                value = -value  # what is good for one side is bad for the other
                node.visits[column] += 1
                node.total[column] += value
        for root in roots if simulation == 0 and chance is not None else ():
            noise = chance.dirichlet([NOISE] * COLUMNS) * (root.prior > 0)
            root.prior = (1 - SHARE) * root.prior + SHARE * noise


def play(network: ConvNet, boards: int, chance: np.random.Generator) -> list[Any]:
    """Play games; return planes ``[M, 6, 7, 2]``, visit shares ``[M, 7]`` and results ``[M]``."""
    going = games = [[Node(c4env.Position())] for _ in range(boards)]
    while going:
        search(network, [game[-1] for game in going], SIMULATIONS, chance)
        for game in going:
            visits = game[-1].visits
            drawn = game[-1].position.plies < DRAWN
            column = chance.choice(COLUMNS, p=visits / visits.sum()) if drawn else visits.argmax()
            game.append(game[-1].child(int(column)))  # the child keeps its tree
        going = [game for game in going if game[-1].result is None]
    nodes = [node for game in games for node in game[:-1]]
    # The sides take turns, so the result changes its sign from ply to ply, backwards from the end.
    turns = [(game[-1], len(game) - k) for game in games for k in range(1, len(game))]
    results = [(end.result or 0.0) * (-1) ** left for end, left in turns]
    visits = torch.tensor(np.stack([node.visits for node in nodes]))
    planes = torch.tensor(observed(nodes)[0])
    return [planes, (visits / visits.sum(1, keepdim=True)).float(), torch.tensor(results).float()]


def learn(network: ConvNet, optimizer: Any, kept: list[Any], steps: int, chance: Any) -> float:
    """Fit the network to stored positions and their mirror images; return the last loss."""
    network.train()
    for _ in range(steps):
        rows = chance.integers(len(kept[0]), size=BATCH)
        planes, shares, results = (part[rows].to(network.policy.weight.device) for part in kept)
        planes, shares = c4env.with_mirrors(planes, shares)
        logits, values = network(planes)
        policy = -(shares * logits.log_softmax(-1)).sum(-1).mean()
        loss = policy + (values - results.repeat(2)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.detach())


def train(
    out: Path, positions: int = 100_000, seed: int = 1, device: str = "cpu", boards: int = 128
) -> ConvNet:
    """Play and learn in turns until ``positions`` are played; resume in folder ``out``. Each tenth
    of a training leaves a network there. On one machine the same seed trains the same network."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the network is small: more threads only wait for each other
    network: ConvNet = ConvNet().to(device)
    optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=1e-4)
    none = [torch.empty(0, dtype=dtype) for dtype in (torch.int8, torch.float32, torch.float32)]
    settings = {"seed": seed, "boards": boards}
    state: dict[str, Any] = {"done": 0, "turn": 0, "kept": none, "settings": settings}
    out.mkdir(parents=True, exist_ok=True)
    if (path := out / CHECKPOINT).exists():
        state = torch.load(path, "cpu", weights_only=True)
        if state["settings"] != settings:
            raise SystemExit(f"{out} holds a training with {state['settings']}, not {settings}")
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
    while (done := state["done"]) < positions:
        chance = np.random.default_rng([seed, state["turn"]])  # so that a kill changes nothing
        new = play(network, boards, chance)
        kept = [torch.cat(pair)[-KEPT:] for pair in zip(state["kept"], new, strict=True)]
        loss = learn(network, optimizer, kept, USES * len(new[0]) // BATCH + 1, chance)
        state |= {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
        state |= {"done": done + len(new[0]), "turn": state["turn"] + 1, "kept": kept}
        torch.save(state, out / "new")
        os.replace(out / "new", path)  # a kill leaves the old or the new checkpoint, whole
        if 10 * state["done"] // positions > 10 * done // positions:
            torch.save({"network": state["network"]}, out / f"network-{state['done']:09d}.pt")
        print(f"{state['done']:>9,} positions  loss {loss:.3f}", flush=True)
    return network


class AlphaZero(Agent):
    """Plays the column that a search visits most; with 0 simulations, the policy's best column.

    It is asked board by board. Where only the policy plays, ``opponent=network`` is faster.
    """

    deterministic = True

    @validate_args
    def __init__(
        self, path: Annotated[str | Path, Reads("folder")], simulations: int = 100
    ) -> None:
        self._simulations, self._network = simulations, ConvNet()
        file = Path(path) / CHECKPOINT if Path(path).is_dir() else Path(path)
        self._network.load_state_dict(torch.load(file, "cpu", weights_only=True)["network"])

    def choose(self, position: c4env.Position) -> int:
        """Return the column with the most visits; the priors break ties."""
        root = Node(position)
        search(self._network, [root], self._simulations)
        return int((root.visits + root.prior).argmax())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the training")
    parser.add_argument("--positions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu", help="cpu, cuda or another PyTorch device")
    train(**vars(parser.parse_args()))
