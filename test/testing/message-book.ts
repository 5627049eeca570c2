/**
 * Records the messages of one run of a simulated cluster: their senders, receivers, numbers and outcomes. All processes
 * of a simulation run in one thread, so one book is enough.
 */

import type { MeshFailure } from "../../runtime/supervise/mesh-failure.js";
import type { ProcessView, Simulation } from "../../runtime/testing/index.js";
import { hasSuffered } from "./fault-exposure.js";

/** One incarnation of an actor that receives numbered messages. */
export interface MessageReceiver {
  /** The address, the same for all incarnations: `ledgers[2]`. */
  readonly address: string;
  readonly pid: number;
  /** The index of the last handled message of each sender, among those that it has sent to this address. */
  readonly last: Map<string, number>;
  /** Number of handlers that run until their callers cancel. */
  unfinished: number;
  /** Whether the actor has ended in order. */
  over: boolean;
}

interface Sender {
  readonly pid: number;
  /** Whether its calls are not awaited any more. */
  ended: boolean;
}

/** The numbers that a sender has sent to an address, in order. */
interface MessagePath {
  readonly numbers: number[];
  /** The numbers whose sender waits for an answer. */
  readonly calls: Set<number>;
  readonly seen: Set<number>;
  /** Number of one-way messages to this address only that have taken credit and were not handled. */
  readonly underWay: Set<number>;
  /** The index of the last message that any incarnation of the receiver has handled, or -1. */
  latest: number;
}

export interface BookOptions {
  /** Whether links between hosts are resumable. */
  readonly lasting?: boolean;
  /** Whether no fault of the run excuses a failure: every message arrives, and every call is answered. */
  readonly calm?: boolean;
  /** Maximum number of messages in flight from a sender to a receiver. */
  readonly credit?: number;
}

export class MessageBook {
  /** Number of handled messages. */
  deliveries = 0;
  /** Number of reports to owners, by owner, mesh and rank. */
  readonly told = new Map<string, number>();
  readonly #simulation: Simulation;
  readonly #lasting: boolean;
  readonly #calm: boolean;
  readonly #credit: number;
  readonly #violations: string[] = [];
  /** Messages that were not handled although later ones of the sender were, with the text of the violation. */
  readonly #gaps = new Map<string, string[]>();
  /** Number of returned messages by sender. */
  readonly #bounced = new Map<string, number>();
  readonly #replaced = new Map<string, number>();
  readonly #senders = new Map<string, Sender>();
  readonly #paths = new Map<string, MessagePath>();
  readonly #takers = new Map<string, MessageReceiver>();
  /** The actors that have spawned processes, by the name of the mesh. */
  readonly #crews = new Map<string, MessageReceiver>();
  /** Actors that have thrown in a one-way message. */
  readonly #failed = new Set<string>();
  #lives = 0;

  constructor(simulation: Simulation, options: BookOptions) {
    const { lasting = false, calm = false, credit = Number.POSITIVE_INFINITY } = options;
    this.#simulation = simulation;
    this.#lasting = lasting;
    this.#calm = calm;
    this.#credit = credit;
  }

  /**
   * The violations of this run. A lost message that was returned to its sender is no violation. Messages that are
   * returned to an ending process cannot be counted.
   */
  get violations(): readonly string[] {
    const told = (from: string) => (this.#gone(from) ? Number.POSITIVE_INFINITY : (this.#bounced.get(from) ?? 0));
    const silent = [...this.#gaps].filter(([from, lost]) => lost.length > told(from));
    return [...this.#violations, ...silent.flatMap(([, lost]) => lost)];
  }

  violation(text: string): void {
    this.#violations.push(text);
  }

  /** Records that a message was returned to its sender. */
  bounced(name: string): void {
    this.#bounced.set(name, (this.#bounced.get(name) ?? 0) + 1);
  }

  /** Records the start of an incarnation. @param life its name, unique in this run */
  taker(life: string, address: string, pid: number): MessageReceiver {
    const taker = { address, pid, last: new Map(), unfinished: 0, over: false };
    this.#takers.set(life, taker);
    return taker;
  }

  /** Records that an actor spawns processes. @returns a name for them, unique in this run */
  crew(maker: MessageReceiver): string {
    const name = `crew${this.#crews.size + 1}`;
    this.#crews.set(name, maker);
    return name;
  }

  /** Records the failure of an actor, which must be reported to its owner. */
  failed(address: string): void {
    this.#failed.add(address);
  }

  /** Returns a name that is unique in this run. */
  life(name: string): string {
    return `${name}~${++this.#lives}`;
  }

  /** Registers a sender of numbered messages. */
  sender(name: string, pid: number): void {
    this.#senders.set(name, { pid, ended: false });
  }

  /** Records that a sender has ended in order. Its waiting calls are not sent any more. */
  senderEnded(name: string): void {
    const sender = this.#senders.get(name);
    if (sender !== undefined) sender.ended = true;
  }

  /** Records that a failure was reported to an owner. */
  owner(name: string, { mesh, ranks, affected }: MeshFailure): void {
    for (const lost of [{ mesh, ranks }, ...affected]) {
      for (const rank of lost.ranks) {
        const key = `${name}: ${lost.mesh}[${rank}]`;
        const times = (this.told.get(key) ?? 0) + 1;
        this.told.set(key, times);
        if (times > 1 + (this.#replaced.get(key) ?? 0)) this.violation(`told ${times} times: ${key}`);
      }
    }
  }

  /** Records that a rank is replaced. Its next incarnation may fail, too. */
  replaced(owner: string, mesh: string, rank: number): void {
    const key = `${owner}: ${mesh}[${rank}]`;
    this.#replaced.set(key, (this.#replaced.get(key) ?? 0) + 1);
  }

  /** Records a number before it is sent. The numbers of a sender grow. @returns a function that undoes this */
  sent(from: string, addresses: readonly string[], number: number, call: boolean): () => void {
    this.#simulation.note(`${from} ${call ? "calls" : "tells"} ${addresses.join()} ${number}`);
    const paths = addresses.map((address) => this.#path(from, address));
    for (const { numbers, calls } of paths) {
      numbers.push(number);
      if (call) calls.add(number);
    }
    return () => {
      for (const { numbers } of paths) if (numbers.at(-1) === number) numbers.pop();
    };
  }

  /** Records that a one-way message to one address has taken credit. */
  credited(from: string, address: string, number: number): void {
    const { seen, underWay } = this.#path(from, address);
    if (seen.has(number)) return;
    underWay.add(number);
    if (!this.#calm || underWay.size <= this.#credit) return;
    this.violation(`${from} -> ${address}: ${underWay.size} messages are under way, and credit allows ${this.#credit}`);
  }

  /**
   * Checks the invariants when no more messages are in flight.
   * @param remade whether ranks may have been restarted, so that another process may have received a message
   */
  checkRest(remade: boolean): void {
    for (const { address, pid, unfinished, over } of this.#takers.values()) {
      if (unfinished === 0 || over || this.#hasSuffered(pid)) continue;
      this.violation(`${address}: ${unfinished} handlers go on, and nobody waits for them any more`);
    }
    for (const [name, { address, pid, over }] of this.#crews) {
      if (!over && !this.#processes[pid - 1]!.ended) continue;
      const left = this.#processes.filter((process) => process.name.startsWith(`${name} `) && !process.ended);
      for (const process of left) this.violation(`${process.name} has outlived its maker ${address}`);
    }
    if (!remade) this.#checkBounced();
    if (!this.#calm) return;
    for (const [label, { numbers, calls, seen }] of this.#paths) {
      const from = label.slice(0, label.indexOf(" -> "));
      // Calls of an ended sender are not awaited. Its other messages arrive, also from a replaced process.
      const ended = this.#over(from);
      if (ended && !this.#wasReplaced(from)) continue;
      const lost = numbers.filter((number) => !seen.has(number) && !(ended && calls.has(number)));
      if (lost.length > 0) this.violation(`${label}: ${lost[0]} has never come`);
    }
  }

  /** Checks that messages to ended actors, in processes that no fault has affected, were returned to their senders. */
  #checkBounced(): void {
    const silent = new Map<string, number>();
    for (const [label, { numbers, calls, seen }] of this.#paths) {
      const [from, to] = label.split(" -> ") as [string, string];
      const receivers = [...this.#takers.values()].filter(({ address }) => address === to);
      const pid = this.#senders.get(from)?.pid;
      // Messages that are returned to the program itself cannot be counted.
      if (pid === undefined || from === "program" || this.#over(from) || this.#hasSuffered(pid)) continue;
      if (receivers.length !== 1 || this.#hasSuffered(receivers[0]!.pid)) continue;
      const lost = numbers.filter((number) => !seen.has(number) && !calls.has(number)).length;
      silent.set(from, (silent.get(from) ?? 0) + lost);
    }
    for (const [from, lost] of silent) {
      const told = this.#bounced.get(from) ?? 0;
      if (lost > told) this.violation(`${from}: ${lost} messages came to nobody, and ${told} came back`);
    }
  }

  /** Checks that the owner knows the failures of actors. */
  checkFailed(owner: string, isLost: (address: string) => boolean): void {
    for (const address of this.#failed) {
      if (!this.told.has(`${owner}: ${address}`) && !isLost(address))
        this.violation(`nobody was told that ${address} has failed`);
    }
  }

  /** Records that a message is handled. */
  take(from: string, number: number, { address, pid, last }: MessageReceiver): void {
    this.deliveries++;
    this.#simulation.note(`${address} takes ${number} of ${from}`);
    const path = this.#path(from, address);
    const label = `${from} -> ${address}`;
    const place = placeOf(path.numbers, number);
    if (place < 0) this.violation(`${label}: ${number} came and was never sent`);
    if (path.seen.has(number)) this.violation(`${label}: ${number} came twice`);
    path.underWay.delete(number);
    path.seen.add(number);
    // The process of the receiver may have been replaced. Earlier messages must have been handled before.
    if (this.#calm && place < path.latest)
      this.violation(`${label}: ${number} came after ${path.numbers[path.latest]}, in another life`);
    path.latest = Math.max(path.latest, place);
    const before = last.get(from);
    last.set(from, place);
    if (before === undefined || this.#severed(from, pid)) return;
    if (place <= before) this.violation(`${label}: ${number} came after ${path.numbers[before]}`);
    for (let missing = before + 1; missing < place; missing++) {
      const lost = path.numbers[missing]!;
      if (path.calls.has(lost) && this.#over(from)) continue;
      this.#simulation.note(`${lost} has not come`);
      // Messages are not returned to the program. It was told if the receiver was declared dead.
      if (this.#lasting && from === "program" && hasSuffered(this.#simulation, this.#processes[pid - 1]!, true))
        continue;
      const gaps = this.#gaps.get(from) ?? [];
      this.#gaps.set(from, [...gaps, `${label}: ${number} came and ${lost} has not`]);
    }
  }

  #path(from: string, address: string): MessagePath {
    const key = `${from} -> ${address}`;
    let path = this.#paths.get(key);
    if (path === undefined) {
      path = { numbers: [], calls: new Set(), seen: new Set(), underWay: new Set(), latest: -1 };
      this.#paths.set(key, path);
    }
    return path;
  }

  /** Returns whether a sender has ended. */
  #over(name: string): boolean {
    return this.#gone(name) || this.#senders.get(name)!.ended;
  }

  /** Returns whether an actor has lived in a process that was replaced. */
  #wasReplaced(name: string): boolean {
    const address = name.slice(0, name.indexOf("~"));
    return this.#replaced.has(`program: ${address}`);
  }

  /** Returns whether a process was replaced. */
  #gone(name: string): boolean {
    const sender = this.#senders.get(name);
    return sender === undefined || this.#processes[sender.pid - 1]!.ended;
  }

  #hasSuffered(pid: number): boolean {
    const process = this.#processes[pid - 1]!;
    return process.ended || hasSuffered(this.#simulation, process, this.#lasting);
  }

  get #processes(): readonly ProcessView[] {
    return this.#simulation.processes;
  }

  /**
   * Returns whether a connection of sender or receiver was cut and not restored. Bytes in flight are then lost, or
   * arrive after bytes on another path. The cut matters whatever process was at its other end, because parents relay
   * messages and casts use trees. Resumable links hide cuts.
   */
  #severed(from: string, to: number): boolean {
    if (this.#lasting) return false;
    const pid = this.#senders.get(from)?.pid;
    return this.#simulation.faults.some(({ kind, did }) => {
      if (kind !== "cut") return false;
      const ends = [...did.matchAll(/#(\d+)/g)].map(([, number]) => Number(number));
      return ends.includes(to) || ends.includes(pid ?? 0);
    });
  }
}

/** Returns the index of a number in a sorted list, or -1. */
function placeOf(numbers: readonly number[], number: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = numbers[middle]!;
    if (found === number) return middle;
    if (found < number) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

let book: MessageBook;

/** The book of the current run. */
export function currentBook(): MessageBook {
  return book;
}

export function openBook(simulation: Simulation, options: BookOptions = {}): MessageBook {
  book = new MessageBook(simulation, options);
  return book;
}
