import type * as viceroy from "viceroy/schema";
import type { Codec as OtherCodec, Tree as OtherTree } from "./other.js";

/** Types called like what generated code imports or takes from the language. */
export interface Codec {
  value: viceroy.Int32;
}
export interface Reader {
  codec: Codec;
  other: OtherCodec;
}
export interface Writer {
  reader: Reader;
}
export interface Endpoint {
  "two words": string;
  "it's": string;
  __proto__: string;
  constructor: string;
  class: string;
  w: string;
  value: string;
}
export interface ActorMesh {
  tree: Tree;
  otherTree: OtherTree;
}
export interface Tree {
  port: string;
}
export interface MeshKind<D, T> {
  d: D;
  t: T;
}
export type T = string;
export interface D {
  t: T;
  kind: MeshKind<T, D2>;
}
export interface D2 {
  names: Map<string, Set<Date>>;
}
export type codec = viceroy.Int32[];
export type w = "w";

export interface Awaitable extends viceroy.Actor<[codec: Codec, w: w]> {
  port(value: Endpoint, w: w, codec: codec): Writer;
  d(d: D): viceroy.Stream<D2>;
  /** @name call_me */
  named(): void;
}
