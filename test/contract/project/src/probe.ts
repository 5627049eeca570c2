import { setTimeout as delay } from "node:timers/promises";
import { context, type Port, thisProc } from "viceroy";
import type { CounterMesh } from "../generated/counter.js";
import { ProbeActor, type ProbeMesh, type Where } from "../generated/probe.js";
import { MemoryCounter } from "./memory-counter.js";

export class RealProbe extends ProbeActor {
  #log: string[] = [];
  #aborted = false;
  #ended = false;
  #mode: string;
  constructor(mode = "ok") {
    super();
    this.#mode = mode;
    if (mode === "throw") throw new RangeError("no such mode");
  }
  override async init(): Promise<void> {
    if (this.#mode === "init-throws") throw new Error("init refused");
    await delay(5);
    this.#log.push("init");
  }
  #where(): Where {
    const c = context();
    return {
      rank: c.rank.rank,
      point: c.rank.toString(),
      actorRank: c.actor.rank.rank,
      actorName: c.actor.name,
      pid: process.pid,
    };
  }
  where(): Where {
    return this.#where();
  }
  async whereAfterAwait(): Promise<Where> {
    await delay(5);
    return this.#where();
  }
  echo(text: string): string {
    return text;
  }
  async sleep(ms: number): Promise<number> {
    await delay(ms);
    return ms;
  }
  log(): string[] {
    return this.#log;
  }
  async note(text: string, ms: number): Promise<void> {
    this.#log.push(`+${text}`);
    if (ms > 0) await delay(ms);
    this.#log.push(`-${text}`);
  }
  fail(message: string): void {
    throw new TypeError(message, { cause: new Error("the root of it") });
  }
  failOnEven(): number {
    const { rank } = context();
    if (rank.rank % 2 === 0) throw new Error(`even rank ${rank.rank}`);
    return rank.rank;
  }
  async meanwhile(ms: number): Promise<string> {
    await delay(ms);
    return `slept ${ms}`;
  }
  async untilAborted(begun?: Port<boolean>): Promise<void> {
    const { signal } = context();
    begun?.send(true);
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#aborted = true;
  }
  aborted(): boolean {
    return this.#aborted;
  }
  pid(): number {
    return process.pid;
  }
  exit(code: number): void {
    process.exit(code);
  }
  later(port: Port<string>, text: string): void {
    setTimeout(() => port.send(text), 10);
  }
  refuse(port: Port<string>): void {
    port.exception(new RangeError("refused"));
  }
  forget(_port: Port<string>): void {}
  twice(port: Port<string>): void {
    port.send("first");
    try {
      port.send("second");
    } catch (error) {
      this.#log.push((error as Error).message);
    }
  }
  async sum(counters: CounterMesh): Promise<number> {
    const values = await counters.value.call();
    return [...values.values()].reduce((a, b) => a + b, 0);
  }
  make(count: number): CounterMesh {
    return thisProc().spawn(`made-${count}`, MemoryCounter, count);
  }
  async feed(port: Port<number>, count: number): Promise<void> {
    for (let i = 0; i < count; i++) await port.send(i);
  }
  async *endless(): AsyncGenerator<number> {
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      this.#ended = true;
    }
  }
  streamEnded(): boolean {
    return this.#ended;
  }
  async *streamWhere(): AsyncGenerator<Where> {
    yield this.#where();
    await delay(2);
    yield this.#where();
  }
  async *failingStream(after: number): AsyncGenerator<number> {
    for (let i = 0; i < after; i++) yield i;
    throw new Error("stream broke");
  }
  bytes(data: Uint8Array): Uint8Array {
    return data;
  }
  async callBack(probe: ProbeMesh): Promise<string> {
    return probe.ping.callOne();
  }
  ping(): string {
    return "pong";
  }
}
