import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { context, type Port } from "viceroy";
import { type Entry, IndexActor, type IndexMesh, type Place } from "../generated/index.js";

export class WordIndex extends IndexActor {
  readonly #counts = new Map<string, number>();
  readonly #numbers = new Map<string, number>();
  readonly #history = new Map<string, number[]>();
  #peers: IndexMesh | undefined;
  readonly #disorder: string[] = [];
  readonly #interruptions: string[] = [];
  readonly #marks: string[] = [];
  #kept = 0;
  #yielded = 0;
  #ended = 0;

  add(word: string): number {
    const count = (this.#counts.get(word) ?? 0) + 1;
    this.#counts.set(word, count);
    return count;
  }
  note(from: string, number: number): void {
    const last = this.#numbers.get(from) ?? 0;
    if (number !== last + 1) this.#disorder.push(`${number} after ${last} of ${from}`);
    this.#numbers.set(from, number);
    const history = this.#history.get(from) ?? [];
    history.push(number);
    this.#history.set(from, history);
  }
  numbers(from: string): number[] {
    return this.#history.get(from) ?? [];
  }
  confirm(from: string, number: number): number {
    this.note(from, number);
    return number;
  }
  hint(from: string, number: number): void {
    this.note(from, number);
  }
  noted(from: string): string {
    return `${this.#numbers.get(from) ?? 0} ${this.#disorder.join(", ")}`.trim();
  }
  where(): Place {
    const { rank, actor, key, trace } = context();
    const place = {
      pid: process.pid,
      point: rank.toString(),
      actor: `${actor.name}[${actor.rank.rank}]`,
      traceId: trace.id,
    };
    return key === undefined ? place : { ...place, key };
  }
  mark(): void {
    this.#marks.push(context().rank.toString());
  }
  marked(): string[] {
    return this.#marks;
  }
  fail(message: string): void {
    throw new RangeError(message, { cause: new TypeError("the deeper reason") });
  }
  async sleep(ms: number): Promise<number> {
    const { signal } = context();
    try {
      await delay(ms, undefined, { signal });
    } catch {
      this.#interruptions.push((signal.reason as Error).name);
    }
    return ms;
  }
  interruptions(): string[] {
    return this.#interruptions;
  }
  async *words(start: number): AsyncGenerator<Entry> {
    try {
      for (let count = start; ; count++) {
        this.#yielded++;
        yield { word: `word${count}`, count };
      }
    } finally {
      this.#ended++;
    }
  }
  yielded(): number[] {
    return [this.#yielded, this.#ended];
  }
  square(n: number): number {
    return n * n;
  }
  kept(): number {
    return this.#kept;
  }
  keep(bytes: Uint8Array): number {
    this.#kept++;
    return bytes.length;
  }
  async block(file: string): Promise<void> {
    while (!existsSync(file)) await delay(10);
    console.log(`there is ${file}`);
  }
  async later(port: Port<string>, text: string): Promise<void> {
    setTimeout(() => port.send(text), 10);
  }
  watch(port: Port<string>): void {
    port.send("watched");
  }
  peers(): IndexMesh {
    throw new Error("has no peers");
  }
  exit(code: number): void {
    process.exit(code);
  }
  introduce(peers: IndexMesh): void {
    this.#peers = peers;
  }
  ask(depth: number): string | Promise<string> {
    if (depth === 0) return "answered";
    const peer = (this.#peers as IndexMesh<"shards">).slice({ shards: 0 });
    return peer.ask.callOne(depth - 1).catch((error: Error) => `${error.name}: ${error.message}`);
  }
  askAside(depth: number): string | Promise<string> {
    return this.ask(depth);
  }
}
