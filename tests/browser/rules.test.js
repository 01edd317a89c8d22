// The pages' rules and numbers without a browser, compared with what Python says of stored games:
// see test_rules.py.
const { test } = require("node:test");
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { createContext, runInContext } = require("node:vm");

const page = createContext({});
for (const name of ["elements.js", "rules.js"])
  runInContext(readFileSync(join(process.env.STATIC, name), "utf8"), page);
const pick = (name) => runInContext(name, page);
const [boardOf, verdictOf, bestPlay, wordsOf, bestColumns] = [
  "boardOf",
  "verdictOf",
  "bestPlay",
  "wordsOf",
  "bestColumns",
].map(pick);
const [fixed, signed] = ["fixed", "signed"].map(pick);
const same = (found, expected) => assert.deepEqual(JSON.parse(JSON.stringify(found)), expected);
const expected = JSON.parse(readFileSync(process.env.EXPECTED, "utf8"));

test("each position of a game, its discs, its end and its lines of four", () => {
  for (const { moves, discs, winner, cells } of expected.games)
    for (let ply = 0; ply <= moves.length; ply++) {
      const board = boardOf(moves.slice(0, ply)),
        last = ply === moves.length;
      same(board.grid, discs[ply]);
      same([board.over, board.winner], last ? [true, winner] : [false, null]);
      same([...board.four].sort(), last ? cells : []);
    }
});

test("what is not a game", () => {
  for (const [moves, words] of expected.wrong)
    assert.throws(() => boardOf(moves), { message: words });
});

test("slips, blunders, and how best play ends", () => {
  assert.ok(expected.judged.some(({ told }) => told.length));
  for (const { moves, values, verdicts, ends, told } of expected.judged) {
    same(
      verdicts.map((_, ply) => verdictOf(values[ply], values[ply + 1])),
      verdicts,
    );
    ends.forEach(([score, end], ply) => same(bestPlay(score, ply), end));
    for (const [ply, scores, words] of told) {
      const column = Number(moves[ply]),
        best = scores.reduce((one, two) => Math.max(one, two ?? one), -99);
      const own = `column ${column} ${wordsOf(scores[column - 1], ply)}`;
      const said = `${own}; best ${bestColumns(scores)}: ${wordsOf(best, ply)}.`;
      assert.equal(said.replaceAll("−", "-"), words);
    }
  }
});

test("numbers are rounded as tables have them", () => {
  for (const [value, digits, words, plus] of expected.numbers)
    same(
      [fixed(value, digits), signed(value)].map((text) => text.replace("−", "-")),
      [words, plus],
    );
});
