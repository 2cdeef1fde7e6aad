"""A planner in a separate process, for requests that would hold up all others. It ends when it is idle."""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Timer
from typing import IO, Any, Final, TypeVar

from laconic.config import child_environment
from laconic.errors import LaconicError
from laconic.gateway.logs import to
from laconic.gateway.planner import Planner

T = TypeVar("T")
_CHILD: Final = "from laconic.gateway.planner_process import serve; serve()"
_IDLE: Final = 300.0  # seconds without a request after which the process ends
_SAME: Final = "the body that came"


class PlannerProcess:
    """Started when first asked, and again after it ended or was killed. Asked from one thread."""

    def __init__(self, make: Callable[[], Planner], idle: float = _IDLE) -> None:
        self._make = make
        self._idle = idle
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ask(self, work: Callable[..., T], *args: object, seconds: float) -> T:
        """Do it there, with the planner as first argument. A process that takes longer is killed."""
        if not self.running:
            self.end()
            self._start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        late = Timer(seconds, process.kill)
        late.start()
        try:
            pickle.dump((work, args), process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            well, result = _Answers(process.stdout, _body(args)).load()
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self.end()
            raise ConnectionError("the planner's process ended") from error
        finally:
            late.cancel()
        if not well:
            raise result
        answer: T = result
        return answer

    def end(self) -> None:
        """Kill it; nothing that it had finished is lost."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # what was not yet sent cannot be sent any more
                if pipe is not None:
                    pipe.close()

    def _start(self) -> None:
        logged = logging.getLogger("laconic.gateway").hasHandlers()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if logged else subprocess.DEVNULL,
            env=child_environment(),
            start_new_session=True,  # keys that end a client in the terminal are not meant for it
        )
        assert self._process.stdin is not None
        pickle.dump((self._make, self._idle), self._process.stdin, pickle.HIGHEST_PROTOCOL)


def serve() -> None:
    """The process itself: questions come in, answers go out, until the other side is gone or silent."""
    to(sys.stderr)
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what somebody prints is no answer
    make, idle = pickle.load(questions)
    planner = make()
    while True:
        alone = Timer(idle, os._exit, (0,))
        alone.daemon = True
        alone.start()
        try:
            work, args = pickle.load(questions)
        except EOFError:
            os._exit(0)
        alone.cancel()
        _Questions(answers, _body(args)).dump(_answer(planner, work, args))
        answers.flush()


def _answer(planner: Planner, work: Callable[..., object], args: tuple[object, ...]) -> tuple[bool, object]:
    try:
        return True, work(planner, *args)
    except LaconicError as error:
        return False, error
    except Exception as error:
        logging.getLogger("laconic.gateway").exception("a large request was not planned")
        return False, RuntimeError(type(error).__name__)


# A body that was not changed does not travel back.


class _Questions(pickle.Pickler):
    def __init__(self, file: IO[bytes], body: object) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._body = body

    def persistent_id(self, obj: Any) -> str | None:
        if obj is self._body:
            return _SAME
        return None


class _Answers(pickle.Unpickler):
    def __init__(self, file: IO[bytes], body: object) -> None:
        super().__init__(file)
        self._body = body

    def persistent_load(self, pid: Any) -> object:
        return self._body


def _body(args: tuple[object, ...]) -> object:
    """The one large thing among what was asked; something that nothing else is when there is none."""
    return next((one for one in args if isinstance(one, bytes)), object())
