/** Actors whose answers stay where they are. */
import type { Actor, Mesh, Stream, Tensor, Uint32 } from "viceroy/schema";

export interface Batch {
  name: string;
  parts: Tensor[];
}

export interface Keeper extends Actor<[factor: number]> {
  /**
   * The batch, multiplied by the rank and a factor.
   * @propagate ../src/shapes.ts#linear
   */
  widen(batch: Tensor, outputs: Uint32): Tensor;
  /** @propagate ../src/shapes.ts#halves */
  halve(batch: Tensor): [Tensor, Tensor];
  /** @propagate ../src/shapes.ts#wrong */
  lie(batch: Tensor): Tensor;
  /**
   * Numbers from 0, as many as the rank says where it is asked to differ.
   * @propagate
   */
  count(to: Uint32, differ: boolean): Tensor;
  /** @propagate */
  pieces(batch: Tensor): Tensor[];
  /**
   * Fails on one rank.
   * @propagate ../src/shapes.ts#same
   */
  fail(batch: Tensor, rank: Uint32): Tensor;
  /**
   * Never answers on one rank.
   * @propagate ../src/shapes.ts#same
   */
  hang(batch: Tensor, rank: Uint32): Tensor;
  /**
   * Never answers on one rank, whose process ends.
   * @propagate ../src/shapes.ts#same
   */
  die(batch: Tensor, rank: Uint32): Tensor;
  /** @propagate */
  failLate(rank: Uint32): Tensor;
  /**
   * Asks another one for its total first; without waiting for it, where it shall not.
   * @propagate ../src/shapes.ts#same
   */
  ask(batch: Tensor, other: Mesh<Keeper>, waits: boolean): Tensor;
  /** Adds to what `total` answers. */
  add(batch: Batch): void;
  total(): number;
  /** The sum of each row. */
  rows(batch: Tensor): Stream<number>;
  /** What was told, in order. */
  note(what: string): void;
  noted(): string[];
}
