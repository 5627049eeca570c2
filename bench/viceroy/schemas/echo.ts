import type { Actor, Int32, Uint32 } from "viceroy/schema";

/** The record that the benchmarks send: twelve fields and a list. */
export interface BenchRecord {
  id: Uint32;
  name: string;
  email: string;
  createdAt: number;
  score: number;
  level: Int32;
  active: boolean;
  status: Uint32;
  note?: string;
  parent?: Uint32;
  path: string;
  origin: Origin;
  items: Item[];
}

export interface Origin {
  lat: number;
  lon: number;
}

export interface Item {
  sku: string;
  qty: Int32;
  price: number;
}

export interface Done {
  id: Uint32;
  ok: boolean;
}

export interface Echo extends Actor {
  echo(record: BenchRecord): BenchRecord;
  touch(record: BenchRecord): Done;
  /** Returns the number of bytes. */
  push(data: Uint8Array): Uint32;
  /** Returns the same bytes. */
  back(data: Uint8Array): Uint8Array;
  /** Returns 1, the smallest answer. */
  one(): Uint32;
  /** Throws. */
  fail(): void;
  pid(): Uint32;
  /** Returns the same number. @idempotent */
  same(n: Uint32): Uint32;
  /** Returns after `milliseconds`. Other calls queue up meanwhile. */
  sleep(milliseconds: Uint32): void;
}
