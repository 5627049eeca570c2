/** The messages of `npm run bench:codec`. */
import type { Int32, Uint32 } from "viceroy/schema";

export interface Tiny {
  seq: Uint32;
  ok: boolean;
}

export interface Point {
  lat: number;
  lon: number;
}

export interface Item {
  sku: string;
  qty: Int32;
  price: number;
}

export declare enum Status {
  Idle = 0,
  Busy = 1,
  Done = 2,
}

export interface Rec {
  id: Uint32;
  name: string;
  email: string;
  createdAt: number;
  score: number;
  level: Int32;
  active: boolean;
  status: Status;
  note?: string;
  parent?: Uint32;
  path: string;
  origin: Point;
  items: Item[];
}

export interface Person {
  id: Uint32;
  name: string;
  email: string;
  city: string;
}

export interface People {
  people: Person[];
}

export interface Numbers {
  name: string;
  step: Uint32;
  values: number[];
}

export interface Doubles {
  name: string;
  step: Uint32;
  values: Float64Array;
}
