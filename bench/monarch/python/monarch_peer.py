"""One run of Monarch: `monarch_peer.py <profile> <file of records>` prints a line of JSON."""
import asyncio
import os
import signal
import time

import monarch.actor
from monarch._rust_bindings.monarch_hyperactor.supervision import SupervisionError
from monarch.actor import Actor, endpoint, this_host

from measure import (
    actors, bulk, bulk_bytes, check, one_by_one, profile, records, report, since_start, warm_up, window,
)


class Echo(Actor):
    @endpoint
    async def echo(self, record):
        return record

    @endpoint
    async def touch(self, record):
        return {"id": record["id"], "ok": True}

    @endpoint
    async def one(self):
        return 1

    @endpoint
    async def back(self, data):
        return data

    @endpoint
    async def pid(self):
        return os.getpid()

    @endpoint
    async def sleep(self, seconds):
        await asyncio.sleep(seconds)


async def in_flight(width, seconds):
    """Returns calls per second."""
    begin = time.perf_counter()
    calls = 0

    async def repeat(i):
        nonlocal calls
        while time.perf_counter() - begin < seconds:
            await one.echo.call_one(records[i & 15])
            calls += 1
            i += 1

    await asyncio.gather(*(repeat(i) for i in range(width)))
    return calls / (time.perf_counter() - begin)


def killed(i):
    """
    Returns the seconds from the end of a process to the error of a call that was in flight to its actor. Each process has a mesh of its
    own: after the second kill in one mesh, the caller gets no error for minutes.
    """
    actor = host.spawn_procs({"procs": 1}).spawn(f"victim{i}", Echo)
    pid = actor.pid.call_one().get()
    waiting = actor.sleep.call_one(600)
    time.sleep(0.5)
    before = time.perf_counter()
    os.kill(pid, signal.SIGKILL)
    try:
        waiting.get()
    except SupervisionError:
        return time.perf_counter() - before
    raise AssertionError("the call has been answered")


host = this_host()
spawned = time.perf_counter()
procs = host.spawn_procs({"procs": actors})
echo = procs.spawn("echo", Echo)
answers = list(echo.one.call().get().values())
first = time.perf_counter() - spawned
program = since_start()
check("the first answers", answers, [1] * actors)

one = echo.slice(procs=0)


def call(i):
    return one.echo.call_one(records[i & 15]).get()


def gather(i):
    return echo.touch.call(records[i & 15]).get()


for i, record in enumerate(records):
    check("a record", call(i), record)
check("what was gathered", list(gather(0).values()), [{"id": records[0]["id"], "ok": True}] * actors)

one_by_one(call, warm_up)
latencies = one_by_one(call, window)
asyncio.run(in_flight(64, warm_up))
k64 = asyncio.run(in_flight(64, window))
asyncio.run(in_flight(1024, warm_up))
k1024 = asyncio.run(in_flight(1024, window))
one_by_one(gather, warm_up)
gathered = one_by_one(gather, window)
milliseconds = bulk(lambda data: one.back.call_one(data).get(), bytes([7]) * bulk_bytes)
monarch.actor.unhandled_fault_hook = lambda failure: None
deaths = [killed(i) for i in range(profile["kills"])]
report(
    first=first,
    program=program,
    latencies=latencies,
    k64=k64,
    k1024=k1024,
    gathered=gathered,
    bulk=milliseconds,
    deaths=deaths,
)
# No orderly shutdown is needed: the host and all processes that it has started end with the namespace.
os._exit(0)
