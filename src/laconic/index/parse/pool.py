"""Parse many files in child processes that are killed and replaced when a grammar hangs or crashes."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

import msgspec

from laconic.config import Settings, child_environment
from laconic.index.content_record import ContentRecord, read_content
from laconic.index.parse.detect import HEAD, language_of
from laconic.index.parse.worker import read_frame, write_frame
from laconic.records import ParseFailure

File = tuple[str, bytes]
Outcome = ContentRecord | ParseFailure

_BATCH_FILES: Final = 48
_BATCH_BYTES: Final = 400_000
_SMALL: Final = 100_000  # bytes of a file that may be parsed in this process when its grammar is known to be good
_TICK: Final = 0.1  # seconds between two looks at the clock


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """What a file may cost before it is given up."""

    max_bytes: int = 2_000_000
    max_line: int = 50_000
    seconds: float = 10.0

    @classmethod
    def of(cls, settings: Settings) -> ParseLimits:
        return cls(
            settings.number("parse.max_bytes"), settings.number("parse.max_line"), settings.ratio("parse.seconds")
        )

    def refusal(self, data: bytes) -> str:
        """Why a file is not parsed at all, or nothing."""
        if len(data) > self.max_bytes:
            return f"larger than {self.max_bytes} bytes"
        if b"\0" in data[:8192]:
            return "binary"
        if len(data) > self.max_line and max(map(len, data.split(b"\n"))) > self.max_line:
            return f"a line longer than {self.max_line} bytes"
        return ""


class ParsePool:
    """Child processes that parse; started when first needed, ended by `close` or with the `with` block."""

    def __init__(self, processes: int = 2, limits: ParseLimits | None = None) -> None:
        self.limits = limits or ParseLimits()
        self._workers = [_Worker(self.limits.seconds) for _ in range(max(1, processes))]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the children, also in the middle of work."""
        for worker in self._workers:
            worker.end()

    def parse_one(self, path: str, data: bytes) -> Outcome:
        """One file: in this process when it is small and its grammar is known to be good, else in a child."""
        if why := self.limits.refusal(data):
            return ParseFailure(why)
        language = language_of(path, data[:HEAD])
        if language is None or (language.safe and len(data) <= _SMALL):
            return read_content(path, data)
        self._workers[0].resume()
        return next(iter(self._workers[0].run([(path, data)])))[1]

    def parse_many(self, files: Iterable[File]) -> Generator[tuple[str, Outcome], None, None]:
        """Every file with its outcome, in no particular order. Not for two callers at once."""
        done: queue.Queue[tuple[str, Outcome] | BaseException | None] = queue.Queue(maxsize=256)
        for worker in self._workers:
            worker.resume()
        source = _Batches(files, self.limits)
        stop = threading.Event()
        threads = []
        for worker in self._workers:
            threads.append(threading.Thread(target=_feed, args=(worker, source, done, stop), daemon=True))
        for thread in threads:
            thread.start()
        running = len(threads)
        try:
            while running:
                told = done.get()
                if told is None:
                    running -= 1
                elif isinstance(told, BaseException):
                    raise told
                else:
                    yield told
        finally:
            stop.set()
            if running:  # the caller has seen enough, or the files could not be read
                self.close()
            while any(thread.is_alive() for thread in threads):
                _drain(done)
                time.sleep(0.001)


class _Batches:
    """Files grouped for sending, handed out to several threads; refused files come back with their reason."""

    def __init__(self, files: Iterable[File], limits: ParseLimits) -> None:
        self._files = iter(files)
        self._limits = limits
        self._lock = threading.Lock()

    def next(self) -> tuple[list[File], list[tuple[str, Outcome]]]:
        batch: list[File] = []
        refused: list[tuple[str, Outcome]] = []
        size = 0
        with self._lock:
            for path, data in self._files:
                if why := self._limits.refusal(data):
                    refused.append((path, ParseFailure(why)))
                else:
                    batch.append((path, data))
                    size += len(data)
                if len(batch) + len(refused) >= _BATCH_FILES or size >= _BATCH_BYTES:
                    break
        return batch, refused


def _feed(
    worker: _Worker,
    source: _Batches,
    done: queue.Queue[tuple[str, Outcome] | BaseException | None],
    stop: threading.Event,
) -> None:
    """One thread: batches to one worker, outcomes to the queue; it must always say that it has ended."""
    try:
        while not stop.is_set():
            batch, refused = source.next()
            if not batch and not refused:
                break
            for told in refused:
                done.put(told)
            for told in worker.run(batch):
                if stop.is_set():
                    break
                done.put(told)
    except BaseException as error:  # noqa: BLE001  the iterable is the caller's; its failure is raised to the caller
        done.put(error)
    finally:
        done.put(None)


def _drain(done: queue.Queue[tuple[str, Outcome] | BaseException | None]) -> None:
    while True:
        try:
            done.get_nowait()
        except queue.Empty:
            return


class _Worker:
    """One child process and the clock that limits it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._since = 0.0  # when the child began with the present file; 0: it is idle
        self._late = False
        self._stopped = False
        self._decoder = msgspec.msgpack.Decoder(ContentRecord | str)

    def run(self, batch: list[File]) -> Iterator[tuple[str, Outcome]]:
        """Outcomes of a batch in its order; the file on which the child dies fails, the rest goes to a new child."""
        left = batch
        while left and not self._stopped:
            answered = 0
            for outcome in self._attempt(left):
                yield left[answered][0], outcome
                answered += 1
            if answered == len(left):
                return
            if self._stopped:
                return
            yield left[answered][0], ParseFailure(self._epitaph())
            left = left[answered + 1 :]

    def _attempt(self, batch: list[File]) -> Iterator[Outcome]:
        child = self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        self._late = False
        self._since = time.monotonic()
        try:
            write_frame(child.stdin, msgspec.msgpack.encode(batch))
            for _ in batch:
                frame = read_frame(child.stdout)
                if frame is None:
                    return
                self._since = time.monotonic()
                told = self._decoder.decode(frame)
                yield ParseFailure(told) if isinstance(told, str) else told
        except (BrokenPipeError, OSError, ValueError):  # killed while it was written to, or closed
            return
        finally:
            self._since = 0.0

    def _watch(self, child: subprocess.Popen[bytes]) -> None:
        """Kill the child when one file takes too long; ends with the child."""
        while child.poll() is None:
            if (since := self._since) and time.monotonic() - since > self._seconds:
                self._late = True
                child.kill()
                return
            time.sleep(_TICK)

    def _epitaph(self) -> str:
        child, self._child = self._child, None
        if child is None:
            return "the parser was stopped"
        child.kill()
        code = child.wait()
        _close(child)
        if self._late:
            return f"took longer than {self._seconds:g} seconds"
        return f"the parser died with code {code}"

    def _start(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", "laconic.index.parse.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=child_environment(),
            )
            threading.Thread(target=self._watch, args=(self._child,), daemon=True).start()
        return self._child

    def resume(self) -> None:
        self._stopped = False

    def end(self) -> None:
        self._stopped = True
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            _close(child)


def _close(child: subprocess.Popen[bytes]) -> None:
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):  # bytes that the child did not take
                stream.close()
