"""What the tests of both pages share."""

PATIENCE = 30_000  # milliseconds

# Contrast of each text with what is behind it, less than 4.5:1.
FAINT = """(() => {
  const parts = colour => { const n = colour.match(/[\\d.]+/g).map(Number); return [n[0], n[1], n[2], n[3] ?? 1]; };
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = node => {
    const layers = [];
    for (; node; node = node.parentElement) { layers.unshift(parts(getComputedStyle(node).backgroundColor)); }
    return layers.reduce((under, over) => under.map((v, i) => v * (1 - over[3]) + over[i] * over[3]), [255, 255, 255]);
  };
  const found = [];
  for (const node of document.querySelectorAll('body *')) {
    if (![...node.childNodes].some(c => c.nodeType === 3 && c.textContent.trim()) || node.disabled || !node.getClientRects().length || node.closest('script,title,option')) continue;
    const style = getComputedStyle(node), a = light(parts(node.closest('svg') && !node.closest('foreignObject') ? style.fill : style.color)), b = light(behind(node));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${node.textContent}`);
  }
  return found;
})()"""  # noqa: E501


def as_discs(position):
    """The players of the discs of each column from the bottom."""
    rows = [line.split() for line in str(position).splitlines()[:6]]
    return [["xo".index(row[c]) for row in reversed(rows) if row[c] != "."] for c in range(7)]
