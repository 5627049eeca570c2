import type { Actor, Int32, Mesh, Port, Stream } from "viceroy/schema";
import type { Counter } from "./counter.js";

export interface Where {
  rank: Int32;
  point: string;
  actorRank: Int32;
  actorName: string;
  pid: Int32;
}

/** Shows what a handler sees and does. */
export interface Probe extends Actor<[mode?: string]> {
  where(): Where;
  whereAfterAwait(): Where;
  echo(text: string): string;
  sleep(ms: Int32): Int32;
  log(): string[];
  note(text: string, ms: Int32): void;
  fail(message: string): void;
  failOnEven(): Int32;
  /** @concurrent */
  meanwhile(ms: Int32): string;
  /** Says over the port that it has begun. */
  untilAborted(begun?: Port<boolean>): void;
  aborted(): boolean;
  pid(): Int32;
  exit(code: Int32): void;
  /** @respond */
  later(port: Port<string>, text: string): void;
  /** @respond */
  refuse(port: Port<string>): void;
  /** @respond */
  forget(port: Port<string>): void;
  /** @respond */
  twice(port: Port<string>): void;
  sum(counters: Mesh<Counter>): Int32;
  make(count: Int32): Mesh<Counter>;
  feed(port: Port<Int32>, count: Int32): void;
  endless(): Stream<Int32>;
  streamEnded(): boolean;
  streamWhere(): Stream<Where>;
  failingStream(after: Int32): Stream<Int32>;
  bytes(data: Uint8Array): Uint8Array;
  callBack(probe: Mesh<Probe>): string;
  ping(): string;
}
