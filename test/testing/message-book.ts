/**
 * What has been seen in one run of a simulated cluster: who sent which numbers to whom, and what came of them. All processes
 * of a simulation run in one thread, so that one book is enough.
 */

import type { MeshFailure } from "../../runtime/supervise/mesh-failure.js";
import type { ProcessView, Simulation } from "../../runtime/testing/index.js";
import { hasSuffered } from "./fault-exposure.js";

/** An actor that takes numbered messages, in one life of it. */
export interface MessageReceiver {
  /** Whatever its incarnation: `ledgers[2]`. */
  readonly address: string;
  readonly pid: number;
  /** The place of the last message of each sender, in what that has sent to this address. */
  readonly last: Map<string, number>;
  /** Handlers that go on until their callers wait no more. */
  unfinished: number;
  /** Its actor has come to its end in order. */
  over: boolean;
}

interface Sender {
  readonly pid: number;
  /** What it calls is not called any more. */
  ended: boolean;
}

/** What one sender has sent to one address, in order. */
interface MessagePath {
  readonly numbers: number[];
  /** Those among them whose sender waits for an answer. */
  readonly calls: Set<number>;
  readonly seen: Set<number>;
  /** Messages without answer to this address alone that have had credit, and have not been handled. */
  readonly underWay: Set<number>;
  /** The place of the last message that was handled, by whichever life of the receiver; -1: none. */
  latest: number;
}

export interface BookOptions {
  /** Links between hosts outlive their connections. */
  readonly lasting?: boolean;
  /** No fault of the run is an excuse for anything: whatever is sent arrives, and whoever is called answers. */
  readonly calm?: boolean;
  /** Messages that a sender may have under way to one receiver. */
  readonly credit?: number;
}

export class MessageBook {
  /** Messages that have been handled. */
  deliveries = 0;
  /** Ranks that owners have been told of: how often, by owner, mesh and rank. */
  readonly told = new Map<string, number>();
  readonly #simulation: Simulation;
  readonly #lasting: boolean;
  readonly #calm: boolean;
  readonly #credit: number;
  readonly #violations: string[] = [];
  /** Messages of a sender that have not come although later ones have, with what is to be said of each. */
  readonly #gaps = new Map<string, string[]>();
  /** How many messages of a sender have come back to it. */
  readonly #bounced = new Map<string, number>();
  readonly #replaced = new Map<string, number>();
  readonly #senders = new Map<string, Sender>();
  readonly #paths = new Map<string, MessagePath>();
  readonly #takers = new Map<string, MessageReceiver>();
  /** Who has made processes, by the name of their mesh. */
  readonly #crews = new Map<string, MessageReceiver>();
  /** Actors that have thrown where nobody waited for an answer. */
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
   * What was wrong in this run. What was lost and came back to its sender was not lost in silence; and what comes back to a process
   * as it ends is told to nobody.
   */
  get violations(): readonly string[] {
    const told = (from: string) => (this.#gone(from) ? Number.POSITIVE_INFINITY : (this.#bounced.get(from) ?? 0));
    const silent = [...this.#gaps].filter(([from, lost]) => lost.length > told(from));
    return [...this.#violations, ...silent.flatMap(([, lost]) => lost)];
  }

  violation(text: string): void {
    this.#violations.push(text);
  }

  /** A message has come back to its sender. */
  bounced(name: string): void {
    this.#bounced.set(name, (this.#bounced.get(name) ?? 0) + 1);
  }

  /** An actor begins to take messages. @param life its name, which no other one of this run has */
  taker(life: string, address: string, pid: number): MessageReceiver {
    const taker = { address, pid, last: new Map(), unfinished: 0, over: false };
    this.#takers.set(life, taker);
    return taker;
  }

  /** An actor makes processes of its own. @returns a name for them that no others of this run have */
  crew(maker: MessageReceiver): string {
    const name = `crew${this.#crews.size + 1}`;
    this.#crews.set(name, maker);
    return name;
  }

  /** An actor fails: its owner must be told. */
  failed(address: string): void {
    this.#failed.add(address);
  }

  /** A name that no other actor of this run has. */
  life(name: string): string {
    return `${name}~${++this.#lives}`;
  }

  /** Somebody begins to send numbered messages. */
  sender(name: string, pid: number): void {
    this.#senders.set(name, { pid, ended: false });
  }

  /** A sender has come to its end in order: calls of it that wait are not made any more. */
  senderEnded(name: string): void {
    const sender = this.#senders.get(name);
    if (sender !== undefined) sender.ended = true;
  }

  /** A failure has reached an owner. */
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

  /** A rank is to be replaced: its next life may fail, too. */
  replaced(owner: string, mesh: string, rank: number): void {
    const key = `${owner}: ${mesh}[${rank}]`;
    this.#replaced.set(key, (this.#replaced.get(key) ?? 0) + 1);
  }

  /** A number is about to be sent: those of one sender grow. @returns what undoes it when it could not be sent */
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

  /** A message without answer to one address has had credit. */
  credited(from: string, address: string, number: number): void {
    const { seen, underWay } = this.#path(from, address);
    if (seen.has(number)) return;
    underWay.add(number);
    if (!this.#calm || underWay.size <= this.#credit) return;
    this.violation(`${from} -> ${address}: ${underWay.size} messages are under way, and credit allows ${this.#credit}`);
  }

  /**
   * What must be true when everything has come to rest.
   * @param remade ranks may have been made again: what was sent to one process may have come to another
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
      // Nobody waits for the calls of a sender that has ended. What else it has sent comes, also from a process that was replaced.
      const ended = this.#over(from);
      if (ended && !this.#wasReplaced(from)) continue;
      const lost = numbers.filter((number) => !seen.has(number) && !(ended && calls.has(number)));
      if (lost.length > 0) this.violation(`${label}: ${lost[0]} has never come`);
    }
  }

  /** What was sent to actors that have ended, in processes that no fault has harmed, has come back to its senders. */
  #checkBounced(): void {
    const silent = new Map<string, number>();
    for (const [label, { numbers, calls, seen }] of this.#paths) {
      const [from, to] = label.split(" -> ") as [string, string];
      const receivers = [...this.#takers.values()].filter(({ address }) => address === to);
      const pid = this.#senders.get(from)?.pid;
      // What comes back to the program itself is told to nobody who could count it.
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

  /** Failures of actors that their owner does not know. */
  checkFailed(owner: string, isLost: (address: string) => boolean): void {
    for (const address of this.#failed) {
      if (!this.told.has(`${owner}: ${address}`) && !isLost(address))
        this.violation(`nobody was told that ${address} has failed`);
    }
  }

  /** A message has come to be handled. */
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
    // The process of the receiver may have been replaced: what was sent before has been handled before.
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
      // The program is no actor that its messages come back to: it was told if the receiver was taken for dead.
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

  /** Whether a sender has come to its end. */
  #over(name: string): boolean {
    return this.#gone(name) || this.#senders.get(name)!.ended;
  }

  /** Whether it has lived in a process that was replaced. */
  #wasReplaced(name: string): boolean {
    const address = name.slice(0, name.indexOf("~"));
    return this.#replaced.has(`program: ${address}`);
  }

  /** Whether its process has. */
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
   * Whether a connection of one of both was cut that ended with it, as nothing but the end of a process ends sockets of one
   * machine: what was on its way is lost, or comes after what went another way. Their messages may have gone through it
   * whoever was at its other end: makers relay, and casts go down trees. Links between hosts hide it.
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

/** Where a number stands in a list that grows; -1: nowhere. */
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

/** The one of the run that is going on. */
export function currentBook(): MessageBook {
  return book;
}

export function openBook(simulation: Simulation, options: BookOptions = {}): MessageBook {
  book = new MessageBook(simulation, options);
  return book;
}
