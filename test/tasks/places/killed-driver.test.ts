/** A driver is killed at once while hosts run its tasks and actors: the hosts end all of it, and the next driver has all resources. */
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startOrdered } from "../../host/publish/programs.js";
import { startHost } from "../../host/start-host.js";
import { until } from "../../proc/until.js";
import { mark, processesWith } from "../chaos/marked-processes.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const id = `${process.pid}-killed-driver`;

/** Returns the folders and files in which processes of hosts could leave something. */
function traces(): string[] {
  const groups = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"]
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder));
  return [...readdirSync(tmpdir(), { recursive: true }), ...readdirSync("/dev/shm"), ...groups].map(String).sort();
}

const processes = () => processesWith(mark, id).length;

test("a killed driver leaves nothing on its hosts, whose resources the next one has", async () => {
  const daemons = await Promise.all([
    startHost(undefined, [], { [mark]: id }),
    startHost(undefined, [], { [mark]: id }),
  ]);
  const addresses = daemons.map(({ address }) => address);
  const before = traces();
  const start = () => startOrdered(here, [process.execPath], "busy-driver.ts", addresses);
  const killed = await start();
  await killed.order("open");
  expect(await killed.order("fill")).toEqual([1, 2]);
  // Each host: its manager, an actor, at least two processes of tasks, and what one of these has started.
  await until(() => processes() >= 2 + 2 * 5);
  killed.child.kill("SIGKILL");
  await killed.exited;

  const next = await start();
  await next.order("open");
  expect(await next.order("reserveAll")).toEqual([9, 16]);
  await next.order("close");
  next.child.kill("SIGKILL");
  await next.exited;
  await until(() => processes() === 2);
  expect(daemons.map((daemon) => daemon.drivers())).toEqual([[], []]);
  await until(() => traces().join() === before.join(), 5000).catch(() => {});
  expect(traces().filter((name) => !before.includes(name))).toEqual([]);
});
