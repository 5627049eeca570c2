"""One run of Ray: `ray_peer.py <profile> <file of records>` prints a line of JSON."""
import logging
import os
import signal
import time

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import numpy
import ray

from measure import (
    actors, bulk, bulk_bytes, check, one_by_one, profile, records, report, since_start, warm_up, window,
)


@ray.remote
class Echo:
    def echo(self, record):
        return record

    def touch(self, record):
        return {"id": record["id"], "ok": True}

    def one(self):
        return 1

    def back(self, data):
        return data

    def pid(self):
        return os.getpid()

    def sleep(self, seconds):
        time.sleep(seconds)


def in_flight(width, seconds):
    """Returns calls per second. Awaits one half of the calls while the other half is in flight, which is faster than asyncio, ray.wait or single calls."""

    def send():
        return [one.echo.remote(records[i & 15]) for i in range(width // 2)]

    begin = time.perf_counter()
    calls = 0
    older = send()
    while time.perf_counter() - begin < seconds:
        newer = send()
        calls += len(ray.get(older))
        older = newer
    calls += len(ray.get(older))
    return calls / (time.perf_counter() - begin)


def killed():
    """Returns the seconds from the end of a process to the error of a call that was in flight to its actor."""
    actor = Echo.remote()
    pid = ray.get(actor.pid.remote())
    waiting = actor.sleep.remote(600)
    time.sleep(0.5)
    before = time.perf_counter()
    os.kill(pid, signal.SIGKILL)
    try:
        ray.get(waiting)
    except ray.exceptions.RayActorError:
        return time.perf_counter() - before
    raise AssertionError("the call has been answered")


# Declares one processor for each actor, so that Ray's scheduler starts their processes beforehand.
ray.init(
    address="local",
    num_cpus=actors + profile["kills"],
    include_dashboard=False,
    log_to_driver=False,
    logging_level=logging.ERROR,
    object_store_memory=1024**3,
)
spawned = time.perf_counter()
echoes = [Echo.remote() for _ in range(actors)]
answers = ray.get([echo.one.remote() for echo in echoes])
first = time.perf_counter() - spawned
program = since_start()
check("the first answers", answers, [1] * actors)

one = echoes[0]


def call(i):
    return ray.get(one.echo.remote(records[i & 15]))


def gather(i):
    return ray.get([echo.touch.remote(records[i & 15]) for echo in echoes])


for i, record in enumerate(records):
    check("a record", call(i), record)
check("what was gathered", gather(0), [{"id": records[0]["id"], "ok": True}] * actors)

one_by_one(call, warm_up)
latencies = one_by_one(call, window)
in_flight(64, warm_up)
k64 = in_flight(64, window)
in_flight(1024, warm_up)
k1024 = in_flight(1024, window)
one_by_one(gather, warm_up)
gathered = one_by_one(gather, window)
# An array goes through the object store and is read in place. Bytes would be copied once more.
data = numpy.full(bulk_bytes, 7, dtype=numpy.uint8)
milliseconds = bulk(lambda data: ray.get(one.back.remote(data)), data)
deaths = [killed() for _ in range(profile["kills"])]
ray.shutdown()
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
