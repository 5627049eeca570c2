import type { Actor, Mesh, Oneof, Port, RdmaBuffer, Stream, Uint32 } from "viceroy/schema";
import type { Shop } from "./shop.js";

/** Contains no handle. */
export interface Parcel {
  text: string;
  inner?: Parcel;
}

export interface Chain<T> {
  value: T;
  next?: Chain<T>;
}

export interface Envelope {
  kind: "envelope";
  reply?: Port<string>;
}

export interface Postcard {
  kind: "postcard";
  text: string;
}

export interface Address {
  shops: Mesh<Shop> | null;
}

/** Takes and returns handles at every position, and uses the handles that it gets. */
export interface Relay extends Actor {
  plain(parcel: Parcel): Parcel;
  plainChain(chain: Chain<Parcel>): Stream<Chain<Parcel>>;
  /** Returns the number of handles that have arrived. */
  arrived(): Uint32;
  port(to: Port<string>): void;
  optional(to?: Port<string>): void;
  mesh(shops: Mesh<Shop>): void;
  memory(from: RdmaBuffer): Uint32;
  list(all: Address[]): void;
  keyed(all: Map<string, RdmaBuffer>): void;
  odd(all: Map<Parcel, Port<string>[]>): void;
  record(all: Record<string, Address>): void;
  tuple(pair: [count: Uint32, ...rest: Port<string>[]]): void;
  union(message: Envelope | Postcard): void;
  choice(message: Oneof<{ text: string; address: Address }>): void;
  generic(chain: Chain<Port<string>>): void;
  deep(chain: Chain<Chain<Address>>): void;
  givePort(): Port<string>;
  giveMemory(): RdmaBuffer[];
  giveMany(): Stream<Envelope | Postcard>;
}
