/**
 * Runs a {@link LeaseQueue} with random requests, and checks after each step what it promises, against sums that are counted
 * here. A promise that is broken is an error whose text begins with the name of the promise.
 */
import { Capacity } from "../../../runtime/tasks/host/capacity.js";
import { type Granted, LeaseQueue, type QueueRequest } from "../../../runtime/tasks/host/lease-queue.js";
import { type Amounts, amountsOf, unitsOfOne } from "../../../runtime/tasks/host/resources.js";
import type { Random } from "../../random.js";

/** The promises. */
export type Promised =
  | "no more than there is is granted"
  | "no GPU is granted twice"
  | "sums are exact"
  | "only what waits is granted, once"
  | "the oldest request that fits is granted"
  | "leases are asked for once, and only if others wait"
  | "every request is granted at last";

export class BrokenPromise extends Error {
  readonly promised: Promised;

  constructor(promised: Promised, detail: string) {
    super(`${promised}: ${detail}`);
    this.promised = promised;
  }
}

const patience = 100;

/** Checks the decisions of one queue. */
export class CheckedQueue {
  readonly queue: LeaseQueue;
  readonly total: Amounts;
  readonly workers: number;
  readonly waiting = new Map<number, QueueRequest>();
  readonly held = new Map<number, Granted & { isSuspended: boolean }>();
  readonly wanted = new Set<number>();
  now = 0;
  #lastId = 0;
  /** Whether a lease has gone on while others had what it had before. */
  #isResumed = false;

  constructor(total: Record<string, number>, workers: number) {
    this.total = amountsOf(total);
    this.workers = workers;
    this.queue = new LeaseQueue({ total: this.total, workers, patience });
  }

  /** Adds a request, unless it can never be granted. */
  add(request: Omit<QueueRequest, "id" | "place">): number | undefined {
    const id = ++this.#lastId;
    const full = { ...request, id, place: "" };
    if (this.queue.neverHas(full).length > 0) return undefined;
    this.queue.add(full, this.now);
    this.waiting.set(id, full);
    this.decide();
    return id;
  }

  withdraw(id: number): void {
    if (!this.queue.withdraw(id)) broken("only what waits is granted, once", `request ${id} waited`);
    this.waiting.delete(id);
    this.decide();
  }

  release(id: number): void {
    this.queue.release(id);
    this.held.delete(id);
    if (this.held.size === 0) this.#isResumed = false;
    this.decide();
  }

  suspend(id: number): void {
    this.queue.suspend(id);
    this.held.get(id)!.isSuspended = true;
    this.decide();
  }

  resume(id: number): void {
    this.queue.resume(id);
    this.held.get(id)!.isSuspended = false;
    this.#isResumed = true;
    this.decide();
  }

  decide(): void {
    const { granted, wanted } = this.queue.decide(this.now);
    for (const grant of granted) {
      const { id } = grant.request;
      if (!this.waiting.delete(id)) broken("only what waits is granted, once", `${id} was granted`);
      this.held.set(id, { ...grant, isSuspended: false });
    }
    if (granted.length > 0) this.#checkRoom(granted);
    this.#checkSums();
    this.#checkOldest();
    this.#checkWanted(wanted);
  }

  #active(): Granted[] {
    return [...this.held.values()].filter(({ isSuspended }) => !isSuspended);
  }

  #checkRoom(granted: readonly Granted[]): void {
    if (this.#isResumed) return;
    const used = this.#used();
    for (const [name, units] of used) {
      if (units > (this.total.get(name) ?? 0)) broken("no more than there is is granted", `${units} units of ${name}`);
    }
    const workers = this.#active().filter(({ request }) => request.usesWorker).length;
    if (workers > this.workers) broken("no more than there is is granted", `${workers} worker processes`);
    const units = new Map<number, number>();
    for (const { share } of this.#active()) {
      const each = (share.amounts.get("gpus") ?? 0) / Math.max(1, share.gpus.length);
      for (const index of share.gpus) units.set(index, (units.get(index) ?? 0) + each);
    }
    for (const [index, sum] of units)
      if (sum > unitsOfOne) broken("no GPU is granted twice", `${sum} units of GPU ${index}`);
    for (const { request, share } of granted) {
      const count = Math.ceil((request.amounts.get("gpus") ?? 0) / unitsOfOne);
      if (new Set(share.gpus).size !== count) broken("no GPU is granted twice", `GPUs ${share.gpus} for ${count}`);
    }
  }

  #used(): Map<string, number> {
    const used = new Map<string, number>();
    for (const { share } of this.#active()) {
      for (const [name, units] of share.amounts) used.set(name, (used.get(name) ?? 0) + units);
    }
    return used;
  }

  #checkSums(): void {
    const used = this.#used();
    for (const [name, units] of this.total) {
      const free = this.queue.free.get(name);
      const expected = units - (used.get(name) ?? 0);
      if (free !== expected) broken("sums are exact", `${free} units of ${name} are free instead of ${expected}`);
    }
    if (this.queue.waitingCount !== this.waiting.size)
      broken("only what waits is granted, once", "another number waits");
  }

  #checkOldest(): void {
    const [oldest] = this.waiting.values();
    if (oldest === undefined) return;
    const room = Capacity.ofHost(this.total);
    for (const { share } of this.#active()) room.retake(share);
    const workers = this.workers - this.#active().filter(({ request }) => request.usesWorker).length;
    if (room.fits(oldest.amounts) && (workers > 0 || !oldest.usesWorker)) {
      broken("the oldest request that fits is granted", `${oldest.id} waits`);
    }
  }

  #checkWanted(wanted: readonly number[]): void {
    for (const id of wanted) {
      const held = this.held.get(id);
      const others = [...this.waiting.values()].some(({ kind }) => kind !== held?.request.kind);
      if (this.wanted.has(id) || held === undefined || held.isSuspended || held.request.isLasting || !others) {
        broken("leases are asked for once, and only if others wait", `lease ${id} was asked for`);
      }
      this.wanted.add(id);
    }
  }
}

function broken(promised: Promised, detail: string): never {
  throw new BrokenPromise(promised, detail);
}

const kinds = ["a", "b", "c", "d"];

function randomHost(random: Random): CheckedQueue {
  const total = { cpus: 1 + random(8), gpus: random(4), memory: 1 + random(1000), tokens: random(30) / 10 };
  return new CheckedQueue(total, 1 + random(6));
}

function randomAmounts(random: Random): Amounts {
  const amounts: Record<string, number> = { cpus: [0, 1, 1, 0.1, 0.5, 2, 3][random(7)]! };
  if (random(3) === 0) amounts["gpus"] = [0.25, 0.5, 1, 1 / 3, 2][random(5)]!;
  if (random(4) === 0) amounts["memory"] = 1 + random(600);
  if (random(4) === 0) amounts["tokens"] = (1 + random(10)) / 10;
  return amountsOf(amounts);
}

/** Makes random steps, and lets everything end then. */
export function runRandomSteps(random: Random, steps = 120): void {
  const checked = randomHost(random);
  const any = <T>(items: readonly T[]): T | undefined => items[random(items.length)];
  for (let step = 0; step < steps; step++) {
    checked.now += random(40);
    const held = any([...checked.held.values()]);
    const waiting = any([...checked.waiting.keys()]);
    const choice = random(10);
    if (choice < 4) {
      const isLasting = random(8) === 0;
      checked.add({ kind: any(kinds)!, amounts: randomAmounts(random), usesWorker: !isLasting, isLasting });
    } else if (choice < 7 && held !== undefined) checked.release(held.request.id);
    else if (choice === 7 && waiting !== undefined) checked.withdraw(waiting);
    else if (choice === 8 && held !== undefined && !held.request.isLasting) checked.suspend(held.request.id);
    else if (choice === 9 && held?.isSuspended === true) checked.resume(held.request.id);
  }
  while (checked.held.size > 0) checked.release([...checked.held.keys()][0]!);
  if (checked.waiting.size > 0) broken("every request is granted at last", `${checked.waiting.size} wait for nothing`);
}

/**
 * Several holders have tasks without end: they ask for a lease again whenever they give one back, and give it back some
 * time after it was asked for. A request of each size among them has to be granted.
 */
export function runEndlessHolders(random: Random): void {
  const checked = randomHost(random);
  const endless = kinds.slice(0, 1 + random(3)).map((kind) => ({ kind, amounts: randomAmounts(random) }));
  const ask = (holder: (typeof endless)[number]) => checked.add({ ...holder, usesWorker: true, isLasting: false });
  for (const holder of endless) for (let i = 0; i < 8; i++) ask(holder);
  const amounts = randomAmounts(random);
  const isLasting = random(3) === 0;
  const late = checked.add({ kind: "late", amounts, usesWorker: !isLasting, isLasting });
  if (late === undefined) return;
  for (let step = 0; !checked.held.has(late); step++) {
    if (step === 2000)
      broken("every request is granted at last", `${[...amounts].join(" ")} of ${[...checked.total].join(" ")}`);
    checked.now += 1 + random(30);
    // A holder gives back what is wanted, but not at once, and nothing else.
    const id = [...checked.wanted].filter((one) => checked.held.has(one)).at(random(2) - 1);
    if (id === undefined) continue;
    const { kind } = checked.held.get(id)!.request;
    checked.release(id);
    const holder = endless.find((one) => one.kind === kind);
    if (holder !== undefined) ask(holder);
  }
}
