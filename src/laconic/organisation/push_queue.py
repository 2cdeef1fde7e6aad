"""The queue of pushes, in the team's PostgreSQL: put repositories in, and work on them.

A repository waits once, however often it is pushed. Forks of one family are indexed one after the other. What a worker
that died had begun is taken up by another one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Final

import psycopg
from procrastinate import App, PsycopgConnector, RetryStrategy, __version__
from procrastinate.exceptions import AlreadyEnqueued, ProcrastinateException, UniqueViolation
from procrastinate.jobs import DeleteJobCondition, Job, Status

from laconic.config import Settings
from laconic.errors import BadSetting
from laconic.organisation.indexing import RepositoryIndexer
from laconic.sessions.team.keys import TeamKeys
from laconic.sessions.team.repositories import Repositories

_QUEUE: Final = "pushes"
_SCHEMA: Final = "laconic_pushes_" + "_".join(__version__.split(".")[:2])  # of another version are other tables
_BEAT: Final = 1.0  # seconds between signs of life of a worker
_DEAD: Final = 5.0  # seconds without one
_LOOK: Final = 2.0  # seconds between two looks for what dead workers left
_TRIES: Final = 5
log = logging.getLogger("laconic.organisation")


class PushQueue:
    """Use as `async with`. Only a worker has an indexer."""

    def __init__(self, settings: Settings, indexer: RepositoryIndexer | None = None) -> None:
        url = settings.text("store")
        if not url:
            raise BadSetting(
                "An organisation's index needs PostgreSQL.",
                "Name the team's database: LACONIC_STORE=postgresql://...",
            )
        self._url = url
        self._indexer = indexer
        self._app = App(
            connector=PsycopgConnector(
                conninfo=url, kwargs={"options": f"-c search_path={_SCHEMA}"}, min_size=1, max_size=4
            )
        )
        again = RetryStrategy(max_attempts=_TRIES, exponential_wait=2)
        self._fetch = self._app.task(name="fetch", queue=_QUEUE, retry=again)(self._do_fetch)
        self._index = self._app.task(name="index", queue=_QUEUE, retry=again)(self._do_index)

    async def __aenter__(self) -> PushQueue:
        await asyncio.to_thread(self._make_schema)
        await self._app.open_async()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._app.close_async()

    async def put(self, names: Iterable[str]) -> None:
        """Let workers look at repositories; those that wait already do so once."""
        for name in names:
            with suppress(AlreadyEnqueued):
                await self._fetch.configure(queueing_lock=f"fetch {name}", lock=f"fetch {name}").defer_async(
                    name=name
                )

    async def count(self) -> int:
        """How many pushes wait or are worked on."""
        waiting = 0
        for queue in await self._app.job_manager.list_queues_async(queue=_QUEUE):
            waiting += queue["todo"] + queue["doing"]
        return waiting

    async def work(self) -> None:
        """Take pushes until the process is told to end; then finish the one at hand."""
        async with _alongside(self._rescue()):
            await self._app.run_worker_async(
                queues=[_QUEUE],
                concurrency=1,
                fetch_job_polling_interval=1.0,
                update_heartbeat_interval=_BEAT,
                stalled_worker_timeout=_DEAD,
                delete_jobs=DeleteJobCondition.SUCCESSFUL,
            )

    async def poll(self, repositories: Repositories, seconds: float) -> None:
        """Look at all repositories, now and then again, for those whose host sends no pushes."""
        while True:
            known = await asyncio.to_thread(repositories.list)
            await self.put(each.name for each in known)
            if not seconds:
                return
            await asyncio.sleep(seconds)

    async def _do_fetch(self, name: str) -> None:
        assert self._indexer is not None
        found = await asyncio.to_thread(self._indexer.fetch, name)
        if found is not None:
            with suppress(AlreadyEnqueued):
                options = self._index.configure(queueing_lock=f"index {name}", lock=f"family {found.family}")
                await options.defer_async(name=name)

    async def _do_index(self, name: str) -> None:
        assert self._indexer is not None
        await asyncio.to_thread(self._indexer.index, name)
        log.info("indexed", extra={"repository": name})

    async def _rescue(self) -> None:
        """Put back what dead workers were at."""
        manager = self._app.job_manager
        while True:
            await asyncio.sleep(_LOOK)
            try:
                for job in await manager.get_stalled_jobs(queue=_QUEUE, seconds_since_heartbeat=_DEAD):
                    await self._put_back(job)
            except ProcrastinateException:  # the database is away: the worker itself says so
                log.exception("dead workers were not looked for")

    async def _put_back(self, job: Job) -> None:
        """Let another worker do it, unless the same repository waits already."""
        assert job.id is not None
        try:
            await self._app.job_manager.retry_job(job)
        except UniqueViolation:
            await self._app.job_manager.finish_job_by_id_async(job.id, Status.FAILED, delete_job=True)

    def _make_schema(self) -> None:
        """Processes that start at once wait for each other."""
        with psycopg.connect(self._url, autocommit=True) as base:
            base.execute("SELECT pg_advisory_lock(hashtext('laconic pushes'))")
            base.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}".encode())
            base.execute(f"SET search_path TO {_SCHEMA}".encode())
            row = base.execute("SELECT to_regclass('procrastinate_jobs')").fetchone()
            if row is None or row[0] is None:
                base.execute(self._app.schema_manager.get_schema().encode())


async def run_worker(settings: Settings) -> None:
    """One worker, until it is told to end."""
    keys = TeamKeys.of(settings)
    repositories = Repositories(keys.file)
    indexer = RepositoryIndexer(repositories, settings)
    indexer.remove_others()
    try:
        async with (
            PushQueue(settings, indexer) as queue,
            _alongside(queue.poll(repositories, settings.ratio("team.poll"))),
        ):
            await queue.work()
    finally:
        indexer.close()
        keys.close()


@asynccontextmanager
async def _alongside(work: object) -> AsyncIterator[None]:
    task = asyncio.ensure_future(work)  # type: ignore[call-overload]
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
