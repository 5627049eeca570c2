/**
 * A program that uses all features of a cluster while faults happen, and the checks of its guarantees: the messages of
 * a sender are handled once and in order, every call ends, and every failed rank is reported once. Some clusters are
 * one machine. Others are attached hosts, sometimes with a second driver that may vanish.
 */
import { attachHosts } from "../../runtime/host/attach-hosts.js";
import { thisHost } from "../../runtime/host/mesh/host-mesh.js";
import type { ProcMesh } from "../../runtime/host/mesh/proc-mesh.js";
import { onUnhandledFault } from "../../runtime/proc/process/current-runtime.js";
import type { FaultKind, SimulateOptions, Simulation } from "../../runtime/testing/index.js";
import { checkEnds, checkTold } from "./check-process-ends.js";
import { hasSuffered } from "./fault-exposure.js";
import { Ledger, type LedgerMesh } from "./ledger.js";
import { type MessageBook, openBook } from "./message-book.js";
import { expected, type Operation, Program, weighted } from "./program.js";

const steps = 60;
/** Minimum number of messages that each run delivers. */
const leastDeliveries = 500;
/** Time in ms after which the effects of the last fault are over. */
const patience = 200_000;
const token = "what drivers and hosts share";
/** The longest duration of a fault, in ms. */
const longest = 20_000;
/** Number of operations that are not operations of `Program`. */
const rare = { replace: 0.012, pause: 0.05 };

/** The kind of cluster: one machine whose processes are on different hosts of the network, or attached hosts. */
function onHosts(seed: number): boolean {
  return seed % 3 !== 0;
}

/** Time in ms within which a replaced process handles its messages in a run without faults. */
const calmDrain = 20_000;

/**
 * The faults of calm runs. They excuse no failure: no message is lost and no actor fails, also when processes are
 * replaced.
 */
function isCalm(seed: number): boolean {
  return seed % 5 === 2;
}

/** The longest duration in ms of a fault that has no effect. */
const shortest = 400;
const calmKinds: readonly FaultKind[] = ["pause", "pause", "partition", "slow", "skew"];
const calmKindsOfHosts: readonly FaultKind[] = [...calmKinds, "cut", "cut", "cut", "cut", "pause-host"];

const kindsOfMachine: readonly FaultKind[] = ["crash", "pause", "cut", "partition", "slow", "skew"];
const kindsOfHosts: readonly FaultKind[] = [
  ...["crash", "crash", "pause", "pause", "pause-host", "cut", "cut", "cut", "cut", "mute"],
  ...["partition", "partition", "slow", "skew", "crash-host"],
] as FaultKind[];

/** The credit is small, so that senders wait for it. */
const credit = { creditMessages: 16, creditBytes: 64 * 1024, streamItems: 8, streamBytes: 4096 };
/** Casts to more actors than this use trees. */
const treesAbove = [1, 1, 2, 3, 64];

/** Confirmation delays of links in ms. Some are so long that other connections are tried without need. */
const overdue = [20, 200, 5000];

/**
 * Sizes of the resend buffers of links between hosts, in bytes. Some are so small that senders wait for confirmations.
 */
const resendBytes = [16 * 1024 * 1024, 32 * 1024];

/** Time limit of a run in ms of virtual time, several times the duration of the longest run. */
const limit = 600_000;

/** The options of a cluster of `npm run sim`. */
export function optionsOf(seed: number): SimulateOptions {
  const treeAbove = treesAbove[Math.floor(seed / 3) % treesAbove.length]!;
  const limits = { ...credit, treeAbove, treeFanout: 2, endedActors: seed % 2 };
  if (onHosts(seed)) {
    const resumable = {
      overdueMs: overdue[Math.floor(seed / 15) % overdue.length]!,
      resendBytes: resendBytes[Math.floor(seed / 2) % resendBytes.length]!,
    };
    const faults = isCalm(seed)
      ? { count: 8, within: 300, kinds: calmKindsOfHosts, longest: shortest }
      : { count: 8, within: 600, kinds: kindsOfHosts, longest };
    return { seed, limit, limits, resumable, faults };
  }
  const faults = isCalm(seed)
    ? { count: 7, within: 300, kinds: calmKinds, longest: shortest }
    : { count: 7, within: 400, kinds: kindsOfMachine };
  return { seed, limit, limits, place: ({ rank }) => `host${rank % 3}`, faults };
}

export interface Outcome {
  /** Number of messages that actors have handled. */
  readonly deliveries: number;
}

export async function cluster(simulation: Simulation): Promise<Outcome> {
  const { random, seed } = simulation;
  const calm = isCalm(seed);
  const book = openBook(simulation, { lasting: onHosts(seed), calm, credit: credit.creditMessages });
  onUnhandledFault((failure) => book.owner("program", failure));
  const restarts = random.chance(0.2);
  const restart = { policy: "on-failure", maxRestarts: 2, within: 60_000, backoff: 20 } as const;
  const options = { name: "procs", ...(restarts ? { restart } : {}) };
  const procs = onHosts(seed)
    ? hostsOf(simulation).spawnProcs({ gpus: 1 + random.int(3) }, options)
    : machine(simulation, options);
  const ledgers = spawnLedgers(procs, "ledgers");
  const { size } = ledgers;
  const program = new Program({
    ...{ simulation, book, ledgers, name: "program", process: simulation.program, meshName: "ledgers", calm },
  });
  ledgers.meet.broadcast(ledgers as unknown as LedgerMesh, "ledgers");
  const second = onHosts(seed) && random.chance(0.35) ? secondDriver(simulation, book) : undefined;
  let replaced = false;
  for (let i = 0; i < steps; i++) {
    const operation = random.pick(weighted);
    const draws = { rank: random.int(size), other: random.int(size), n: random.int(40), what: random.number() };
    const sleep = random.chance(0.3) ? random.int(8) : 0;
    if (!simulation.step()) continue;
    simulation.note(`${operation} ${JSON.stringify(draws)}`);
    if (calm && operation === "fail") continue;
    if (draws.what < rare.replace) {
      replaced = true;
      for (const mesh of ["procs", "ledgers"]) book.replaced("program", mesh, draws.rank);
      const one = (procs as ProcMesh<"gpus">).flatten("gpus").slice({ gpus: draws.rank } as never);
      program.replace(draws.rank, one as ProcMesh, calm ? calmDrain : 200);
    } else if (draws.what < rare.replace + rare.pause) await simulation.sleep(draws.n);
    else program.step(operation as Operation, draws.rank, draws.other, draws.n);
    if (sleep > 0) await simulation.sleep(sleep);
  }
  await topUp(simulation, book);
  program.checkAll();
  await Promise.race([program.settled(), simulation.sleep(patience)]);
  if (program.pending.length > 0) book.violation(`never ended: ${program.pending.join(", ")}`);
  await second?.();
  // Failures are reported in later turns, and late if a host crashes while the process that watches it is paused.
  await simulation.sleep(longest + 6000);
  const { hosts = 1 } = procs.extent as Readonly<Record<string, number>>;
  const lasting = onHosts(seed);
  const remade = restarts || replaced;
  checkTold(simulation, book, { perHost: size / hosts, remade, lasting });
  book.checkRest(remade);
  const isTold = (rank: number) => ["ledgers", "procs"].some((mesh) => book.told.has(`program: ${mesh}[${rank}]`));
  if (!remade) book.checkFailed("program", (address) => isTold(Number(/\d+/.exec(address)?.[0])));
  const unharmed = calm || simulation.processes.every((process) => !hasSuffered(simulation, process, lasting));
  await program.checkReach(isTold, unharmed);
  if (book.violations.length > 0) throw new Error(book.violations.slice(0, 3).join("; "));
  return { deliveries: book.deliveries };
}

function machine({ random }: Simulation, options: object): ProcMesh<"gpus"> {
  return thisHost().spawnProcs({ gpus: 3 + random.int(3) }, options);
}

/** Attaches 2 to 4 hosts. */
function hostsOf(simulation: Simulation) {
  const names = Array.from({ length: 2 + simulation.random.int(3) }, (_, i) => `n${i}`);
  for (const name of names) simulation.startHost(name, { token });
  return attachHosts(names.map(addressOf), { token });
}

function addressOf(host: string): string {
  return `tcp://${host}`;
}

function spawnLedgers(procs: ProcMesh<string>, name: string): LedgerMesh<"gpus"> {
  return (procs.spawn(name, Ledger) as unknown as LedgerMesh).flatten("gpus") as unknown as LedgerMesh<"gpus">;
}

/** Starts a second driver on the same hosts, which vanishes or ends. @returns a function that checks its end */
function secondDriver(simulation: Simulation, book: MessageBook): () => Promise<void> {
  const { random } = simulation;
  const fate = random.pick(["ends", "ends", "crash", "crash", "crash-host", "partition"] as const);
  const [lives, number, wait] = [random.int(400), random.int(20), random.int(100)];
  const driver = simulation.startProgram("driver2", "desk", async () => {
    onUnhandledFault((failure) => book.owner("driver2", failure));
    const hosts = attachHosts(["tcp://n0", "tcp://n1"], { token });
    const procs = hosts.spawnProcs({ gpus: 1 }, { name: "more" });
    const ledgers = spawnLedgers(procs, "theirs");
    const program = new Program({
      ...{ simulation, book, ledgers, name: "driver2", process: driver, meshName: "theirs" },
    });
    for (let i = 0; i < number; i++) {
      program.step(random.pick(["notes", "cast", "casts", "add", "asked", "concat"]), random.int(2), random.int(2), i);
      await simulation.sleep(random.int(10));
    }
    program.checkAll();
    await program.settled();
    await simulation.sleep(wait);
  });
  void simulation.sleep(lives).then(() => {
    if (fate === "crash") simulation.crash(driver);
    else if (fate === "crash-host") simulation.crashHost("desk");
    else if (fate === "partition") for (const host of ["n0", "n1"]) simulation.partition("desk", host, 40_000);
  });
  return () => checkEnds(simulation, book, driver);
}

/** Starts new processes if most have died early, so that each run delivers enough messages. */
async function topUp(simulation: Simulation, book: MessageBook): Promise<void> {
  for (let round = 1; book.deliveries < leastDeliveries && round < 20; round++) {
    const name = `more${round}`;
    const procs = thisHost().spawnProcs({ gpus: 2 }, { name });
    const ledgers = procs.spawn(`${name} ledgers`, Ledger) as unknown as LedgerMesh<"gpus">;
    const from = `program ${name}`;
    const addresses = [0, 1].map((rank) => `${name} ledgers[${rank}]`);
    book.sender(from, simulation.program.pid);
    try {
      for (let i = 1; i <= 100; i++) {
        book.sent(from, addresses, i, false);
        await ledgers.note.broadcast(from, i);
      }
      await ledgers.sleep.callSettled(0);
      await procs.stop();
    } catch (error) {
      if (!expected(error)) throw error;
    }
    await simulation.sleep(10);
  }
}
