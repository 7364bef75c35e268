"""The results as Markdown, and as two plots in SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from speed.measure import Figure

_HEADING = "| | ratio | wall, s | CPU, s | largest process, MB |\n|---|---:|---:|---:|---:|\n"


def table(rows: Mapping[str, Figure], base: str) -> str:
    """Rows as a table, each held against one of them."""
    lines = [
        f"| {name} | {figure.wall / rows[base].wall:.2f} | {figure.wall:.1f} | {figure.cpu:.1f} | {figure.memory:.0f} |\n"
        for name, figure in rows.items()
    ]
    return _HEADING + "".join(lines)


def targets(rows: Mapping[str, Figure]) -> str:
    """The measured targets, and whether this run met them."""
    parse = rows["ast.parse, files that mention geometry"]
    held = [
        ("cold, of flake8 --select F", _wall(rows, "swa-lint, cold", "flake8 --select F"), 0.2),
        ("cold CPU, of reading all and parsing what mentions geometry", rows["swa-lint, cold"].cpu / parse.cpu, 3.0),
        ("warm, of hashing every file", _wall(rows, "swa-lint, warm", "hash every file"), 2.0),
        (
            "flake8 with the plugin, of flake8",
            _wall(rows, "flake8 --select F, plugin installed", "flake8 --select F"),
            1.1,
        ),
    ]
    lines = [
        f"| {name} | {value:.2f} | {limit:.2f} | {'met' if value <= limit else '**missed**'} |\n"
        for name, value, limit in held
    ]
    return "| target | measured | limit | |\n|---|---:|---:|---|\n" + "".join(lines)


def _wall(rows: Mapping[str, Figure], name: str, base: str) -> float:
    return rows[name].wall / rows[base].wall


def scale(rows: Sequence[tuple[int, Figure, Figure]]) -> str:
    """Copies of the tree: the time for each copy must not grow."""
    head = "| copies | cold, s | cold, s a copy | warm, s | warm, s a copy | largest process, MB |\n|---:|---:|---:|---:|---:|---:|\n"
    lines = [
        f"| {n} | {cold.wall:.1f} | {cold.wall / n:.1f} | {warm.wall:.1f} | {warm.wall / n:.2f} | {cold.memory:.0f} |\n"
        for n, cold, warm in rows
    ]
    return head + "".join(lines)


def bars(title: str, rows: Mapping[str, Figure]) -> str:
    """Wall times as horizontal bars."""
    longest = max(figure.wall for figure in rows.values())
    parts = []
    for index, (name, figure) in enumerate(rows.items()):
        top = 48 + index * 26
        colour = "#2f6f4f" if name.startswith("swa-lint") else "#8a8f98"
        width = max(1.0, 360 * figure.wall / longest)
        parts.append(
            f'<text x="270" y="{top + 13}" text-anchor="end">{name}</text>'
            f'<rect x="280" y="{top}" width="{width:.1f}" height="18" fill="{colour}"/>'
            f'<text x="{286 + width:.1f}" y="{top + 13}">{figure.wall:.1f} s</text>'
        )
    return _svg(title, 720, 60 + 26 * len(rows), "".join(parts))


def lines(title: str, rows: Sequence[tuple[int, Figure, Figure]]) -> str:
    """Cold time over the number of copies, and the straight line through the first point."""
    most, longest = rows[-1][0], max(rows[-1][1].wall, rows[0][1].wall * rows[-1][0])

    def at(copies: float, wall: float) -> str:
        return f"{60 + 580 * copies / most:.1f},{300 - 240 * wall / longest:.1f}"

    measured = " ".join(at(n, cold.wall) for n, cold, _ in rows)
    straight = f"{at(0, 0)} {at(most, rows[0][1].wall / rows[0][0] * most)}"
    marks = "".join(
        f'<circle cx="{at(n, cold.wall).split(",")[0]}" cy="{at(n, cold.wall).split(",")[1]}" r="4" fill="#2f6f4f"/>'
        f'<text x="{at(n, 0).split(",")[0]}" y="318" text-anchor="middle">{n}</text>'
        for n, cold, _ in rows
    )
    body = (
        f'<polyline points="{straight}" fill="none" stroke="#c0c4cc" stroke-dasharray="6 4"/>'
        f'<polyline points="{measured}" fill="none" stroke="#2f6f4f" stroke-width="2"/>{marks}'
        '<text x="350" y="340" text-anchor="middle">copies of the release (dashed: as many times the first)</text>'
    )
    return _svg(title, 700, 356, body)


def _svg(title: str, width: int, height: int, body: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/><text x="16" y="26" font-size="16">{title}</text>'
        f"{body}</svg>\n"
    )
