/** Tests of the spares of meshes on the driver's machine: they become processes that are restarted, and end with the mesh. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { thisHost } from "viceroy";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew, project } from "../crew.js";
import { hasLoaded, sparesOf } from "../spares-of.js";
import { collectUnhandledFaults } from "../unhandled-faults.js";
import { gone, until } from "../until.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});
/** Other tests of this process must not leave spares. */
afterEach(() => until(() => mine().length === 0));

const mine = () => sparesOf(process.pid);
const restart = { policy: "on-failure", backoff: 10 } as const;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a process that is restarted is one that has waited, and another one waits then", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 }, { restart });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const first = (await workers.slice({ gpus: 1 }).where.callOne()).pid;
  await until(() => mine().length === 1);
  const [spare] = mine() as [number];
  await until(() => hasLoaded(spare));
  process.kill(first, "SIGKILL");
  await until(
    async () =>
      (
        await workers
          .slice({ gpus: 1 })
          .where.callOne()
          .catch(() => undefined)
      )?.pid === spare,
  );
  expect(await workers.slice({ gpus: 1 }).echo.callOne("as before")).toBe("as before");
  await until(() => mine().length === 1 && mine()[0] !== spare);
  expect(faults).toEqual([]);
});

test("a policy of actors keeps a spare, too, and meshes without a policy and with the option 0 have none", async () => {
  {
    await using procs = thisHost().spawnProcs({});
    const workers = procs.spawn("workers", crew.SteelWorker);
    await workers.where.call();
    await using careless = thisHost().spawnProcs({}, { restart, spares: 0 });
    await careless.spawn("others", crew.SteelWorker).where.call();
    await pause(1500);
    expect(mine()).toEqual([]);
    procs.with({ restart }).spawn("restarted", crew.SteelWorker);
    await until(() => mine().length === 1);
  }
  await until(() => mine().length === 0);
});

test("spares that a mesh was given become processes of later meshes with the same environment", async () => {
  await using procs = thisHost().spawnProcs({}, { spares: 2, env: { CREW: "blue" } });
  await procs.spawn("workers", crew.SteelWorker).where.call();
  await until(() => mine().length === 2 && mine().every(hasLoaded));
  const spares = mine();
  const pidsOf = async (options: object) => {
    await using later = thisHost().spawnProcs({ gpus: 2 }, options);
    return [...(await later.spawn("later", crew.SteelWorker).where.call()).values()].map(({ pid }) => pid);
  };
  for (const other of [{}, { env: { CREW: "red" } }, { env: { CREW: "blue" }, cpus: () => "0" }]) {
    for (const pid of await pidsOf(other)) expect(spares).not.toContain(pid);
  }
  expect((await pidsOf({ env: { CREW: "blue" } })).sort()).toEqual([...spares].sort());
});

test("a number of spares that cannot be is refused", async () => {
  const spawnWith = (options: object) => () => thisHost().spawnProcs({}, options);
  expect(spawnWith({ spares: -1 })).toThrow(
    new TypeError("cannot spawn procs: expected spares as an integer from 0 to 64, got -1"),
  );
  expect(spawnWith({ spares: 65 })).toThrow("expected spares as an integer from 0 to 64, got 65");
  expect(spawnWith({ spares: "2" })).toThrow('expected spares as an integer from 0 to 64, got "2"');
  expect(spawnWith({ spares: 1, isolation: "thread" })).toThrow(
    'cannot spawn procs: isolation "thread" has no spares, got 1',
  );
});

/** A program that waits with a spare. It ends when it is told to. */
const program = `
  import { thisHost } from "viceroy";
  import "./generated/registry.ts";
  import { SteelWorker } from "./src/steel-worker.ts";
  const procs = thisHost().spawnProcs({}, { spares: 1 });
  await procs.spawn("workers", SteelWorker).where.call();
  console.log(process.pid);
  if (process.argv[1] === "ends") await new Promise((resolve) => setTimeout(resolve, 2000));
  else await new Promise(() => setInterval(() => {}, 1000));
`;
const command = ["--import", "tsx", "--input-type=module", "-e", program];

test("a program that ends does not wait for its spares, and they end with it", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...command, "ends"], { cwd: project });
  expect(sparesOf(Number(stdout))).toEqual([]);
});

test("spares end with a program that is killed", async () => {
  const child = spawn(process.execPath, command, { cwd: project, stdio: ["ignore", "pipe", "inherit"] });
  await once(createInterface(child.stdout), "line");
  await until(() => sparesOf(child.pid!).length === 1);
  const spares = sparesOf(child.pid!);
  child.kill("SIGKILL");
  await until(() => spares.every(gone));
});
