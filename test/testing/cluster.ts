/**
 * A program that uses everything of a cluster while it goes wrong, and the promises that are kept all the same: messages of
 * one sender in order and once, every call ends, every rank that fails is told of once.
 */
import { Channel } from "../../runtime/actor/channel.js";
import { BackpressureError, PortClosedError, SupervisionError, TimeoutError } from "../../runtime/actor/errors.js";
import { thisHost } from "../../runtime/host/host-mesh.js";
import { defaultLimits } from "../../runtime/link/limits.js";
import { onUnhandledFault } from "../../runtime/proc/local.js";
import { range } from "../../runtime/shape/index.js";
import type { SimulateOptions, Simulation } from "../../runtime/testing/index.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { type Book, Ledger, type LedgerMesh, newBook } from "./ledger.js";

/** What the program does, and how often it is asked to. */
const operations = {
  notes: 6,
  burst: 3,
  add: 6,
  settled: 4,
  gossip: 6,
  feed: 2,
  stream: 2,
  impatient: 2,
  cancelled: 1,
  meanwhile: 2,
  answer: 2,
  large: 1,
  spawn: 1,
  hire: 1,
  replace: 1,
  fail: 1,
  pause: 4,
} as const;
type Operation = keyof typeof operations;
const weighted = Object.entries(operations).flatMap(([name, times]) => Array<Operation>(times).fill(name as Operation));

const steps = 60;
/** Every run delivers at least so many messages. */
const leastDeliveries = 500;
/** Milliseconds, long after the last fault has been got over. */
const patience = 200_000;

/** How the clusters of `npm run sim` are made. */
export const options: Omit<SimulateOptions, "seed"> = {
  place: ({ rank }) => `host${rank % 3}`,
  faults: { count: 7, within: 400 },
};

export interface Outcome {
  /** Messages that actors have handled. */
  readonly deliveries: number;
}

// Little credit, so that senders come to wait for it.
Object.assign(defaultLimits, { creditMessages: 16, creditBytes: 64 * 1024, streamItems: 8, streamBytes: 4096 });

export async function cluster(simulation: Simulation): Promise<Outcome> {
  const book = newBook({
    cut: () => simulation.faults.some(({ kind }) => kind === "cut"),
    crash: () => simulation.faults.some(({ kind }) => kind.startsWith("crash")),
  });
  onUnhandledFault((failure) => book.owner("program", failure));
  const { random } = simulation;
  const size = 3 + random.int(3);
  const procs = thisHost().spawnProcs({ gpus: size }, { name: "procs" });
  const ledgers = procs.spawn("ledgers", Ledger) as unknown as LedgerMesh<"gpus">;
  const program = new Program(simulation, ledgers, size);
  ledgers.meet.broadcast(ledgers as unknown as LedgerMesh, 0);
  for (let i = 0; i < steps; i++) {
    const operation = random.pick(weighted);
    const draws = { rank: random.int(size), other: random.int(size), n: random.int(40) };
    if (!simulation.step()) continue;
    if (operation === "pause") await simulation.sleep(draws.n);
    else if (operation === "replace") {
      for (const mesh of ["procs", "ledgers"]) book.replaced(mesh, draws.rank);
      const one = procs.slice({ gpus: draws.rank } as never);
      program.ask(`replace ${draws.rank}`, one.replace({ drain: 200 }));
    } else program.step(operation, draws.rank, draws.other, draws.n);
    if (random.chance(0.3)) await simulation.sleep(random.int(8));
  }
  await topUp(simulation, book);
  program.checkAll();
  await Promise.race([program.settled(), simulation.sleep(patience)]);
  if (program.pending.length > 0) book.violations.push(`never ended: ${program.pending.join(", ")}`);
  // Failures are told in turns of their own.
  await simulation.sleep(30_000);
  for (const { name, end } of simulation.processes) {
    const rank = /^procs gpus=(\d+)@/.exec(name)?.[1];
    const died = end !== undefined && /SIGKILL|crashed/.test(end);
    if (rank !== undefined && died && !program.replaced && !book.told.has(`program: procs[${rank}]`)) {
      book.violations.push(`nobody was told of ${name}: ${end}`);
    }
  }
  const hurt = simulation.faults.some(({ kind }) => kind === "cut" || kind.startsWith("crash"));
  const [told] = [...book.told.keys()].filter((key) => /: (?:procs|crew\d+|more\d+|extra\d+)\[/.test(key));
  if (told !== undefined && !hurt) book.violations.push(`told of a failure, and there was none: ${told}`);
  if (book.violations.length > 0) throw new Error(book.violations.slice(0, 3).join("; "));
  return { deliveries: book.deliveries };
}

/** Where most processes died early there is little left to do: new ones take what is missing. */
async function topUp(simulation: Simulation, book: Book): Promise<void> {
  for (let round = 1; book.deliveries < leastDeliveries && round < 20; round++) {
    const name = `more${round}`;
    const procs = thisHost().spawnProcs({ gpus: 2 }, { name });
    const ledgers = procs.spawn(`${name} ledgers`, Ledger) as unknown as LedgerMesh<"gpus">;
    try {
      for (let i = 1; i <= 100; i++) await ledgers.note.broadcast(name, i);
      await ledgers.sleep.callSettled(0);
      await procs.stop();
    } catch (error) {
      if (!expected(error)) throw error;
    }
    await simulation.sleep(10);
  }
}

class Program {
  /** Processes have been replaced: the old ones are ended. */
  replaced = false;
  readonly #simulation: Simulation;
  readonly #ledgers: LedgerMesh<"gpus">;
  readonly #sent: number[];
  readonly #pending = new Map<number, string>();
  #asked = 0;
  #spawned = 0;
  #whenSettled: (() => void) | undefined;

  constructor(simulation: Simulation, ledgers: LedgerMesh<"gpus">, size: number) {
    this.#simulation = simulation;
    this.#ledgers = ledgers;
    this.#sent = Array<number>(size).fill(0);
  }

  get pending(): string[] {
    return [...this.#pending.values()];
  }

  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenSettled = resolve;
      this.#check();
    });
  }

  /** Something must come to an end, whatever that is. */
  ask(what: string, promise: PromiseLike<unknown>): void {
    const number = ++this.#asked;
    this.#pending.set(number, what);
    if (what.startsWith("replace")) this.replaced = true;
    const done = (): void => {
      this.#pending.delete(number);
      this.#check();
    };
    promise.then(done, (error) => {
      if (!expected(error)) this.#simulation.fail(`${what} ended of ${String(error)}`);
      done();
    });
  }

  /** What was sent before has come, to all who live. */
  checkAll(): void {
    for (const rank of this.#sent.keys()) this.#send(rank, (one, number) => this.#call("last add", one, number));
  }

  step(operation: Exclude<Operation, "pause" | "replace">, rank: number, other: number, n: number): void {
    const ledgers = this.#ledgers;
    const one = ledgers.slice({ gpus: rank });
    switch (operation) {
      case "notes":
        for (let i = 0; i <= n % 10; i++) this.#send(rank, (to, number) => void to.note.broadcast("program", number));
        break;
      case "burst":
        for (let i = 0; i <= n; i++) this.#send(rank, (to, number) => void to.note.broadcast("program", number));
        break;
      case "add":
        this.#send(rank, (to, number) => this.#call(`add to ${rank}`, to, number));
        break;
      case "settled":
        this.#ask("settled", () => ledgers.slice({ gpus: range(0, rank + 1) }).sleep.callSettled(n % 5));
        break;
      case "gossip":
        this.#ask(`gossip ${rank} ${other}`, () => one.gossip.callOne(other, n));
        break;
      case "feed":
        this.#feed(one, n);
        break;
      case "stream":
        this.#stream(one, n);
        break;
      case "impatient": {
        const timeout = 1 + (n % 7);
        this.#inTime("impatient", timeout, () => one.sleep.with({ timeout }).callOne(n));
        break;
      }
      case "cancelled":
        this.#inTime("cancelled", n % 13, () => {
          const call = one.sleep.callOne(n);
          setTimeout(() => call.cancel(), n % 13);
          return call;
        });
        break;
      case "meanwhile":
        this.#ask("meanwhile", () => ledgers.meanwhile.call(n));
        break;
      case "answer":
        this.#ask("answer", () => one.answer.callOne(n));
        break;
      case "large":
        this.#ask("large", () => one.echo.callOne(new Uint8Array(n * 4000)));
        break;
      case "spawn":
        this.#spawn(one, n);
        break;
      case "hire":
        this.#ask("hire", () => one.hire.callOne(1 + (n % 2)));
        break;
      case "fail":
        if (n % 4 === 0) one.fail.broadcast();
        break;
    }
  }

  #send(rank: number, how: (one: LedgerMesh, number: number) => void): void {
    const number = this.#sent[rank]! + 1;
    try {
      how(this.#ledgers.slice({ gpus: rank }) as unknown as LedgerMesh, number);
      this.#sent[rank] = number;
    } catch (error) {
      if (!expected(error)) throw error;
    }
  }

  #call(what: string, one: LedgerMesh, number: number): void {
    this.ask(what, one.add.callOne("program", number));
  }

  #ask(what: string, how: () => PromiseLike<unknown>): void {
    try {
      this.ask(what, how());
    } catch (error) {
      if (!expected(error)) throw error;
    }
  }

  /** Ends by itself after so many ms, whatever becomes of the receiver. */
  #inTime(what: string, ms: number, how: () => PromiseLike<unknown>): void {
    const { now } = this.#simulation;
    const check = (): void => {
      const took = this.#simulation.now - now;
      if (took > ms + 2) this.#simulation.fail(`${what} took ${took.toFixed(3)} ms in place of ${ms}`);
    };
    this.#ask(what, () => {
      const call = how();
      call.then(check, check);
      return call;
    });
  }

  #feed(one: LedgerMesh<never>, count: number): void {
    const [port, receiver] = Channel.open(codec.int32);
    one.feed.broadcast(port, count);
    const receive = async (): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const value = await receiver.recv();
        if (value !== i) this.#simulation.fail(`a port got ${value} in place of ${i}`);
      }
    };
    this.ask(
      "feed",
      receive().finally(() => receiver.close()),
    );
  }

  #stream(one: LedgerMesh<never>, count: number): void {
    const take = async (): Promise<void> => {
      let next = 0;
      for await (const [, value] of one.count.stream(count)) {
        if (value !== next) this.#simulation.fail(`a stream yielded ${value} in place of ${next}`);
        next++;
      }
      if (next !== count) this.#simulation.fail(`a stream ended in order after ${next} of ${count}`);
    };
    this.ask("stream", take());
  }

  /** Processes and actors that soon go again. */
  #spawn(one: LedgerMesh<never>, n: number): void {
    const name = `extra${++this.#spawned}`;
    const isolation = n % 3 === 0 ? "inline" : "process";
    const procs = thisHost().spawnProcs({ extras: 1 + (n % 3) }, { name, isolation });
    const mesh = procs.spawn(`${name} ledgers`, Ledger) as unknown as LedgerMesh<"extras">;
    const work = async (): Promise<void> => {
      await mesh.sleep.callSettled(n % 7);
      const others = mesh as unknown as LedgerMesh;
      this.#ask("visit", () => one.visit.callOne(others, n % 5));
      if (n % 2 === 0) await mesh.stop({ drain: n });
      await procs.stop({ drain: n });
    };
    this.ask("spawn", work());
  }

  #check(): void {
    if (this.#pending.size === 0) this.#whenSettled?.();
  }
}

/** How calls and sends may end when things go wrong: what users are told of. */
function expected(error: unknown): boolean {
  if (error instanceof SupervisionError || error instanceof TimeoutError) return true;
  if (error instanceof BackpressureError || error instanceof PortClosedError) return true;
  if (error instanceof DOMException) return error.name === "AbortError";
  return error instanceof Error && /^cannot (replace|spawn)|was stopped/.test(error.message);
}
