/**
 * Tests of processes that actors have spawned on different hosts. Nothing has linked them before: they know each other by
 * references in messages alone.
 */
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HostMesh, thisHost } from "viceroy";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WorkerMesh } from "../fixtures/crew/generated/worker.js";
import { Authority } from "../link/transport/tls/certificates.js";
import { type Crew, loadCrew } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { until } from "../proc/until.js";
import { loadVaults, type Vaults } from "../rdma/vaults.js";
import { attachPatiently, lossSilence } from "./attach-patiently.js";
import { type RunningHost, startHost } from "./start-host.js";

collectUnhandledFaults();
let crew: Crew;
let vaults: Vaults;
let authority: Authority;
let otherAuthority: Authority;
beforeAll(async () => {
  crew = await loadCrew();
  vaults = await loadVaults();
  authority = new Authority();
  otherAuthority = new Authority();
});
afterAll(() => {
  authority.remove();
  otherAuthority.remove();
});

/** Two hosts, each as a mesh of one, and their daemons. */
interface Pair extends AsyncDisposable {
  readonly hosts: readonly [HostMesh, HostMesh];
  readonly daemons: readonly [RunningHost, RunningHost];
}

async function start(listen: string | undefined, args: readonly string[], token?: string): Promise<RunningHost> {
  return startHost(listen, args, token === undefined ? {} : { VICEROY_TOKEN: token });
}

/** @param groups the hosts of both daemons, in one group or in two */
function pairOf(daemons: Pair["daemons"], ...groups: HostMesh[]): Pair {
  const hosts = groups.flatMap((group) => Array.from({ length: group.size }, (_, i) => group.slice({ hosts: i })));
  return {
    daemons,
    hosts: [hosts[0]!, hosts[1]!],
    [Symbol.asyncDispose]: async () => {
      await Promise.all(groups.map((group) => group.stop()));
    },
  };
}

function tlsArguments(from: Authority): string[] {
  const { cert, key, ca } = from.issue("host");
  return ["--cert", cert, "--key", key, "--ca", ca];
}

const token = "a token of more than enough characters";
const tcp = "tcp://127.0.0.1:0";
const tls = "tls://127.0.0.1:0";

/**
 * The ways in which two hosts reach each other: through the program in the first three, and directly in the others. Tests
 * that kill a daemon give the silence after which its host counts as lost.
 */
const ways: Readonly<Record<string, (limits?: { readonly silence: number }) => Promise<Pair>>> = {
  "at Unix sockets": async (limits) => {
    const daemons = [await start(undefined, []), await start(undefined, [])] as const;
    return pairOf(
      daemons,
      attachPatiently(
        daemons.map(({ address }) => address),
        limits,
      ),
    );
  },
  "with different tokens": async (limits) => {
    const tokens = [token, `${token}, and another one`] as const;
    const daemons = [await start(tcp, [], tokens[0]), await start(tcp, [], tokens[1])] as const;
    const [one, two] = [0, 1].map((i) => attachPatiently([daemons[i]!.address], { ...limits, token: tokens[i]! }));
    return pairOf(daemons, one!, two!);
  },
  "with TLS of different authorities": async (limits) => {
    const authorities = [authority, otherAuthority] as const;
    const daemons = [
      await start(tls, tlsArguments(authorities[0])),
      await start(tls, tlsArguments(authorities[1])),
    ] as const;
    const [one, two] = [0, 1].map((i) =>
      attachPatiently([daemons[i]!.address], { ...limits, tls: authorities[i]!.issue("driver"), name: `hosts ${i}` }),
    );
    return pairOf(daemons, one!, two!);
  },
  "with one token": async (limits) => {
    const daemons = [await start(tcp, [], token), await start(tcp, ["--single-port"], token)] as const;
    return pairOf(
      daemons,
      attachPatiently(
        daemons.map(({ address }) => address),
        { ...limits, token },
      ),
    );
  },
  "with TLS": async (limits) => {
    const daemons = [await start(tls, tlsArguments(authority)), await start(tls, tlsArguments(authority))] as const;
    return pairOf(
      daemons,
      attachPatiently(
        daemons.map(({ address }) => address),
        { ...limits, tls: authority.issue("driver") },
      ),
    );
  },
};

/** Has an actor on each host spawn two processes with one worker each. */
async function workersOn({ hosts }: Pair) {
  const [nearBoss, farBoss] = hosts.map((host) => host.spawnProcs().spawn("boss", crew.SteelWorker) as WorkerMesh);
  const [nearCrew, farCrew] = await Promise.all([nearBoss!.hire.callOne(2), farBoss!.hire.callOne(2)]);
  const [near, near2] = [0, 1].map((gpus) => nearCrew.slice({ gpus }) as WorkerMesh);
  return {
    nearBoss: nearBoss!,
    farBoss: farBoss!,
    near: near!,
    near2: near2!,
    far: farCrew.slice({ gpus: 0 }) as WorkerMesh,
  };
}

/** What callers on another host learn of an end depends on who sees it first. */
const reasons =
  /: (?:(?:its process cannot be reached|process [\da-f]{16} has ended): .*(?:it has ended, or its host is cut off|there is no such process here, or it does not listen)|host .* is gone: .+|the actor crew\[0\] was stopped: the agent of its host has ended)$/;

const failure = (call: PromiseLike<unknown>): Promise<Error> =>
  Promise.resolve(call).then(
    () => expect.unreachable("the call must fail"),
    (error: Error) => error,
  );

describe.each(Object.keys(ways))("processes of actors on two hosts, %s,", (way) => {
  test("call each other, in both directions, also their bosses and inline procs there", async () => {
    await using pair = await ways[way]!();
    const { near, far, nearBoss, farBoss } = await workersOn(pair);
    expect(await near.order.callOne(far, "there")).toEqual(["there"]);
    expect(await far.order.callOne(near, "and back")).toEqual(["and back"]);
    expect(await far.order.callOne(nearBoss, "to the boss")).toEqual(["to the boss"]);
    const inline = (await far.hireInline.callOne(2)) as WorkerMesh;
    expect(await near.order.callOne(inline, "inline")).toEqual(["inline", "inline"]);
    const inlineHere = (await farBoss.hireInline.callOne(1)) as WorkerMesh;
    expect(await inlineHere.order.callOne(near, "from an inline proc")).toEqual(["from an inline proc"]);
  });

  test("exchange streams, late answers, ordered messages and large ones", async () => {
    await using pair = await ways[way]!();
    const { near, near2, far } = await workersOn(pair);
    const go = join(mkdtempSync(join(tmpdir(), "between-")), "go");
    const watched = near.watch.callOne(far, go, 2000);
    expect(await near2.askLater.callOne(far, 10)).toBe("late");
    writeFileSync(go, "");
    expect(await watched).toEqual(Array.from({ length: 2000 }, (_, i) => i));
    const large = "large".repeat(2_000_000);
    expect(await far.order.callOne(near, large)).toEqual([large]);
  });

  test("are called by those that got the reference from another process", async () => {
    await using pair = await ways[way]!();
    await using procs = thisHost().spawnProcs();
    const own = procs.spawn("own", crew.SteelWorker) as WorkerMesh;
    const [{ near, far }, mine] = await Promise.all([workersOn(pair), own.hire.callOne(1) as Promise<WorkerMesh>]);
    // The reference goes from the far process to one of this machine, and from there to the near one.
    expect(await mine.ask.callOne(near, far, "passed on")).toEqual(["passed on"]);
    expect(await far.ask.callOne(near, mine, "to the machine of the program")).toEqual([
      "to the machine of the program",
    ]);
  });

  test("read memory of each other", async () => {
    await using pair = await ways[way]!();
    const [near, far] = await Promise.all(
      pair.hosts.map(async (host) => host.spawnProcs().spawn("vaults", vaults.IronVault).hire.callOne()),
    );
    const size = 1_000_000;
    for (const [reader, owner] of [
      [near!, far!],
      [far!, near!],
    ] as const) {
      const { bytes, message } = await reader.read.callOne(await owner.make.callOne(false, size, "r"), "stream", size);
      expect(message).toBe(undefined);
      expect(
        Buffer.from(bytes!).equals(Buffer.from(Uint8Array.from({ length: size }, (_, i) => vaults.pattern(i)))),
      ).toBe(true);
    }
  });

  test.each(["its own process", "the process of its owner", "the daemon of its host"])(
    "fail pending calls with a reason when the end is that of %s",
    async (whose) => {
      await using pair = await ways[way]!({ silence: lossSilence() });
      const { near, near2, far, farBoss } = await workersOn(pair);
      const [farPid, bossPid] = await Promise.all(
        [far, farBoss].map(async (actor) => (await actor.where.callOne()).pid),
      );
      const file = join(mkdtempSync(join(tmpdir(), "between-")), "never");
      // The handler that sleeps has begun when the file exists.
      await near.dictate.callOne(far, `${file} begun`, 1);
      const pending = failure(near.sleepOf.callOne(far, 100_000));
      const streamed = failure(near2.watch.callOne(far, file, 2));
      await until(() => existsSync(`${file} begun`));
      const pid = { "its own process": farPid!, "the process of its owner": bossPid! }[whose];
      process.kill(pid ?? pair.daemons[1].child.pid!, "SIGKILL");
      const errors = [await pending, await streamed, await failure(near.order.callOne(far, "too late"))];
      for (const [i, endpoint] of ["sleep", "countUntil", "echo"].entries()) {
        expect(errors[i]!.message).toMatch(new RegExp(`^cannot call crew\\.${endpoint} on rank 0[^:]*: `));
        expect(errors[i]!.message).toMatch(reasons);
      }
    },
  );
});
