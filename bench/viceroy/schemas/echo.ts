import type { Actor, Int32, Uint32 } from "viceroy/schema";

/** Twelve fields and a list. */
export interface Rec {
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
  echo(record: Rec): Rec;
  touch(record: Rec): Done;
  /** Answers with how many bytes there were. */
  push(data: Uint8Array): Uint32;
  /** Answers with the same bytes. */
  back(data: Uint8Array): Uint8Array;
  /** 1: the smallest answer. */
  one(): Uint32;
  /** Throws. */
  fail(): void;
  pid(): Uint32;
  /** Answers after `milliseconds`, so that calls queue up behind it. */
  sleep(milliseconds: Uint32): void;
}
