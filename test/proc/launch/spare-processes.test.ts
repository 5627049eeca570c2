/** Tests that a spare which has ended is not used, also before its owner was told of its end. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../../runtime/link/clock.js";
import { OrphanReaper } from "../../../runtime/proc/launch/orphan-reaper.js";
import { SpareProcesses } from "../../../runtime/proc/launch/spare-processes.js";

let spares: SpareProcesses;
afterEach(() => spares.close());

test("a spare that was killed in this turn of the event loop is not used", () => {
  const boot = join(mkdtempSync(join(tmpdir(), "vt-")), "boot.cjs");
  writeFileSync(boot, "setInterval(() => {}, 1000)");
  const template = { boot, execArgv: [], env: {} };
  spares = new SpareProcesses(systemClock, 2, template);
  spares.fill();
  const [killed, other] = spares.pids as [number, number];
  process.kill(killed, "SIGKILL");
  // The event loop does not run meanwhile, so that the process stays a zombie and its end is not reported.
  while (!/\) Z /.test(readFileSync(`/proc/${killed}/stat`, "latin1"))) Atomics.wait(pause, 0, 0, 1);
  const options = {
    command: [boot],
    execArgv: [],
    env: {},
    stdio: "ignore",
    label: "worker",
    rank: 0,
    reaper: new OrphanReaper(),
  } as const;
  const launched = spares.take([boot], options)!;
  // It ends before it has read its order.
  launched.socket.on("error", () => {});
  expect(launched.pid).toBe(other);
  launched.kill("SIGKILL");
  expect(spares.take([boot], options)).toBeUndefined();
});

const pause = new Int32Array(new SharedArrayBuffer(4));
