/**
 * A program whose hosts are lost again and again and come back, while it calls the ranks on them, and the checks of its guarantees: a rank
 * has one living incarnation, no message comes to an old one or comes twice, a lost host uses up no restart, and the ranks of a host
 * that does not come back fail once, in time.
 */
import { SupervisionError } from "../../../runtime/actor/errors.js";
import { attachRoutedHosts } from "../../../runtime/host/attach-hosts.js";
import { onUnhandledFault } from "../../../runtime/proc/process/current-runtime.js";
import type { FaultKind, SimulateOptions, Simulation } from "../../../runtime/testing/index.js";
import { HostHolder, token } from "./host-holder.js";
import { HostedActor, type HostedActorMesh } from "./hosted-actor.js";
import { openReturnBook, type ReturnBook } from "./return-book.js";

const steps = 60;
/** The time limit of a run in ms of virtual time. */
const limit = 900_000;
/** The time in ms for which a lost host is waited for. It is longer than the longest fault. */
const hostTimeout = 40_000;
/** The time in ms after `hostTimeout` in which the program must have been told. */
const verdict = 4000;
/** The time in ms after which all lost hosts are back, also if each return fails several times. */
const patience = 90_000;
const longestFault = 20_000;

/** Faults that have no effect: nothing fails because of them. */
const kinds: readonly FaultKind[] = ["slow", "skew", "pause", "cut", "cut"];

export function optionsOf(seed: number): SimulateOptions {
  return { seed, limit, faults: { count: 4, within: 2000, kinds, longest: 400 } };
}

/** The ways in which a host is lost. */
const losses = ["crash-host", "crash-host", "crash-daemon", "partition", "one-way", "pause-host"] as const;

export interface Outcome {
  readonly deliveries: number;
  /** The number of times that hosts were lost. */
  readonly losses: number;
}

export async function returns(simulation: Simulation): Promise<Outcome> {
  const { random } = simulation;
  const book = openReturnBook(simulation);
  const told = new Map<number, { readonly times: number; readonly at: number; readonly why: string }>();
  onUnhandledFault((failure) => {
    simulation.note(`told of ${failure.summary}`);
    for (const rank of failure.ranks) {
      told.set(rank, { times: (told.get(rank)?.times ?? 0) + 1, at: simulation.now, why: failure.report() });
    }
  });
  const holder = new HostHolder(simulation, 2 + random.int(2), hostTimeout);
  const facts = { hasOwnProof: true, isSameLog: false, finder: holder.finder };
  const hosts = attachRoutedHosts(holder.places, { token }, facts);
  const perHost = 1 + random.int(2);
  const restart = { policy: "on-failure", maxRestarts: 1, within: limit, backoff: 20 } as const;
  const procs = hosts.spawnProcs({ gpus: perHost }, { name: "procs", restart });
  const actors = (procs.spawn("actors", HostedActor) as unknown as HostedActorMesh<"hosts" | "gpus">).flatten(
    "gpus",
  ) as unknown as HostedActorMesh<"gpus">;
  const ranks = Array.from({ length: actors.size }, (_, rank) => rank);
  const calls = new Calls(simulation, book, actors);
  await actors.take.callSettled(book.next()).catch(() => {});
  /** The ranks whose restart is used up. */
  const crashed = new Set<number>();
  let lost = 0;
  for (let i = 0; i < steps; i++) {
    const what = random.number();
    const draws = {
      rank: random.int(ranks.length),
      other: random.int(ranks.length),
      host: random.int(holder.names.length),
    };
    const [how, ms, pause] = [random.pick(losses), 4000 + random.int(longestFault - 4000), random.int(1500)];
    const fate = random.chance(0.08) ? random.pick(["never returns", "is refused"] as const) : "returns";
    if (!simulation.step()) continue;
    if (what < 0.12) {
      lost++;
      simulation.note(`host ${draws.host} ${how} ${ms}, ${fate}`);
      if (!holder.fates.has(draws.host) && fate !== "returns") holder.fates.set(draws.host, fate);
      lose(simulation, holder.names[draws.host]!, how, ms);
    } else if (what < 0.16 && !crashed.has(draws.rank)) {
      crashed.add(draws.rank);
      simulation.note(`rank ${draws.rank} crashes`);
      crashRank(simulation, draws.rank, perHost);
    } else if (what < 0.6) calls.call(draws.rank, what < 0.4);
    else calls.pass(draws.rank, draws.other);
    await simulation.sleep(pause);
  }
  await simulation.sleep(patience);
  await Promise.race([calls.settled(), simulation.sleep(patience)]);
  if (calls.pending > 0) book.violations.push(`${calls.pending} calls have never ended`);
  for (const rank of ranks) {
    const host = Math.floor(rank / perHost);
    const since = holder.missedSince.get(host);
    const report = told.get(rank);
    const waited = report !== undefined && since !== undefined ? report.at - since : 0;
    const mayFail = holder.refused.has(host) || waited >= hostTimeout;
    if (report === undefined && since === undefined) await calls.call(rank, true, true);
    else if (report === undefined) book.violations.push(`rank ${rank} has lost its host, and nobody was told`);
    else if (!mayFail) book.violations.push(`rank ${rank} has failed, and its host returns: ${report.why}`);
    else if (report.times > 1) book.violations.push(`rank ${rank}: told ${report.times} times`);
    else if (waited > hostTimeout + verdict) {
      book.violations.push(`rank ${rank} has waited for ${waited} ms, and hostTimeout is ${hostTimeout}`);
    }
  }
  if (book.violations.length > 0) throw new Error(book.violations.slice(0, 3).join("; "));
  return { deliveries: book.deliveries, losses: lost };
}

function lose(simulation: Simulation, host: string, how: (typeof losses)[number], ms: number): void {
  if (how === "crash-host") simulation.crashHost(host);
  else if (how === "pause-host") simulation.pauseHost(host, ms);
  else if (how !== "crash-daemon") simulation.partition("driver", host, ms, { oneWay: how === "one-way" });
  else {
    const daemon = simulation.processes.findLast((process) => process.host === host && process.program === undefined);
    if (daemon !== undefined && !daemon.ended) simulation.crash(daemon);
  }
}

/** Kills the process of a rank, if it has one. */
function crashRank(simulation: Simulation, rank: number, perHost: number): void {
  const [host, gpu] = [Math.floor(rank / perHost), rank % perHost];
  const isOf = (name: string) => name.startsWith(`hosts=${host}`) && name.includes(`gpus=${gpu}`);
  const process = simulation.processes.findLast(({ name, ended }) => !ended && isOf(name));
  if (process !== undefined) simulation.crash(process);
}

/** The calls of the program. */
class Calls {
  pending = 0;
  readonly #simulation: Simulation;
  readonly #book: ReturnBook;
  readonly #actors: HostedActorMesh<"gpus">;
  /** The newest incarnation of each rank that has answered. */
  readonly #seen = new Map<number, number>();
  #whenSettled: (() => void) | undefined;

  constructor(simulation: Simulation, book: ReturnBook, actors: HostedActorMesh<"gpus">) {
    this.#simulation = simulation;
    this.#book = book;
    this.#actors = actors;
  }

  /**
   * Calls a rank.
   * @param waits whether the call waits for a rank that is being restarted
   * @param lives whether the rank must answer
   */
  call(rank: number, waits: boolean, lives = false): Promise<void> {
    const before = this.#seen.get(rank) ?? 0;
    const { take } = this.#at(rank);
    return this.#follow(rank, (waits ? take.with({ wait: true }) : take).callOne(this.#book.next()), before, lives);
  }

  /** Has a rank call another one. */
  pass(rank: number, other: number): void {
    const before = this.#seen.get(other) ?? 0;
    void this.#follow(other, this.#at(rank).pass.callOne(this.#at(other), this.#book.next()), before, false);
  }

  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenSettled = resolve;
      if (this.pending === 0) resolve();
    });
  }

  #at(rank: number): HostedActorMesh<never> & HostedActorMesh {
    return this.#actors.slice({ gpus: rank }) as never;
  }

  async #follow(rank: number, answer: PromiseLike<number>, before: number, lives: boolean): Promise<void> {
    this.pending++;
    try {
      const incarnation = await answer;
      if (incarnation !== -1 && incarnation < before) {
        this.#book.violations.push(`rank ${rank} answered as incarnation ${incarnation} after ${before}`);
      }
      this.#seen.set(rank, Math.max(incarnation, this.#seen.get(rank) ?? 0));
    } catch (error) {
      const isExpected = error instanceof SupervisionError && !lives;
      if (!isExpected) this.#simulation.fail(`a call to rank ${rank} ended with ${String(error)}`);
    } finally {
      this.pending--;
      if (this.pending === 0) this.#whenSettled?.();
    }
  }
}
