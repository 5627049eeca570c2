/** One run: `node driver.js <what> <times> <silence>` prints a line of JSON, the milliseconds of half of them and of the longest. */
import { otherHost } from "../hosts/other-host.js";
import { startHost } from "../hosts/peers/viceroy.js";
import { loadDriver } from "../viceroy/prepare.js";

const [, , what, times, silence] = process.argv;
const { nextFailure, spawnEcho, spawnEchoAt } = await loadDriver();

const kinds = {
  /** @returns what fails, and what cleans up */
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
    const there = otherHost();
    const host = await startHost(there);
    const { echo, stop } = spawnEchoAt(host.where, { silence: Number(silence) });
    await echo.ready;
    // The process that asks for signs of life has started by then.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    return {
      fail: there.cut,
      async stop() {
        await Promise.all([stop(), host.stop()]);
        there.remove();
      },
    };
  },
};

// Who waits to be told of a failure does not keep a program running.
setInterval(() => {}, 60_000);
const found = [];
for (let i = 0; i < Number(times); i++) {
  const { fail, stop } = await kinds[what]();
  const failed = nextFailure();
  const from = performance.now();
  fail();
  await failed;
  found.push(performance.now() - from);
  await stop();
}
found.sort((a, b) => a - b);
process.stdout.write(`${JSON.stringify({ median: found[found.length >> 1], longest: found.at(-1) })}\n`);
process.exit(0);
