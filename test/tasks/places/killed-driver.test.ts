/** A driver is killed at once while hosts run its tasks and actors: the hosts end all of it, and the next driver has all resources. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { startOrdered } from "../../host/publish/programs.js";
import { startHost } from "../../host/start-host.js";
import { gone, until } from "../../proc/until.js";
import { mark, processesWith } from "../chaos/marked-processes.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const id = `${process.pid}-killed-driver`;

/** The folder for temporary files of the hosts and drivers. */
const folder = mkdtempSync("/tmp/vk-");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the files of hosts and drivers, apart from the cache of tsx, and the control groups of processes that have ended. */
function traces(): string[] {
  const files = readdirSync(folder, { recursive: true }).map(String);
  const groups = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"]
    .filter(existsSync)
    .flatMap((parent) => readdirSync(parent))
    .filter((name) => name.startsWith("viceroy-") && gone(Number(name.split("-")[1])));
  return [...files.filter((name) => !name.startsWith("tsx-")), ...groups].sort();
}

const memory = () => readdirSync("/dev/shm");

const processes = () => processesWith(mark, id).length;

test("a killed driver leaves nothing on its hosts, whose resources the next one has", async () => {
  const env = { [mark]: id, TMPDIR: folder };
  const daemons = await Promise.all([startHost(undefined, [], env), startHost(undefined, [], env)]);
  const addresses = daemons.map(({ address }) => address);
  const [before, shared] = [traces(), memory()];
  const start = () => startOrdered(here, [process.execPath], "busy-driver.ts", addresses, { TMPDIR: folder });
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
  await until(() => traces().join() === before.join()).catch(() => {});
  expect(traces()).toEqual(before);
  // Other tests have shared memory for a while.
  await until(() => memory().every((name) => shared.includes(name)));
});
