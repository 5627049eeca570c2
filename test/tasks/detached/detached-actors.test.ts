/** Detached actors: they live in processes of a job until they are stopped, and contexts of other programs find them. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ProcessJob } from "viceroy/job";
import { DetachedActorError, type DetachedActorInfo, JobContext } from "viceroy/tasks";
import { afterEach, describe, expect, test } from "vitest";
import "../../contract/project/generated/registry.js";
import { RealProbe } from "../../contract/project/src/probe.js";
import { type Publisher as Program, startOrdered } from "../../host/publish/programs.js";
import { newCache, processesOf } from "../../job/job-program.js";
import { gone, until } from "../../proc/until.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
const jobs: ProcessJob<"workers">[] = [];
const programs: Program[] = [];
afterEach(async () => {
  // A program that lives on would report that its hosts have ended.
  await Promise.all(programs.splice(0).map(kill));
  await Promise.all(jobs.splice(0).map((job) => job.kill()));
});

interface Started extends Program {
  readonly applyId: string;
}

/** Returns a function that starts programs with contexts on the hosts of one job. */
function newJob(further: object = {}) {
  const options = { meshes: { workers: { hosts: 2 } }, cache: newCache(), progress: "silent" as const, ...further };
  const job = new ProcessJob(options);
  jobs.push(job);
  const startProgram = async (context: object = {}): Promise<Started> => {
    const args = [JSON.stringify(options), JSON.stringify(context)];
    const program = await startOrdered(here, [process.execPath], "context-program.ts", args);
    programs.push(program);
    const { applyId } = (await program.order("open")) as { applyId: string };
    return { ...program, applyId };
  };
  return { job, options, startProgram };
}

async function kill({ child, exited }: Program): Promise<void> {
  child.kill("SIGKILL");
  await exited;
}

describe("A detached actor", () => {
  test("lives on with its state when the program is killed that has created it, and a new one finds it by its name", async () => {
    const { startProgram } = newJob();
    const first = await startProgram();
    const pid = await first.order("actor", "c");
    await first.order("note", "c", "before");
    await kill(first);
    const second = await startProgram();
    expect(await second.order("get", "c")).toBe(pid);
    await second.order("note", "c", "after");
    expect(await second.order("log", "c")).toEqual(["init", "+before", "-before", "+after", "-after"]);
    expect(await second.order("lookup", "c")).toBe(pid);
    expect(await second.order("pidInTask", "c")).toBe(pid);
    expect(await second.order("get", "nobody")).toBe(null);
  });

  test("of two programs that ask for it at the same time, with its first controller, one creates it", async () => {
    const { startProgram } = newJob();
    const programs = [await startProgram(), await startProgram()];
    for (const name of ["first", "second"]) {
      const further = JSON.stringify({ getIfExists: true });
      const [one, other] = await Promise.all(programs.map((program) => program.order("actor", name, further)));
      expect(one).toBe(other);
    }
  });

  test("has a name that no other actor can have, in contexts of other programs, too", async () => {
    const { startProgram } = newJob();
    const [first, second] = [await startProgram(), await startProgram()];
    const pid = await first.order("actor", "c");
    const taken =
      /^ActorNameTakenError: cannot create actor "c": an actor of \S+#RealProbe has the name since \S+; take another name, set getIfExists to get that actor, or end it by context\.stopActor\("c"\)$/;
    const failures = [
      await failureOf(second.order("actor", "c")),
      await failureOf(second.order("actor", "c", JSON.stringify({ lifetime: "context" }))),
    ];
    for (const failure of failures) expect(failure).toMatch(taken);
    expect(await failureOf(second.order("counter", "c", JSON.stringify({ getIfExists: true })))).toMatch(
      /^TypeError: cannot get actor "c": expected an actor of \S+#MemoryCounter, and the actor with this name is of \S+#RealProbe; take another name, or ask for that class$/,
    );
    expect(await second.order("actor", "c", JSON.stringify({ getIfExists: true, lifetime: "context" }))).toBe(pid);
  });

  test("is stopped by its name or its handle, from any context, and frees its name", async () => {
    const { startProgram } = newJob();
    const [first, second] = [await startProgram(), await startProgram()];
    const pid = (await first.order("actor", "c")) as number;
    expect(await second.order("stopActor", "c")).toBe(true);
    await until(() => gone(pid));
    expect(await second.order("stopActor", "c")).toBe(false);
    expect(await failureOf(first.order("pid", "c"))).toMatch(/SupervisionError|WorkerLostError/);
    const next = (await first.order("actor", "c")) as number;
    expect(next).not.toBe(pid);
    expect(await second.order("get", "c")).toBe(next);
    await second.order("stop", "c");
    await until(() => gone(next));
    expect(await first.order("get", "c")).toBe(null);
  });

  test("goes on when the context is closed that has created it, and its program opens another one", async () => {
    const { startProgram } = newJob();
    const program = await startProgram();
    const pid = await program.order("actor", "c");
    await program.order("close");
    await program.order("open");
    expect(await program.order("get", "c")).toBe(pid);
  });

  test("ends without harm to a program that has closed its context, or killed the job, before", async () => {
    const { startProgram } = newJob();
    const [first, second] = [await startProgram(), await startProgram()];
    const pid = (await first.order("actor", "c")) as number;
    await first.order("close");
    await second.order("stopActor", "c");
    await until(() => gone(pid));
    await first.order("open");
    expect(await first.order("get", "c")).toBe(null);
    await kill(second);
    await first.order("actor", "d");
    await first.order("close");
    await first.order("kill");
    await until(() => processesOf(first.applyId).length === 0);
    await first.order("open");
    expect(await first.order("get", "d")).toBe(null);
  });

  test("is restarted by its controller, without the program, as often as its options say; then its name is free", async () => {
    const { startProgram } = newJob();
    const first = await startProgram();
    const pid = await first.order("actor", "c", JSON.stringify({ restarts: 1 }));
    await kill(first);
    const second = await startProgram();
    await second.order("get", "c");
    await second.order("exit", "c");
    await until(() => gone(pid as number));
    await until(async () => (await second.order("pid", "c").catch(() => pid)) !== pid);
    expect(await second.order("log", "c")).toEqual(["init"]);
    await second.order("exit", "c");
    await until(async () => (await second.order("get", "c").catch(() => 0)) === null);
    await second.order("actor", "c");
  });

  test.each([{}, { lifetime: "context" }])(
    "gets a new process on its host after maxCalls, under its name and the handles of all programs, %j",
    async (lifetime) => {
      const { startProgram } = newJob();
      const program = await startProgram();
      const further = JSON.stringify({ maxCalls: 2, ...lifetime });
      // The order calls the actor once. So does each of the next ones.
      const pids = [await program.order("actor", "c", further)];
      const other = "lifetime" in lifetime ? program : await startProgram();
      pids.push(await other.order("get", "c"));
      for (let i = 0; i < 2; i++) pids.push(await program.order("pid", "c"), await other.order("pid", "c"));
      expect(pids.map((pid) => pids.indexOf(pid))).toEqual([0, 0, 2, 2, 4, 4]);
      expect(await other.order("log", "c")).toEqual(["init"]);
      await program.order("stopActor", "c");
      expect(await program.order("get", "c")).toBe(null);
    },
  );

  test("is listed with its class, host and incarnation by the job's command and by a program", async () => {
    const { job, options, startProgram } = newJob();
    const stateOf = async (...further: string[]) => {
      const env = { ...process.env, JOB_OPTIONS: JSON.stringify(options) };
      const args = [cli, "job", "state", "--job", join(here, "programs/job-of-test.ts"), ...further];
      return (await promisify(execFile)(process.execPath, args, { env })).stdout;
    };
    const program = await startProgram({ resources: { cpus: 1 } });
    const resources = { cpus: 1 };
    expect(await program.order("listed")).toEqual([]);
    expect((await stateOf()).endsWith("mesh     hosts\nworkers  2\n")).toBe(true);
    const pid = await program.order("actor", "first", JSON.stringify({ restarts: 1, maxCalls: 1, resources }));
    await program.order("actor", "second", JSON.stringify({ resources }));
    await program.order("counter", "third");
    await until(async () => (await program.order("pid", "first")) !== pid);
    await until(async () => {
      const listed = (await program.order("listed")) as { name: string; incarnation: number }[];
      return listed.some(({ name, incarnation }) => name === "first" && incarnation >= 2);
    });
    const listed = (await program.order("listed")) as DetachedActorInfo[];
    expect(listed.map(({ name, classId, state }) => [name, classId, state])).toEqual([
      ["first", "viceroy/src/probe#RealProbe", "living"],
      ["second", "viceroy/src/probe#RealProbe", "living"],
      ["third", "viceroy/src/memory-counter#MemoryCounter", "living"],
    ]);
    const [first, second] = listed.map(({ host }) => host);
    expect([first, second].toSorted()).toEqual([0, 1]);
    await kill(program);
    const actors = listed.map(({ since: _, host, ...actor }) => ({ ...actor, host: `workers[${host}]` }));
    expect(JSON.parse(await stateOf("--json"))).toMatchObject({ isRunning: true, actors });
    const [, ...lines] = (await stateOf()).split("workers  2\n")[1]!.split("\n");
    expect(lines.map((line) => line.split(/ +/))).toEqual([
      ...actors.map(({ name, classId, host, incarnation, state }) => [name, classId, host, `${incarnation}`, state]),
      [""],
    ]);
    await job.kill();
    expect((await stateOf().catch((error: { stdout: string }) => error.stdout)).trim()).toMatch(/does not run$/);
  });

  test("ends with the job, of which no process is left", async () => {
    const { job, startProgram } = newJob();
    const program = await startProgram();
    const pid = (await program.order("actor", "c")) as number;
    await kill(program);
    expect(gone(pid)).toBe(false);
    await job.kill();
    await until(() => gone(pid));
    await until(() => processesOf(program.applyId).length === 0);
  });

  test("keeps its hosts from ending as idle, and no longer than it lives", async () => {
    const { startProgram } = newJob({ idle: "1s" });
    const first = await startProgram();
    const pid = (await first.order("actor", "c")) as number;
    await kill(first);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const second = await startProgram();
    expect(second.applyId).toBe(first.applyId);
    expect(await second.order("get", "c")).toBe(pid);
    await second.order("stop", "c");
    await kill(second);
    await until(() => processesOf(first.applyId).length === 0);
  });

  test("holds its resources and GPUs against the tasks and actors of each context, until it ends", async () => {
    const { startProgram } = newJob({ meshes: { workers: { hosts: 1 } } });
    const resources = { cpus: 1, gpus: 2 };
    const [first, early] = [await startProgram({ resources }), await startProgram({ resources })];
    await first.order("actor", "c", JSON.stringify({ resources: { gpus: 1 } }));
    await early.order("get", "c");
    const late = await startProgram({ resources });
    for (const program of [first, early, late]) {
      expect(await program.order("runs", JSON.stringify({ gpus: 2 }), "300")).toBe(false);
      expect(await program.order("gpusOfTask")).toBe("1");
    }
    await first.order("stopActor", "c");
    for (const program of [first, early, late]) {
      expect(await program.order("runs", JSON.stringify({ gpus: 2 }), "60000")).toBe(true);
    }
  });

  test("that cannot be created leaves nothing: neither its name, nor its resources, nor a process", async () => {
    const { startProgram } = newJob();
    const program = await startProgram();
    const further = JSON.stringify({ resources: { cpus: 1 } });
    expect(await failureOf(program.order("actor", "c", further, "throw"))).toBe("TaskError: no such mode");
    expect(await failureOf(program.order("actor", "c", further, "init-throws"))).toBe("TaskError: init refused");
    await program.order("actor", "c", further);
    expect(await failureOf(program.order("actor", "d", JSON.stringify({ resources: { cpus: 2 } })))).toBe(
      "ResourceUnavailableError: cannot create actor d: no host of the context has 2 cpus; each has 1 cpu",
    );
  });

  test("ends with its controller; a later request starts another one", async () => {
    const { job, startProgram } = newJob();
    const program = await startProgram();
    const pid = (await program.order("actor", "c")) as number;
    process.kill(await controllerOf(job), "SIGKILL");
    await until(() => gone(pid));
    await until(async () => (await program.order("get", "c").catch(() => 0)) === null);
    expect(await program.order("actor", "c")).not.toBe(pid);
  });
});

describe("A detached actor is refused", () => {
  const options = { name: "c", lifetime: "detached" } as const;

  test("on a context whose processes end with the program", async () => {
    await using context = await JobContext.open({ procs: 1 });
    await expect(context.actor(RealProbe, [], options)).rejects.toEqual(
      new DetachedActorError(
        'cannot create detached actor "c": all processes of this context end with its program; open the context on the ' +
          "hosts of a job, by JobContext.open({ hosts }), or leave out lifetime",
      ),
    );
  });

  test("on the hosts of a job that ends with the program", async () => {
    await using job = new ProcessJob({ meshes: { workers: { hosts: 1 } }, cache: null, progress: "silent" });
    await using context = await JobContext.open({ hosts: (await job.state()).workers, procs: 1 });
    await expect(context.actor(RealProbe, [], options)).rejects.toEqual(
      new DetachedActorError(
        'cannot create detached actor "c": the job "viceroy" cannot keep it: it has no cache, so its hosts end with this ' +
          "program; give it a file with the option cache",
      ),
    );
  });

  test("without a name, with an unknown lifetime, and in a placement group", async () => {
    await using context = await JobContext.open({ procs: 1 });
    await expect(context.actor(RealProbe, [], { lifetime: "detached" })).rejects.toThrow(
      'cannot create actor RealProbe: lifetime "detached" requires a name, by which other programs find the actor',
    );
    await expect(context.actor(RealProbe, [], { name: "c", lifetime: "forever" as never })).rejects.toThrow(
      'cannot create actor RealProbe: expected lifetime "context" or "detached", got "forever"',
    );
    const placement = await context.placementGroup([{ cpus: 1 }]);
    await expect(context.actor(RealProbe, [], { ...options, placement })).rejects.toThrow(
      "cannot create an actor: a detached actor outlives the placement group of a context; leave placement out",
    );
  });
});

async function failureOf(order: Promise<unknown>): Promise<string> {
  return order.then(
    (value) => `it resolved with ${String(value)}`,
    (error: Error) => error.message,
  );
}

/** Returns the process of the controller of detached actors. */
async function controllerOf(job: ProcessJob<"workers">): Promise<number> {
  for await (const { line } of job.logs()) {
    const [, pid] = /controller (\d+) serves viceroy\/detached-actors/.exec(line) ?? [];
    if (pid !== undefined) return Number(pid);
  }
  throw new Error("no controller has been started");
}
