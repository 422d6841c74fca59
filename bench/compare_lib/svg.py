"""Charts as inline SVG: bars and lines on logarithmic scales. 400 units wide, so that they can be read on a
phone; colours come from the style sheet of the page, by class."""

import html
import math

WIDTH = 400
FONT = 11
LINE = 16
LEFT = 52      # of the plot area of line charts
RIGHT = 12
TOP = 8
BOTTOM = 40
HEIGHT = 250   # of line charts, legend not counted


def count(value):
    """Three digits with K or M: 1,234,567 is 1.23M."""
    for bound, divisor, unit in ((1e3, 1, ""), (1e6, 1e3, "K"), (1e9, 1e6, "M")):
        if abs(value) < bound * 0.9995:
            return f"{value / divisor:.3g}{unit}"
    return f"{value / 1e9:.3g}G"


def nanos(value):
    """Three digits and a unit of time."""
    for bound, divisor, unit in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
        if value < bound * 0.9995:
            return f"{value / divisor:.3g} {unit}"
    return f"{value / 1e9:.3g} s"


class LinearScale:
    """Numbers from 0 to the largest, to places between `begin` and `end`."""

    def __init__(self, values, begin, end):
        self._high, self._begin, self._end = max(values), begin, end

    def __call__(self, value):
        return self._begin + (self._end - self._begin) * value / self._high


class LogScale:
    """Positive numbers to places between `begin` and `end`. One number alone is put in the middle."""

    def __init__(self, values, begin, end, whole_decades=False):
        positive = [value for value in values if value > 0]
        low, high = (min(positive), max(positive)) if positive else (1, 10)
        if whole_decades or low == high:
            low = 10 ** math.floor(math.log10(low))
            high = 10 ** math.ceil(math.log10(high))
        if low == high:
            high = 10 * low
        self.low, self.high, self._begin, self._end = low, high, begin, end

    def __call__(self, value):
        value = min(max(value, self.low), self.high)
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self._begin + share * (self._end - self._begin)

    def ticks(self):
        """Powers of ten within, and 2 and 5 between them where there are few."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        steps = (1, 2, 5) if self.high / self.low < 300 else (1,)
        ticks = [step * 10.0 ** power for power in range(first, last + 1) for step in steps]
        return [tick for tick in ticks if self.low * 0.999 <= tick <= self.high * 1.001]


def text(x, y, content, anchor="start", kind=""):
    """One line of text; `y` is its base line."""
    mark = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{mark}>{html.escape(str(content))}</text>'


def _line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _chart(height, parts, title):
    return (f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{html.escape(title)}" '
            f'font-size="{FONT}">' + "".join(parts) + "</svg>")


def _legend(names, top):
    """Coloured squares with their names, as many in a row as fit. Returns the parts and the height."""
    parts, x, y = [], 4.0, top + FONT
    for side, name in names:
        width = 18 + 6.2 * len(name)
        if x > 4 and x + width > WIDTH:
            x, y = 4.0, y + LINE
        parts.append(f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="10" height="10" class="side-{side}"/>')
        parts.append(text(x + 14, y, name))
        x += width + 8
    return parts, y - top + 6


def bars(title, groups, names, form=count, logarithmic=False):
    """Groups of horizontal bars. `groups`: [(name, {side: value})]; `names`: [(side, name)], in order.

    A logarithmic scale begins at a third of the smallest: lengths tell orders, the numbers beside them tell the
    rest.
    """
    shown = [(side, name) for side, name in names if any(side in values for _, values in groups)]
    every = [value for _, values in groups for value in values.values() if value > 0]
    if not every:
        return ""
    parts, height = _legend(shown, 0)
    end = WIDTH - 62  # room for the numbers
    place = LogScale([min(every) / 3, max(every)], 4, end) if logarithmic else LinearScale(every, 4, end)
    y = height
    for name, values in groups:
        y += LINE
        parts.append(text(4, y, name, kind="strong"))
        for side, _ in shown:
            if side not in values:
                continue
            at = place(values[side])
            parts.append(f'<rect x="4" y="{y + 4:.1f}" width="{max(at - 4, 1):.1f}" height="11" class="side-{side}"/>')
            parts.append(text(at + 5, y + 13, form(values[side])))
            y += 13
        y += 4
    return _chart(y + 8, parts, title)


def lines(title, series, names, x_ticks=None, x_name="", x_form=count, y_form=nanos):
    """Curves. `series`: {side: [(x, y)]}; both scales logarithmic, unless `x_ticks` [(place, label)] says
    where the x stand on an even one."""
    points = [point for curve in series.values() for point in curve if point[1] > 0]
    if not points:
        return ""
    shown = [(side, name) for side, name in names if series.get(side)]
    parts, top = _legend(shown, 0)
    top += TOP
    bottom = top + HEIGHT - TOP - BOTTOM
    y_scale = LogScale([y for _, y in points], bottom, top, whole_decades=True)
    for tick in y_scale.ticks():
        parts.append(_line(LEFT, y_scale(tick), WIDTH - RIGHT, y_scale(tick), "grid"))
        parts.append(text(LEFT - 4, y_scale(tick) + 4, y_form(tick), "end"))
    if x_ticks:
        last = max(place for place, _ in x_ticks)
        def x_scale(value):
            return LEFT + (WIDTH - RIGHT - LEFT) * value / last
        ticks = x_ticks
    else:
        x_scale = LogScale([x for x, _ in points], LEFT + 6, WIDTH - RIGHT - 6)
        ticks = [(x, x_form(x)) for x in sorted({x for x, _ in points})]
    for place, label in ticks:
        parts.append(_line(x_scale(place), top, x_scale(place), bottom, "grid"))
        # Within the chart, also at its right end, and clear of the names on the left.
        x = min(x_scale(place), WIDTH - 4 - 3.3 * len(str(label)))
        parts.append(text(x, bottom + 17, label, "middle"))
    parts.append(text((LEFT + WIDTH) / 2, bottom + 32, x_name, "middle"))
    for side, _ in shown:
        curve = sorted(point for point in series[side] if point[1] > 0)
        path = " ".join(f"{x_scale(x):.1f},{y_scale(y):.1f}" for x, y in curve)
        parts.append(f'<polyline points="{path}" class="curve side-{side}"/>')
        if not x_ticks:
            parts += [f'<circle cx="{x_scale(x):.1f}" cy="{y_scale(y):.1f}" r="3" class="side-{side}"/>'
                      for x, y in curve]
    return _chart(bottom + BOTTOM, parts, title)
