"""A small writer of SVG, and the two pictures of a report."""
import math
from xml.sax.saxutils import escape, quoteattr

from results import MEMORY_TB_PER_S, geometric_mean

INK, FAINT, GRID = "#24292f", "#6e7781", "#d8dee4"
COLORS = ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#9a6700", "#57606a", "#0550ae", "#cf222e"]


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [f"<title>{escape(title)}</title>", self._tag("rect", width="100%", height="100%", fill="#ffffff")]
        self.text(width / 2, 24, title, size=15, anchor="middle", weight="bold")

    @staticmethod
    def _tag(name, content=None, **attributes):
        words = "".join(f" {key.replace('_', '-')}={quoteattr(_number(value))}" for key, value in attributes.items())
        return f"<{name}{words}/>" if content is None else f"<{name}{words}>{content}</{name}>"

    def text(self, x, y, words, size=12, anchor="start", color=INK, weight="normal", turned=0):
        turn = {"transform": f"rotate({turned} {_number(x)} {_number(y)})"} if turned else {}
        self.parts.append(self._tag("text", escape(words), x=x, y=y, font_size=size, text_anchor=anchor, fill=color,
                                    font_weight=weight, **turn))

    def line(self, x1, y1, x2, y2, color=GRID, width=1, dashes=""):
        dashed = {"stroke_dasharray": dashes} if dashes else {}
        self.parts.append(self._tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=color, stroke_width=width, **dashed))

    def bar(self, x, y, width, height, color, hint=""):
        self.parts.append(self._tag("rect", f"<title>{escape(hint)}</title>", x=x, y=y, width=width, height=height,
                                    fill=color))

    def point(self, x, y, color, hint, radius=4.5):
        self.parts.append(self._tag("circle", f"<title>{escape(hint)}</title>", cx=x, cy=y, r=radius, fill=color,
                                    fill_opacity=0.75))

    def __str__(self):
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {_number(self.height)}" '
                f'width="{self.width}" height="{_number(self.height)}" font-family="sans-serif">\n{body}\n</svg>\n')


def _number(value):
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


class LogAxis:
    """Numbers between `low` and `high` on the pixels between `begin` and `end`."""

    def __init__(self, low, high, begin, end):
        self.low, self.high, self.begin, self.end = low, high, begin, end

    def __call__(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        exponents = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
        return [10.0**exponent for exponent in exponents]


def roofline(rows, title):
    """Operations a second over operations a byte, below the roofs of memory and of the tensor cores."""
    rows = [row for row in rows if not row.failure and row.intensity]
    width, height, left, right, top, bottom = 860, 520, 70, 200, 50, 55
    low = 10 ** math.floor(math.log10(min(row.intensity for row in rows)))
    high = 10 ** math.ceil(math.log10(max(max(row.intensity for row in rows), 1000)))
    least = 10 ** math.floor(math.log10(min(min(row.tflops for row in rows), MEMORY_TB_PER_S * low)))
    x, y = LogAxis(low, high, left, width - right), LogAxis(least, 4000, height - bottom, top)
    picture = Picture(width, height, title)
    for tick in x.ticks():
        picture.line(x(tick), top, x(tick), height - bottom)
        picture.text(x(tick), height - bottom + 18, f"{tick:g}", anchor="middle", color=FAINT)
    for tick in y.ticks():
        picture.line(left, y(tick), width - right, y(tick))
        picture.text(left - 8, y(tick) + 4, f"{tick:g}", anchor="end", color=FAINT)
    picture.text((left + width - right) / 2, height - 14, "operations for a byte moved", anchor="middle")
    picture.text(20, (top + height - bottom) / 2, "TFLOP/s", anchor="middle", turned=-90)
    peaks = sorted({row.peak_tflops for row in rows})
    picture.line(x(low), y(low * MEMORY_TB_PER_S), x(peaks[-1] / MEMORY_TB_PER_S), y(peaks[-1]), INK, 1.5)
    picture.text(x(2 * low) + 8, y(2 * low * MEMORY_TB_PER_S) + 12, f"{MEMORY_TB_PER_S} TB/s", color=FAINT)
    for peak in peaks:
        picture.line(x(peak / MEMORY_TB_PER_S), y(peak), x(high), y(peak), INK, 1.5)
        picture.text(x(high), y(peak) - 6, f"{peak:g} TFLOP/s", anchor="end", color=FAINT)
    ops = list(dict.fromkeys(row.op for row in rows))
    for row in rows:
        color = COLORS[ops.index(row.op) % len(COLORS)]
        picture.point(x(row.intensity), y(row.tflops), color,
                      f"{row.problem}: {row.us:.4g} us, {row.tflops:.3g} TFLOP/s, {100 * row.share_of_roof:.0f} %")
    for index, op in enumerate(ops):
        picture.point(width - right + 20, top + 10 + 22 * index, COLORS[index % len(COLORS)], op)
        picture.text(width - right + 32, top + 14 + 22 * index, op)
    return str(picture)


def ratios(rows, title, of_means=False):
    """A bar for each problem and peer: the peer's time over jitk's. `of_means`: the rows are means of problems themselves."""
    rows = [row for row in rows if row.peers]
    names = list(dict.fromkeys(peer.name for row in rows for peer in row.peers))
    bar, gap, left, right, top = 15, 9, 430, 70, 44 + 20 * len(names)
    height = top + sum(bar * len(row.peers) + gap for row in rows) + 34
    width = 960
    most = max(1.25, max(peer.ratio for row in rows for peer in row.peers))
    scale = (width - left - right) / most
    picture = Picture(width, height, title)
    for index, name in enumerate(names):
        mean = geometric_mean(peer.ratio for row in rows for peer in row.peers if peer.name == name)
        picture.bar(left, 38 + 20 * index, 12, 12, COLORS[index % len(COLORS)], name)
        picture.text(left + 18, 48 + 20 * index, name if of_means else f"{name}: geometric mean {mean:.3f}")
    at = top
    for row in rows:
        middle = at + bar * len(row.peers) / 2 + 4
        picture.text(left - 8, middle, shortened(row.problem), size=11, anchor="end")
        for peer in row.peers:
            color = COLORS[names.index(peer.name) % len(COLORS)]
            times = f"{row.us:.4g} us, {peer.name} {peer.us:.4g} us"
            hint = f"{row.problem}: {peer.name if of_means else times}"
            picture.bar(left, at, scale * peer.ratio, bar - 2, color, hint)
            picture.text(left + 5, at + bar - 4.5, f"{peer.ratio:.2f}", size=11, color="#ffffff")
            at += bar
        at += gap
    picture.line(left + scale, top - 6, left + scale, at, INK, 1.2, "4 3")
    picture.text(left + scale, at + 14, "1: as fast as the peer; longer bars: jitk is faster", size=11, anchor="middle",
                 color=FAINT)
    return str(picture)


def shortened(problem, most=66):
    return problem if len(problem) <= most else problem[:most - 3] + "..."
