"""Mutation benchmark: are defects planted in real SGLang releases found, and harmless edits left alone?

    python bench/mutants.py [--releases 0.5.12,0.5.23] [--limit 420] [--equivalents 210] [--write bench/MUTANTS.md]

Every mutant is one release's file with one edit (see `mutation/operators.py`, `mutation/equivalents.py`). The sample is
drawn by a seed, evenly over operators and releases, and is the same for the same seed, releases and limits.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "sglang"))

from mutation import sites
from mutation.edits import Mutant
from mutation.equivalents import equivalents
from mutation.operators import mutants
from mutation.report import as_markdown
from mutation.trial import Trial, try_mutant
from wheels import Unavailable, release

RELEASES = ("0.5.10", "0.5.12", "0.5.15", "0.5.17", "0.5.19", "0.5.20", "0.5.22", "0.5.23")


def sample(found: Iterable[Mutant], limit: int, seed: int) -> list[Mutant]:
    """`limit` mutants, in turn one of each operator and release, each group in an order that the seed fixes."""
    groups: dict[tuple[str, str], list[Mutant]] = collections.defaultdict(list)
    for mutant in found:
        groups[mutant.operator, mutant.version].append(mutant)
    for key in sorted(groups):
        random.Random(f"{seed} {key}").shuffle(groups[key])
    drawn: list[Mutant] = []
    while len(drawn) < limit and any(groups.values()):
        for key in sorted(groups):
            if groups[key] and len(drawn) < limit:
                drawn.append(groups[key].pop())
    return drawn


def draw(versions: Sequence[str], limit: int, unchanged: int, seed: int) -> list[Mutant]:
    """The sample of both kinds over these releases."""
    defects: list[Mutant] = []
    harmless: list[Mutant] = []
    for version in versions:
        loaded = sites.load(release(version), version)
        defects += mutants(loaded)
        harmless += equivalents(loaded)
    print(f"{len(defects)} mutants and {len(harmless)} equivalent ones are possible", file=sys.stderr)
    return sample(defects, limit, seed) + sample(harmless, unchanged, seed)


def run(chosen: Sequence[Mutant], jobs: int) -> list[Trial]:
    """Try mutants, those of one file together so that its baseline is computed once a worker."""
    ordered = sorted(range(len(chosen)), key=lambda i: (chosen[i].version, chosen[i].path))
    trials: dict[int, Trial] = {}
    with ProcessPoolExecutor(jobs) as pool:
        for done, (index, trial) in enumerate(
            zip(ordered, pool.map(try_mutant, [chosen[i] for i in ordered], chunksize=4), strict=True), 1
        ):
            trials[index] = trial
            if sys.stderr.isatty():
                print(f"\r{done}/{len(chosen)}", end="", file=sys.stderr, flush=True)
    return [trials[i] for i in range(len(chosen))]


def main() -> int:
    """Exit status 0 when every defect is found and nothing else is, 1 otherwise, 2 where a release is missing."""
    parser = argparse.ArgumentParser(description="Mutation benchmark on SGLang releases.")
    parser.add_argument("--releases", default=",".join(RELEASES), help="versions, separated by commas")
    parser.add_argument("--limit", type=int, default=420, help="how many defects to plant")
    parser.add_argument("--equivalents", type=int, default=210, help="how many harmless edits to make")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", type=Path, help="write the report to this file instead of standard output")
    options = parser.parse_args()
    versions = options.releases.split(",")
    start = time.monotonic()
    try:
        chosen = draw(versions, options.limit, options.equivalents, options.seed)
    except Unavailable as error:
        print(error, file=sys.stderr)
        return 2
    trials = run(chosen, options.jobs)
    report = as_markdown(trials, versions, options.seed, time.monotonic() - start)
    if options.write:
        options.write.write_text(report, encoding="utf-8")
    else:
        print(report)
    return 1 if any(not trial.right for trial in trials) else 0


if __name__ == "__main__":
    sys.exit(main())
