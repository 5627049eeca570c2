/** Tests of meshes that outlive their driver: a program detaches and ends, and other programs find its meshes. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { lookup } from "viceroy";
import { attach, ProcessJob } from "viceroy/job";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { loadProject, project, startOrdered } from "../host/publish/programs.js";
import type { IndexMesh } from "../host/publish/project/generated/index.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { newCache, processesOf } from "./job-program.js";

collectUnhandledFaults();
beforeAll(async () => {
  await loadProject();
});

const jobs: ProcessJob<string>[] = [];
afterEach(async () => {
  await Promise.all(jobs.splice(0).map((job) => job.kill()));
});

const meshes = { workers: { hosts: 2 }, loaders: { hosts: 1 } };
type Shards = IndexMesh<"hosts" | "shards">;

/** Starts a program with a job, and makes the same job in this process. */
async function startOwner(further: object = {}) {
  const options = { meshes, cache: newCache(), progress: "silent" as const, ...further };
  const job = new ProcessJob(options);
  jobs.push(job as unknown as ProcessJob<string>);
  const owner = await startOrdered(project, [process.execPath], "job-owner.ts", [JSON.stringify(options)]);
  const { applyId } = (await owner.order("state")) as { applyId: string };
  return { job, owner, applyId };
}

async function startDetached(further: object = {}) {
  const started = await startOwner(further);
  const { owner } = started;
  await owner.order("spawn", "shelves", "workers", "2");
  await owner.order("actors", "index", "shelves");
  await owner.order("publish", "index", "index");
  await owner.order("add", "index", "tea");
  const pids = (await owner.order("where", "index")) as number[];
  await owner.order("detach");
  return { ...started, pids };
}

/** Returns the processes of the controllers that have taken over. */
async function controllersOf(job: ProcessJob<string>): Promise<number[]> {
  const pids: number[] = [];
  for await (const { line } of job.logs()) {
    const [, pid] = /controller (\d+) has taken over/.exec(line) ?? [];
    if (pid !== undefined) pids.push(Number(pid));
  }
  return pids;
}

async function failureOf(promise: PromiseLike<unknown>): Promise<Error> {
  return Promise.resolve(promise).then(
    (value) => {
      throw new Error(`expected a rejection, got ${String(value)}`);
    },
    (error: Error) => error,
  );
}

describe("a mesh outlives its driver", () => {
  test("another program attaches the job, and finds the mesh with its processes and its state", async () => {
    const { job, owner, pids } = await startDetached();
    owner.child.kill("SIGKILL");
    await owner.exited;
    await attach(job);
    const index = await lookup<Shards>("index");
    expect(index.extent).toEqual({ hosts: 2, shards: 2 });
    expect([...(await index.add.call("tea")).values()]).toEqual([2, 2, 2, 2]);
    expect([...(await index.where.call()).values()].map(({ pid }) => pid)).toEqual(pids);
    const one = index.slice({ hosts: 1, shards: 0 });
    const counts: number[] = [];
    for await (const [, { count }] of one.words.stream(5)) {
      counts.push(count);
      if (counts.length === 3) break;
    }
    expect(counts).toEqual([5, 6, 7]);
    await expect(one.fail.callOne("refused")).rejects.toMatchObject({ remoteName: "RangeError", message: "refused" });
  });

  test("the program that has detached goes on: it attaches the job, and uses its mesh as any other program does", async () => {
    const { owner, pids } = await startDetached();
    expect(await owner.order("active")).toBe(false);
    await expect(owner.order("add", "index", "tea")).rejects.toThrow(
      'SupervisionError: cannot call index.add on ranks 0, 1, 2, 3: mesh "index" was stopped: job "viceroy" was detached, ' +
        "so this program does not own it any more",
    );
    await owner.order("attach");
    await owner.order("lookup", "index");
    expect(await owner.order("add", "index", "tea")).toEqual([2, 2, 2, 2]);
    expect(await owner.order("where", "index")).toEqual(pids);
  });

  test("a program can detach again with other meshes, which then have a controller of their own", async () => {
    const { job, owner } = await startDetached();
    await expect(owner.order("detach")).rejects.toThrow(
      'JobDetachError: cannot detach job "viceroy": this program has not attached its hosts; call state first',
    );
    await owner.order("state");
    await owner.order("spawn", "more", "loaders", "1");
    await owner.order("actors", "second", "more");
    await owner.order("publish", "second", "second");
    await owner.order("detach");
    owner.child.kill("SIGKILL");
    await attach(job);
    const [first, second] = [await lookup<Shards>("index"), await lookup<Shards>("second")];
    expect([...(await first.add.call("tea")).values()]).toEqual([2, 2, 2, 2]);
    expect([...(await second.add.call("tea")).values()]).toEqual([1]);
    expect(new Set(await controllersOf(job)).size).toBe(2);
  });

  test("two programs use the mesh at the same time, and each keeps its order", async () => {
    const { job, owner } = await startDetached();
    await owner.order("attach");
    await owner.order("lookup", "index");
    await attach(job);
    const index = (await lookup<Shards>("index")).slice({ hosts: 0, shards: 0 });
    const adding = Array.from({ length: 20 }, () => owner.order("add", "index", "both"));
    for (let number = 1; number <= 200; number++) index.note.broadcast("a test", number);
    await Promise.all(adding);
    await index.confirm.callOne("a test", 201);
    expect(await index.noted.callOne("a test")).toBe("201");
    expect(await index.add.callOne("both")).toBe(21);
  });

  test("the hosts stay without a driver as long as a controller owns meshes, and then for the idle time", async () => {
    const { job, owner, applyId } = await startDetached({ idle: "1s" });
    owner.child.kill("SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const [controller = 0] = await controllersOf(job);
    expect(processesOf(applyId)).toContain(controller);
    process.kill(controller, "SIGKILL");
    await until(() => processesOf(applyId).length === 0);
  });
});

describe("messages", () => {
  test("those of other programs are neither lost nor doubled while the owner changes", async () => {
    const { job, owner } = await startOwner();
    await owner.order("spawn", "shelves", "workers", "1");
    await owner.order("actors", "index", "shelves");
    await owner.order("publish", "index", "index");
    await attach(job);
    const index = await lookup<Shards>("index");
    const one = index.slice({ hosts: 1, shards: 0 });
    let isOver = false;
    const detached = owner.order("detach").finally(() => {
      isOver = true;
    });
    let number = 0;
    const answers: Promise<number>[] = [];
    while (!isOver || number < 100) {
      await one.note.broadcast("a test", ++number);
      answers.push(Promise.resolve(one.confirm.callOne("a test", ++number)));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await detached;
    expect(await Promise.all(answers)).toEqual(answers.map((_, i) => 2 * (i + 1)));
    expect(await one.noted.callOne("a test")).toBe(String(number));
  });

  test("calls under way are answered within the time of drain", async () => {
    const { job, owner } = await startOwner();
    await owner.order("spawn", "shelves", "workers", "1");
    await owner.order("actors", "index", "shelves");
    await owner.order("publish", "index", "index");
    await attach(job);
    const index = await lookup<Shards>("index");
    const call = index.sleep.call(1500);
    await owner.order("begin", "index", "1500");
    await owner.order("detach");
    expect(await owner.order("outcome", "index")).toBe("answered");
    expect([...(await call).values()]).toEqual([1500, 1500]);
  });

  test("calls that are under way for longer are rejected, and streams end", async () => {
    const { job, owner } = await startOwner();
    await owner.order("spawn", "shelves", "workers", "1");
    await owner.order("actors", "index", "shelves");
    await owner.order("publish", "index", "index");
    await attach(job);
    const index = (await lookup<Shards>("index")).slice({ hosts: 0, shards: 0 });
    const call = failureOf(index.sleep.callOne(600_000));
    const stream = index.words.stream(1);
    await stream.next();
    await owner.order("begin", "index", "600000");
    await owner.order("detach", "300");
    const handed =
      "the owner of the mesh has changed while the call was under way; it may have been handled, so it was not sent again";
    expect((await call).message).toBe(handed);
    const rest = async () => {
      for await (const _ of stream);
    };
    expect((await failureOf(rest())).message).toBe(handed);
    expect(await owner.order("outcome", "index")).toMatch(
      /cannot call index.sleep on rank \d: .*job "viceroy" was detached, so this program does not own it any more/,
    );
    expect(await index.add.callOne("tea")).toBe(1);
    await until(async () => (await index.yielded.callOne())[1] === 1);
  });
});

describe("supervision moves to the controller", () => {
  test("an actor and a process that fail are restarted by their policies", async () => {
    const { job, owner } = await startOwner();
    const restart = { policy: "on-failure", backoff: 0 };
    await owner.order("spawn", "shelves", "workers", "1", JSON.stringify({ restart, env: { GIVEN: "yes" } }));
    await owner.order("actors", "index", "shelves");
    await owner.order("publish", "index", "index");
    await owner.order("detach");
    owner.child.kill("SIGKILL");
    await attach(job);
    const index = await lookup<Shards>("index");
    const one = index.slice({ hosts: 0, shards: 0 });
    const before = (await one.where.callOne()).pid;
    await one.add.callOne("tea");
    await one.exit.broadcast(3);
    await until(async () => {
      const { pid } = await one.where.callOne().catch(() => ({ pid: before }));
      return pid !== before;
    });
    expect(await one.add.callOne("tea")).toBe(1);
    const after = (await one.where.callOne()).pid;
    one.fail.broadcast("in a broadcast");
    await until(async () => (await one.add.callOne("coffee").catch(() => 0)) === 1);
    expect((await one.where.callOne()).pid).toBe(after);
  });

  test("a rank that fails without a policy is reported to callers, and the others go on", async () => {
    const { job, owner } = await startDetached();
    owner.child.kill("SIGKILL");
    await attach(job);
    const index = await lookup<Shards>("index");
    const one = index.slice({ hosts: 1, shards: 1 });
    one.fail.broadcast("in a broadcast");
    await until(async () => (await failureOf(one.add.callOne("tea"))).name === "SupervisionError");
    expect((await failureOf(one.add.callOne("tea"))).message).toContain("RangeError: in a broadcast");
    expect(await index.slice({ hosts: 0, shards: 0 }).add.callOne("tea")).toBe(2);
  });

  test("ranks that have failed before are known to have failed afterwards", async () => {
    const { job, owner } = await startOwner();
    await owner.order("hook");
    await owner.order("spawn", "shelves", "workers", "2");
    await owner.order("actors", "index", "shelves");
    await owner.order("publish", "index", "index");
    await attach(job);
    const before = await lookup<Shards>("index");
    before.slice({ hosts: 0, shards: 0 }).fail.broadcast("in a broadcast");
    before.slice({ hosts: 1, shards: 0 }).exit.broadcast(7);
    const states = async (index: Shards) =>
      [...(await index.add.callSettled("x")).values()].map(({ status }) => status);
    const expected = ["rejected", "fulfilled", "rejected", "fulfilled"];
    await until(async () => (await states(before)).join() === expected.join());
    // Without the hook, a failure that the owner learns of later would end it.
    await until(async () => (await owner.order("faults")) === 2);
    await owner.order("unhook");
    await owner.order("detach");
    owner.child.kill("SIGKILL");
    expect(await states(before)).toEqual(expected);
    const failed = await failureOf(before.slice({ hosts: 1, shards: 0 }).add.callOne("x"));
    expect(failed.message).toContain("exited with code 7");
  });

  test("a controller that is killed takes its meshes with it, and the errors of calls say so", async () => {
    const { job, owner, pids } = await startDetached();
    owner.child.kill("SIGKILL");
    await attach(job);
    const index = await lookup<Shards>("index");
    const call = failureOf(index.slice({ hosts: 0, shards: 0 }).sleep.callOne(600_000));
    const [controller = 0] = await controllersOf(job);
    const folder = readFileSync(`/proc/${controller}/cmdline`, "utf8").split("\0").at(-2)!;
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    process.kill(controller, "SIGKILL");
    const error = await call;
    await until(() => !existsSync(folder));
    expect(error.name).toBe("SupervisionError");
    expect(error.message).toMatch(/the controller of job "viceroy", process \d+ on .*has ended/);
    expect((await failureOf(index.add.call("tea"))).message).toContain('the controller of job "viceroy"');
    await until(() => pids.every(gone));
    // The host that keeps the names may learn of the end after the callers of the mesh.
    await until(() =>
      lookup("index").then(
        () => false,
        (error: Error) => error.message.includes("nothing is"),
      ),
    );
    let said = "";
    for await (const { line } of job.logs()) said += `${line}\n`;
    expect(said).toContain(`controller ${controller} has ended, and its meshes with it: signal SIGKILL`);
  });

  test("kill ends the controller and everything that it owns", async () => {
    const { job, owner, applyId, pids } = await startDetached();
    owner.child.kill("SIGKILL");
    const [controller = 0] = await controllersOf(job);
    await job.kill();
    expect(processesOf(applyId)).toEqual([]);
    expect([controller, ...pids].every(gone)).toBe(true);
  });
});

describe("what cannot be handed over", () => {
  test("is named in one error, and nothing changes", async () => {
    const { owner } = await startOwner();
    await owner.order("spawn", "shelves", "workers", "1");
    await owner.order("actors", "index", "shelves");
    await owner.order("publish", "index", "index");
    await owner.order("actors", "hidden", "shelves");
    await owner.order("spawn", "empty", "loaders", "2");
    await owner.order("spawn", "local", "machine", "1");
    await owner.order("actors", "nearby", "local");
    await owner.order("spawn", "own", "process");
    await owner.order("actors", "inside", "own");
    await owner.order("spawn", "saved", "workers", "1");
    await owner.order("hook");
    await owner.order("register");
    await expect(owner.order("detach")).rejects.toThrow(
      'JobDetachError: cannot detach job "viceroy": mesh "hidden" of actors is not published; publish or stop it; ' +
        "processes \"empty\" {'hosts': 1, 'shards': 2} hold no actor of a published mesh; publish one, or stop them; " +
        "processes \"local\" {'shards': 1} are on this machine or on other hosts; stop them; " +
        'mesh "nearby" of actors is not on the hosts that are detached; stop it; ' +
        'mesh "inside" of actors is not on the hosts that are detached; stop it; ' +
        "processes \"saved\" {'hosts': 2, 'shards': 1} hold no actor of a published mesh; publish one, or stop them; " +
        "1 buffer of registered memory (RdmaBuffer) would end with this program; drop what no actor uses any more; " +
        "the hook of onUnhandledFault cannot be handed over; remove it by onUnhandledFault(undefined)",
    );
    expect(await owner.order("add", "index", "tea")).toEqual([1, 1]);
    expect(await owner.order("add", "hidden", "tea")).toEqual([1, 1]);
    expect(await owner.order("active")).toBe(true);
    // What stood in the way can be removed.
    for (const mesh of ["hidden", "empty", "nearby", "local", "inside", "saved"]) await owner.order("stop", mesh);
    await owner.order("drop");
    await owner.order("unhook");
    await owner.order("detach");
  });

  test("meshes that were resized are named with a way out", async () => {
    const { owner } = await startOwner();
    await owner.order("spawn", "shelves", "workers", "1");
    await owner.order("actors", "index", "shelves");
    await owner.order("publish", "index", "index");
    await owner.order("resize", "shelves", "index", "2");
    const known = "and a controller only knows the ranks with which a mesh was spawned";
    await expect(owner.order("detach")).rejects.toThrow(
      `JobDetachError: cannot detach job "viceroy": processes "shelves" {'hosts': 2, 'shards': 2} were resized, ${known}; ` +
        `spawn others of that size, and stop these; mesh "index" of actors was resized, ${known}; spawn another one of ` +
        "that size, and stop this one",
    );
    for (const mesh of ["index", "shelves"]) await owner.order("stop", mesh);
  });

  test("a program that has published nothing, and a job without a cache, are refused", async () => {
    const { owner } = await startOwner();
    await expect(owner.order("detach")).rejects.toThrow(
      'cannot detach job "viceroy": this program has published no mesh on its hosts',
    );
    const alone = await startOwner({ cache: null });
    await expect(alone.owner.order("detach")).rejects.toThrow(
      'cannot detach job "viceroy": it has no cache, so its hosts end with this program; give it a file with the option cache',
    );
  });

  test("a job that was not attached, and a time that is out of range, are refused", async () => {
    const job = new ProcessJob({ meshes, cache: newCache() });
    expect((await failureOf(job.detach())).message).toBe(
      'cannot detach job "viceroy": this program has not attached its hosts; call state first',
    );
    expect((await failureOf(job.detach({ drain: -1 }))).message).toBe(
      'cannot detach job "viceroy": expected drain in milliseconds, from 0 to 60000, got -1',
    );
  });
});

describe("a host that ends", () => {
  /** Returns the process of the daemon of a host. */
  async function daemonOf(job: ProcessJob<"workers" | "loaders">, mesh: string, rank: number): Promise<number> {
    for await (const entry of job.logs()) {
      const [, pid] = /process (\d+), listens at/.exec(entry.line) ?? [];
      if (pid !== undefined && entry.mesh === mesh && entry.rank === rank) return Number(pid);
    }
    throw new Error(`host ${mesh}[${rank}] has printed no line`);
  }

  test("takes its processes with it, and the others go on", async () => {
    const { job, owner, pids } = await startDetached();
    await owner.order("attach");
    await owner.order("lookup", "index");
    await owner.order("hook");
    process.kill(await daemonOf(job, "workers", 1), "SIGKILL");
    await until(() => pids.slice(2).every(gone));
    await until(async () => String(await owner.order("states", "index")) === "fulfilled,fulfilled,rejected,rejected");
    expect(pids.slice(0, 2).some(gone)).toBe(false);
  });

  test("and runs the controller takes all its meshes with it", async () => {
    const { job, owner, pids } = await startDetached();
    await owner.order("attach");
    await owner.order("lookup", "index");
    await owner.order("hook");
    const [controller = 0] = await controllersOf(job);
    process.kill(await daemonOf(job, "workers", 0), "SIGKILL");
    await until(() => [controller, ...pids].every(gone));
    await expect(owner.order("add", "index", "x")).rejects.toThrow("SupervisionError");
  });
});

describe("a controller that fails", () => {
  test("when it starts changes nothing", async () => {
    const { job, owner } = await startOwner({ env: { TROUBLE: "load" } });
    await owner.order("spawn", "shelves", "workers");
    await owner.order("actors", "shy", "shelves");
    await owner.order("publish", "shy", "shy");
    await expect(owner.order("detach")).rejects.toThrow(
      /^JobDetachError: cannot detach job "viceroy": its controller cannot start on host unix:\S+: .*this module cannot be loaded by controllers/,
    );
    await attach(job);
    const index = await lookup<Shards>("shy");
    expect([...(await index.add.call("tea")).values()]).toEqual([1, 1]);
    expect(await owner.order("add", "shy", "tea")).toEqual([2, 2]);
  });

  test("when it takes over is an error that says that the meshes have ended, and they have", async () => {
    const { job, owner } = await startOwner({ env: { TROUBLE: "end" } });
    await owner.order("spawn", "shelves", "workers");
    await owner.order("actors", "shy", "shelves");
    await owner.order("publish", "shy", "shy");
    const pids = (await owner.order("where", "shy")) as number[];
    // The controller ends while the program waits for this call.
    await owner.order("begin", "shy", "2000");
    await expect(owner.order("detach")).rejects.toThrow(
      'JobDetachError: cannot detach job "viceroy": its controller could not take over, so the meshes of this program have ' +
        "ended: the controller has ended",
    );
    await until(() => pids.every(gone));
    await owner.order("attach");
    await expect(owner.order("lookup", "shy")).rejects.toThrow("nothing is");
    expect(job.active).toBe(false);
  });
});

describe("attach", () => {
  test("never submits a job", async () => {
    const job = new ProcessJob({ meshes, cache: newCache() });
    const error = await failureOf(attach(job));
    expect([error.name, error.message]).toEqual([
      "JobLostError",
      'job "viceroy" is gone: nothing of it runs; submit it by apply or state',
    ]);
  });

  test("refuses a job that has ended, and one that was submitted with other options", async () => {
    const { job, owner } = await startOwner();
    const { cache } = JSON.parse(owner.child.spawnargs.at(-1)!) as { cache: string };
    const other = new ProcessJob({ meshes: { workers: { hosts: 1 } }, cache });
    expect((await failureOf(attach(other))).message).toMatch(
      /^job "viceroy" is gone: what runs as [0-9a-f-]{36} was submitted with other options$/,
    );
    await attach(job);
    const record = job.toJSON()!;
    await job.kill();
    const ended = ProcessJob.fromJSON(record);
    expect((await failureOf(attach(ended))).name).toBe("JobLostError");
  });
});
