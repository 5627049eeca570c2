/** The operations of a program on the ledgers of a simulated cluster. Each operation must end. */

import type { Settled } from "../../runtime/actor/call/gather-call.js";
import { BackpressureError, PortClosedError, SupervisionError, TimeoutError } from "../../runtime/actor/errors.js";
import { Channel } from "../../runtime/actor/port/channel.js";
import { thisHost } from "../../runtime/host/mesh/host-mesh.js";
import type { ProcMesh } from "../../runtime/host/mesh/proc-mesh.js";
import { range, type ValueMesh } from "../../runtime/shape/index.js";
import type { ProcessView, Simulation } from "../../runtime/testing/index.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { Ledger, type LedgerMesh } from "./ledger.js";
import type { MessageBook } from "./message-book.js";

/** The operations, with their weights. */
const operations = {
  notes: 6,
  burst: 3,
  add: 6,
  cast: 8,
  casts: 3,
  asked: 3,
  sum: 3,
  concat: 4,
  settled: 4,
  gossip: 6,
  feed: 2,
  stream: 2,
  streams: 2,
  impatient: 2,
  impatients: 1,
  cancelled: 1,
  withdrawn: 2,
  meanwhile: 2,
  answer: 2,
  patient: 2,
  left: 2,
  large: 1,
  spawn: 1,
  hire: 1,
  borrow: 2,
  fail: 1,
  meet: 2,
} as const;
export type Operation = keyof typeof operations;
export const weighted = Object.entries(operations).flatMap(([name, times]) =>
  Array<Operation>(times).fill(name as Operation),
);

/** Time limit in ms for answers at the end of a run. */
const patience = 60_000;

export interface ProgramOptions {
  readonly simulation: Simulation;
  readonly book: MessageBook;
  /** The name of the program as a sender. */
  readonly name: string;
  readonly process: ProcessView;
  readonly ledgers: LedgerMesh<"gpus">;
  /** The name of the mesh of ledgers. */
  readonly meshName: string;
  /** Whether no message can be lost, so that every call is answered. */
  readonly calm?: boolean;
}

export class Program {
  readonly #options: ProgramOptions;
  readonly #ledgers: LedgerMesh<"gpus">;
  readonly #pending = new Map<number, string>();
  /** The last number that the program has sent. */
  #number = 0;
  #asked = 0;
  #spawned = 0;
  /** Ranks whose processes were replaced. */
  readonly #replaced = new Set<number>();
  #whenSettled: (() => void) | undefined;

  constructor(options: ProgramOptions) {
    this.#options = options;
    this.#ledgers = options.ledgers;
    options.book.sender(options.name, options.process.pid);
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

  /** Replaces the process of a rank. */
  replace(rank: number, process: ProcMesh, drain: number): void {
    this.#replaced.add(rank);
    this.ask(`replace ${rank}`, process.replace({ drain }));
  }

  /** Checks that a promise settles. */
  ask(what: string, promise: PromiseLike<unknown>): void {
    const number = ++this.#asked;
    this.#pending.set(number, what);
    const done = (): void => {
      this.#pending.delete(number);
      this.#check();
    };
    promise.then(done, (error) => {
      if (!this.#expected(error)) this.#fail(`${what} ended with ${String(error)}`);
      done();
    });
  }

  /**
   * Checks that actors that cannot be called were reported. The caller makes sure that no messages are in flight.
   * @param eachOther whether to check also that all living actors can call each other
   */
  async checkReach(isTold: (rank: number) => boolean, eachOther: boolean): Promise<void> {
    const ledgers = this.#ledgers;
    const ranks = Array.from({ length: ledgers.size }, (_, rank) => rank);
    const at = (rank: number) => ledgers.slice({ gpus: rank }) as unknown as LedgerMesh;
    const { book, meshName } = this.#options;
    const answer = async (rank: number): Promise<boolean> => {
      try {
        await at(rank).meanwhile.with({ timeout: patience }).callOne(0);
        return true;
      } catch (error) {
        if (!isTold(rank))
          book.violation(`${meshName}[${rank}] cannot be called, and nobody was told: ${String(error)}`);
        return false;
      }
    };
    const answers = await Promise.all(ranks.map(answer));
    const reach = async (from: number, to: number): Promise<void> => {
      if (!answers[from] || !answers[to]) return;
      const reached = at(from).reach.with({ timeout: patience }).callOne(to);
      const why = await reached.then((text) => text, String);
      if (why !== "") book.violation(`${meshName}[${from}] cannot call ${meshName}[${to}], which lives: ${why}`);
    };
    if (!eachOther) return;
    ledgers.meet.broadcast(ledgers as unknown as LedgerMesh, meshName);
    await Promise.all(ranks.map((rank) => reach(rank, (rank + 1) % ledgers.size)));
  }

  /** Waits until all living actors have handled the earlier messages. */
  checkAll(): void {
    this.#send(0, this.#ledgers.size, true, (all, from, number) => {
      this.ask("last add to all", all.add.callSettled(from, number));
    });
    for (let rank = 0; rank < this.#ledgers.size; rank++) this.#call(`last add to ${rank}`, rank);
  }

  step(operation: Operation, rank: number, other: number, n: number): void {
    const ledgers = this.#ledgers;
    const { size } = ledgers;
    const one = ledgers.slice({ gpus: rank });
    const [low, high] = other % 2 === 0 ? [0, size] : [Math.min(rank, other), Math.max(rank, other) + 1];
    const many = ledgers.slice({ gpus: range(low, high) }) as unknown as LedgerMesh<"gpus">;
    switch (operation) {
      case "notes":
        for (let i = 0; i <= n % 10; i++) this.#note(rank, rank + 1);
        break;
      case "burst":
        for (let i = 0; i <= n; i++) this.#note(rank, rank + 1);
        break;
      case "add":
        this.#call(`add to ${rank}`, rank);
        break;
      case "cast":
        for (let i = 0; i <= n % 4; i++) this.#note(low, high);
        break;
      case "casts":
        // Direct messages, casts to parts and casts to all are mixed at random.
        for (let i = 0; i <= n; i++) {
          if (i % 3 === 0) this.#note(low, high);
          else if (i % 3 === 1) this.#note(rank, rank + 1);
          else this.#note(0, size);
        }
        break;
      case "asked":
        this.#send(low, high, true, (to, from, number) => {
          this.ask(
            "asked",
            to.add.callSettled(from, number).then((all) => this.#checkSettled("asked", all)),
          );
        });
        break;
      case "sum":
        this.#ask("sum", () => many.meanwhile.reduce("sum", n % 9).then(this.#expect("a sum", many.size * (n % 9))));
        break;
      case "concat": {
        const all = Array.from({ length: many.size }, (_, at) => at * 1000 + n);
        this.#ask("concat", () => many.where.reduce("concat", n).then(this.#expect("a concat", all)));
        break;
      }
      case "settled":
        this.#ask("settled", () => {
          const outcomes = ledgers.slice({ gpus: range(0, rank + 1) }).sleep.callSettled(n % 5);
          return outcomes.then((all) => this.#checkSettled("settled", all, n % 5));
        });
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
      case "streams":
        this.#streams(many, n % 12);
        break;
      case "impatient": {
        const timeout = 1 + (n % 7);
        this.#inTime("impatient", timeout, () => one.sleep.with({ timeout }).callOne(n));
        break;
      }
      case "impatients": {
        const timeout = 1 + (n % 7);
        this.#inTime("impatients", timeout, () => many.sleep.with({ timeout }).callSettled(n));
        break;
      }
      case "cancelled":
        this.#cancelled("cancelled", n % 13, () => one.sleep.callOne(n));
        break;
      case "withdrawn":
        this.#cancelled("withdrawn", n % 13, () => many.sleep.callSettled(n));
        break;
      case "meanwhile":
        this.#ask("meanwhile", () => ledgers.meanwhile.call(n));
        break;
      case "answer":
        this.#ask("answer", () => one.answer.callOne(n).then(this.#expect("an answer by port", n)));
        break;
      case "patient":
        this.#cancelled("patient", n % 13, () => one.patient.callOne());
        break;
      case "left":
        this.ask("left", this.#leave(one, n));
        break;
      case "large":
        this.#large(one, n * 12_000);
        break;
      case "spawn":
        this.#spawn(one, n);
        break;
      case "hire":
        this.#ask("hire", () => one.hire.callOne(1 + (n % 2)));
        break;
      case "borrow":
        this.#ask("borrow", () => this.#borrow(one, rank, n * 10));
        break;
      case "fail":
        if (n % 4 === 0) this.#failOwing(one);
        break;
      case "meet":
        // Restarted actors do not know their peers yet.
        ledgers.meet.broadcast(ledgers as unknown as LedgerMesh, this.#options.meshName);
        break;
    }
  }

  #note(low: number, high: number): void {
    const { book, meshName, calm = false } = this.#options;
    this.#send(low, high, false, (to, from, number) => {
      const sent = to.note.broadcast(from, number);
      // Messages without credit to a receiver that may be lost end with the receiver.
      if (calm && high === low + 1) void sent.then(() => book.credited(from, `${meshName}[${low}]`, number));
    });
  }

  #call(what: string, rank: number): void {
    this.#send(rank, rank + 1, true, (to, from, number) => {
      this.ask(
        what,
        to.add.callSettled(from, number).then((all) => this.#checkSettled(what, all)),
      );
    });
  }

  /** Sends the next number to some ranks. */
  #send(
    low: number,
    high: number,
    call: boolean,
    how: (to: LedgerMesh<"gpus">, from: string, number: number) => void,
  ): void {
    const { book, name, meshName } = this.#options;
    const number = ++this.#number;
    const addresses = Array.from({ length: high - low }, (_, at) => `${meshName}[${low + at}]`);
    const to = this.#ledgers.slice({ gpus: range(low, high) }) as unknown as LedgerMesh<"gpus">;
    const undo = book.sent(name, addresses, number, call);
    try {
      how(to, name, number);
    } catch (error) {
      undo();
      if (!this.#expected(error)) throw error;
    }
  }

  #ask(what: string, how: () => PromiseLike<unknown>): void {
    try {
      this.ask(what, how());
    } catch (error) {
      if (!this.#expected(error)) throw error;
    }
  }

  /** @param right the answer of all ranks, if it is the same */
  #checkSettled(what: string, outcomes: ValueMesh<Settled<number>, string>, right?: number): void {
    for (const outcome of outcomes.values()) {
      if (outcome.status === "rejected") {
        if (!this.#expected(outcome.reason)) this.#fail(`${what} ended with ${String(outcome.reason)}`);
      } else if (right !== undefined) this.#expect(what, right)(outcome.value);
    }
  }

  #expect(what: string, right: unknown): (value: unknown) => void {
    return (value) => {
      const [got, wanted] = [JSON.stringify(value), JSON.stringify(right)];
      if (got !== wanted) this.#fail(`${what} is ${got} in place of ${wanted}`);
    };
  }

  /** Runs an operation that ends after `ms` milliseconds, also if the receiver dies. */
  #inTime(what: string, ms: number, how: () => PromiseLike<unknown>): void {
    const { simulation } = this.#options;
    const { now } = simulation;
    const check = (): void => {
      const took = simulation.now - now;
      if (took > ms + 2) this.#fail(`${what} took ${took.toFixed(3)} ms in place of ${ms}`);
    };
    this.#ask(what, () => {
      const call = how();
      call.then(check, check);
      return call;
    });
  }

  #cancelled(what: string, ms: number, how: () => PromiseLike<unknown> & { cancel(): void }): void {
    this.#inTime(what, ms, () => {
      const call = how();
      setTimeout(() => call.cancel(), ms);
      return call;
    });
  }

  #feed(one: LedgerMesh<never>, count: number): void {
    const [port, receiver] = Channel.open(codec.int32);
    one.feed.broadcast(port, count);
    const receive = async (): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const value = await receiver.recv();
        if (value !== i) this.#fail(`a port got ${value} in place of ${i}`);
      }
    };
    this.ask(
      "feed",
      receive().finally(() => receiver.close()),
    );
  }

  #large(one: LedgerMesh<never>, size: number): void {
    const bytes = new Uint8Array(size).map((_, i) => i % 251);
    const check = (echo: Uint8Array): void => {
      if (Buffer.compare(echo, bytes) !== 0) this.#fail(`${size} bytes came back as ${echo.length} others`);
    };
    this.#ask("large", () => one.echo.callOne(bytes).then(check));
  }

  /** Makes an actor fail that owes an answer and holds a port. */
  #failOwing(one: LedgerMesh<never>): void {
    this.#ask("answer of one that fails", () => one.answer.callOne(500));
    const [port, receiver] = Channel.open(codec.int32);
    one.keep.broadcast(port);
    this.ask(
      "a port that one that fails holds",
      receiver.recv().finally(() => receiver.close()),
    );
    one.fail.broadcast();
  }

  /** Reads a few values of a stream, and then cancels it. */
  async #leave(one: LedgerMesh<never>, n: number): Promise<void> {
    let taken = 0;
    for await (const [, value] of one.count.stream(40 + n)) {
      if (value !== taken) this.#fail(`a stream that is left yielded ${value} in place of ${taken}`);
      if (++taken > n % 9) return;
    }
  }

  #stream(one: LedgerMesh<never>, count: number): void {
    const take = async (): Promise<void> => {
      let next = 0;
      for await (const [, value] of one.count.stream(count)) {
        if (value !== next) this.#fail(`a stream yielded ${value} in place of ${next}`);
        next++;
      }
      if (next !== count) this.#fail(`a stream ended in order after ${next} of ${count}`);
    };
    this.ask("stream", take());
  }

  #streams(many: LedgerMesh<"gpus">, count: number): void {
    const take = async (): Promise<void> => {
      const next = Array<number>(many.size).fill(0);
      for await (const [{ rank }, value] of many.count.stream(count)) {
        if (value !== next[rank]) this.#fail(`stream ${rank} yielded ${value} in place of ${next[rank]}`);
        next[rank] = value + 1;
      }
      if (next.some((items) => items !== count)) this.#fail(`streams ended in order after ${next} of ${count}`);
    };
    this.ask("streams", take());
  }

  /** Spawns processes and actors, and stops them soon. */
  #spawn(one: LedgerMesh<never>, n: number): void {
    const name = `extra${++this.#spawned}`;
    const isolation = n % 3 === 0 ? "inline" : "process";
    const procs = thisHost().spawnProcs({ extras: 1 + (n % 3) }, { name, isolation });
    const mesh = procs.spawn(`${name} ledgers`, Ledger) as unknown as LedgerMesh<"extras">;
    const work = async (): Promise<void> => {
      this.#checkSettled("spawn", await mesh.sleep.callSettled(n % 7), n % 7);
      const others = mesh as unknown as LedgerMesh;
      this.#ask("visit", () => one.visit.callOne(others, n % 5));
      if (n % 2 === 0) await mesh.stop({ drain: n });
      // Some processes live on, so calls of the stopped actors do not fail because of the end of a process.
      if (n % 4 === 0) return;
      await procs.stop({ drain: n });
    };
    this.ask("spawn", work());
  }

  /** Calls processes of an actor for the first time when they, or the actor, may have ended. */
  async #borrow(one: LedgerMesh<never>, rank: number, ms: number): Promise<void> {
    const crew = await one.lend.callOne(1 + (ms % 2));
    await this.#options.simulation.sleep(ms);
    for (let i = 0; i < 3; i++) {
      const outcomes = await crew.meanwhile.callSettled(1);
      // The processes of an actor end with it.
      if (!this.#replaced.has(rank)) this.#checkSettled("borrow", outcomes, 1);
    }
  }

  #expected(error: unknown): boolean {
    const lost = error instanceof SupervisionError || error instanceof PortClosedError;
    return expected(error) && !(this.#options.calm === true && lost);
  }

  #fail(why: string): void {
    this.#options.simulation.fail(why);
  }

  #check(): void {
    if (this.#pending.size === 0) this.#whenSettled?.();
  }
}

/** The errors that calls and sends may end with because of faults. */
export function expected(error: unknown): boolean {
  if (error instanceof SupervisionError || error instanceof TimeoutError) return true;
  if (error instanceof BackpressureError || error instanceof PortClosedError) return true;
  if (error instanceof DOMException) return error.name === "AbortError";
  return error instanceof Error && /^cannot (replace|spawn)|was stopped/.test(error.message);
}
