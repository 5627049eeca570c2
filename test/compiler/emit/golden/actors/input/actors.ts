import type { Actor, Int32, Mesh, Port, Stream } from "viceroy/schema";
import type { Worker } from "./deep/worker.js";

export interface Config {
  name: string;
  size?: Int32;
}

/**
 * Counts.
 *
 * @deprecated for `Config` only
 */
export interface Counter extends Actor<[initial: Int32, config?: Config]> {
  increment(by?: Int32): void;
  value(): Int32;
  /** Yields the value `count` times. */
  watch(count: Int32): Stream<Int32>;
  /**
   * Configures, and answers what was configured.
   *
   * @concurrent
   */
  configure(config: Config, force: boolean, reason?: string): Config;
  /**
   * @idempotent
   * @timeout 5s
   */
  get(key: string): string | null;
  /**
   * Answers later.
   *
   * @respond
   */
  ask(port: Port<string>, question: string): void;
  /** @reduce sum */
  total(): Int32;
  /** Sends every value to `port`. */
  feed(port: Port<Config>, points: [x: number, y: number][]): void;
  workers(workers: Mesh<Worker, "gpus">, others: Mesh<Worker, "hosts" | "gpus">): Mesh<Worker>;
  others(counter: Counter): Stream<Counter>;
}

export interface Empty extends Actor {}
