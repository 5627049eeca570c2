/** Generates load as clients do: sequential calls, and many calls in flight. */
import { cpuSeconds, descendants } from "./machine.js";

/** Calls `call(i)` sequentially for `duration` ms. Returns the latency of each call in ms. */
export async function callSequentially(call, duration) {
  const latencies = [];
  const end = performance.now() + duration;
  for (let i = 0, before = performance.now(); before < end; i++) {
    await call(i);
    const after = performance.now();
    latencies.push(after - before);
    before = after;
  }
  return latencies;
}

/** Keeps `width` calls in flight for `duration` ms. Returns calls per second, and microseconds of processor time per call. */
export async function callConcurrently(call, width, duration) {
  const others = descendants(process.pid);
  const before = { at: performance.now(), client: process.cpuUsage(), server: totalSeconds(others) };
  const end = before.at + duration;
  let calls = 0;
  await Promise.all(
    Array.from({ length: width }, async (_, i) => {
      for (let n = i; performance.now() < end; n++) {
        await call(n);
        calls++;
      }
    }),
  );
  const used = process.cpuUsage(before.client);
  return {
    rate: (calls / (performance.now() - before.at)) * 1000,
    cpuClient: (used.user + used.system) / calls,
    cpuServer: ((totalSeconds(others) - before.server) * 1e6) / calls,
  };
}

function totalSeconds(pids) {
  return pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}
