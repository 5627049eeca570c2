"""Shared code of the Python peers: arguments, measurements, and the format of results."""
import json
import os
import statistics
import sys
import time

profile = json.loads(sys.argv[1])
with open(sys.argv[2]) as file:
    records = json.load(file)
actors = profile["actors"]
warm_up = profile["warmUp"] / 1000
window = profile["window"] / 1000
bulk_bytes = 64 * 1024 * 1024


def since_start():
    """Seconds since the start of this process, by the kernel's count. Imports are a part of the start of a program."""
    with open("/proc/self/stat") as stat:
        ticks = int(stat.read().rsplit(") ", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def check(what, value, expected):
    if value != expected:
        raise AssertionError(f"{what}: got {value!r}, not {expected!r}")


def one_by_one(call, seconds):
    """Calls `call(i)` sequentially. Returns the latency of each call in seconds."""
    latencies = []
    before = time.perf_counter()
    end = before + seconds
    while before < end:
        call(len(latencies))
        after = time.perf_counter()
        latencies.append(after - before)
        before = after
    return latencies


def bulk(back, data):
    """Median duration of `back(data)`, which returns the same bytes, in ms."""
    times = []
    for _ in range(profile["bulk"] + 1):
        before = time.perf_counter()
        answer = back(data)
        times.append(time.perf_counter() - before)
        check("64 MiB", (len(answer), answer[0], answer[-1]), (bulk_bytes, 7, 7))
        del answer
    return statistics.median(times[1:]) * 1000


def report(*, first, latencies, k64, k1024, gathered, bulk, deaths, program):
    result = {
        "first": first * 1000,
        "program": program * 1000,
        "p50": statistics.median(latencies) * 1000,
        "k64": k64 / 1000,
        "k1024": k1024 / 1000,
        "gather": statistics.median(gathered) * 1000,
        "bulk": bulk,
        "killed": statistics.median(deaths) * 1000,
    }
    print(json.dumps(result), flush=True)
