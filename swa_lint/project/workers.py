"""Reading many files on several processes; a process that dies costs one file, not the run."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from swa_lint.project.read import FileRecord, SourceFile, crashed, read_chunk
from swa_lint.sglang import own_words

Work = tuple[SourceFile, bytes | None]
Result = tuple[bytes, FileRecord | None] | None
_CHUNK = 32
_INLINE_FILES = 24


def default_jobs() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_all(
    root: str, work: Sequence[Work], jobs: int, progress: Callable[[int], None] = lambda done: None
) -> Iterator[tuple[SourceFile, Result]]:
    """Read each file of `work`, in any order; `progress` is told how many were read."""
    if jobs <= 1 or len(work) <= _INLINE_FILES:
        for item in work:
            yield item[0], read_chunk(root, [item])[0]
            progress(1)
        return
    chunks = [work[start : start + _CHUNK] for start in range(0, len(work), _CHUNK)]
    done: set[int] = set()
    try:
        for index, results in _in_pool(root, chunks, min(jobs, len(chunks))):
            done.add(index)
            yield from zip((item[0] for item in chunks[index]), results, strict=True)
            progress(len(results))
    except BrokenProcessPool:
        for index, chunk in enumerate(chunks):
            if index not in done:
                yield from _one_by_one(root, chunk)
                progress(len(chunk))


def _in_pool(root: str, chunks: Sequence[Sequence[Work]], jobs: int) -> Iterator[tuple[int, list[Result]]]:
    with _pool(jobs) as pool:
        futures: dict[Future[list[Result]], int] = {}
        for index, chunk in enumerate(chunks):
            futures[pool.submit(read_chunk, root, chunk)] = index
        for future in as_completed(futures):
            yield futures[future], future.result()


def _one_by_one(root: str, chunk: Sequence[Work]) -> Iterator[tuple[SourceFile, Result]]:
    """Read files where one may take its process down: each in a process that is replaced when it dies."""
    left = list(chunk)
    while left:
        with _pool(1) as pool:
            while left:
                item = left.pop(0)
                try:
                    yield item[0], pool.submit(read_chunk, root, [item]).result()[0]
                except BrokenProcessPool:
                    yield item[0], (b"", crashed(item[0].path))
                    break


@contextlib.contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Workers started afresh (no state of this process leaks into them), ended at once when the run is interrupted."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_settle_worker, initargs=(own_words.current(),))
    try:
        yield pool
    except BaseException:
        running = list((pool._processes or {}).values())  # the pool forgets them as it shuts down
        pool.shutdown(wait=False, cancel_futures=True)
        for process in running:
            process.terminate()
        raise
    pool.shutdown()


def _settle_worker(words: own_words.Words) -> None:
    """Read names as the parent does, and leave Ctrl-C to it; the sources say themselves when to collect."""
    own_words.use(words)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
