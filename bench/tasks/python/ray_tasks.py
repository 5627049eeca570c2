"""One run of Ray: `ray_tasks.py <profile>` prints a line of JSON: the ms until eight new actors have answered, and what empty tasks take."""
import json
import logging
import os
import statistics
import sys
import time

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray

profile = json.loads(sys.argv[1])
actors = profile["actors"]
in_flight = profile["inFlight"]
warm_up = profile["warmUp"] / 1000
window = profile["window"] / 1000


@ray.remote(num_cpus=1)
class Echo:
    def one(self):
        return 1


@ray.remote(num_cpus=1)
def nothing():
    return None


def many(seconds):
    """Returns tasks per second. Awaits one half of the tasks while the other half is in flight."""

    def send():
        return [nothing.remote() for _ in range(in_flight // 2)]

    begin = time.perf_counter()
    tasks = 0
    older = send()
    while time.perf_counter() - begin < seconds:
        newer = send()
        tasks += len(ray.get(older))
        older = newer
    tasks += len(ray.get(older))
    return tasks / (time.perf_counter() - begin)


def one_by_one(seconds):
    """Returns the latency of each task in ms."""
    latencies = []
    before = time.perf_counter()
    end = before + seconds
    while before < end:
        ray.get(nothing.remote())
        after = time.perf_counter()
        latencies.append((after - before) * 1000)
        before = after
    return latencies


def start(cpus):
    ray.init(
        address="local",
        num_cpus=cpus,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        object_store_memory=256 * 1024**2,
    )


# Declares one processor for each actor, so that Ray's scheduler starts their processes beforehand.
start(actors)
begin = time.perf_counter()
echoes = [Echo.remote() for _ in range(actors)]
answers = ray.get([echo.one.remote() for echo in echoes])
first = (time.perf_counter() - begin) * 1000
if answers != [1] * actors:
    raise AssertionError(f"unexpected answers {answers}")
ray.shutdown()

start(profile["workers"])
many(warm_up)
thousands = many(window) / 1000
one_by_one(warm_up)
p50 = statistics.median(one_by_one(window))
ray.shutdown()
print(json.dumps({"first": first, "thousands": thousands, "p50": p50}), flush=True)
