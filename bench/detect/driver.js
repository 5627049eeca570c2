/** One run: `node driver.js <kind> <times> <silence>` prints a line of JSON with the median and the maximum of the times, in ms. */
import { otherHost } from "../hosts/other-host.js";
import { startHost } from "../hosts/peers/viceroy.js";
import { loadDriver } from "../viceroy/prepare.js";

const [, , kind, times, silence] = process.argv;
const { nextFailure, spawnEcho, spawnEchoAt } = await loadDriver();

const kinds = {
  /** @returns a function that causes the failure, and one that cleans up */
  async actor() {
    const { echo, stop } = spawnEcho(1);
    await echo.ready;
    return { fail: () => void echo.fail.broadcast(), stop };
  },
  async process() {
    const { echo, stop } = spawnEcho(1);
    const pid = await echo.pid.callOne();
    return { fail: () => process.kill(pid, "SIGKILL"), stop };
  },
  async host() {
    const machine = otherHost();
    const host = await startHost(machine);
    const { echo, stop } = spawnEchoAt(host.address, { silence: Number(silence) });
    await echo.ready;
    // Waits until the process that sends heartbeats has started.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    return {
      fail: machine.cut,
      async stop() {
        await Promise.all([stop(), host.stop()]);
        machine.remove();
      },
    };
  },
};

// Waiting for a failure does not keep a program running, so this timer does.
setInterval(() => {}, 60_000);
const latencies = [];
for (let i = 0; i < Number(times); i++) {
  const { fail, stop } = await kinds[kind]();
  const failed = nextFailure();
  const from = performance.now();
  fail();
  await failed;
  latencies.push(performance.now() - from);
  await stop();
}
latencies.sort((a, b) => a - b);
process.stdout.write(`${JSON.stringify({ median: latencies[latencies.length >> 1], maximum: latencies.at(-1) })}\n`);
process.exit(0);
