"""What a request costs at 100k tokens: CPU and added time, with the ledger in files and in PostgreSQL, turn about."""

from __future__ import annotations

import statistics
from contextlib import AsyncExitStack
from typing import Final

import aiohttp

from laconic_benchmarks.gateway import answered, asked, exchange, history
from laconic_benchmarks.gateway_processes import GatewayProcess, provider
from laconic_benchmarks.postgres_server import PostgresServer
from laconic_benchmarks.report import Bar, Options, at_least, at_most

Row = dict[str, str | int | float | None]
_SIZE: Final = 100_000  # tokens


async def measure_speed(options: Options) -> tuple[list[Row], list[Bar]]:
    turns = 20 if options.quick else 120
    async with AsyncExitStack() as stack:
        url = stack.enter_context(provider(answered))
        server = stack.enter_context(PostgresServer(safe=True))
        client = await stack.enter_async_context(aiohttp.ClientSession())
        gateways = {
            "files": await stack.enter_async_context(GatewayProcess(url)),
            "postgresql": await stack.enter_async_context(GatewayProcess(url, ("--store", server.new_database()))),
        }
        messages, waits = history(_SIZE), {name: list[float]() for name in ("direct", *gateways)}
        for gateway in gateways.values():
            await asked(client, gateway.base, messages, "k")
        spent = {name: gateway.cpu() for name, gateway in gateways.items()}
        for _ in range(turns):
            messages += exchange(len(messages))
            waits["direct"].append(await asked(client, url, messages, "k"))
            for name, gateway in gateways.items():
                waits[name].append(await asked(client, gateway.base, messages, "k"))
        cpu = {name: 1000 * (gateway.cpu() - spent[name]) / turns for name, gateway in gateways.items()}
    direct = statistics.median(waits["direct"])
    rows: list[Row] = []
    added: dict[str, float] = {}
    for name in gateways:
        steps = statistics.quantiles(waits[name], n=100)
        added[name] = steps[98] - direct
        rows.append(
            {
                "part": f"speed, {name}",
                "cpu_ms": round(cpu[name], 1),
                "requests_a_second_and_core": round(1000 / cpu[name], 1),
                "added_p50_ms": round(steps[49] - direct, 1),
                "added_p99_ms": round(added[name], 1),
            }
        )
    return rows, [
        at_least("requests a second and core at 100k tokens, PostgreSQL", 1000 / cpu["postgresql"], 30),
        at_most("added milliseconds at p99, PostgreSQL", added["postgresql"], 80),
    ]
