import type { Actor, Mesh, Port, Stream, Uint32 } from "viceroy/schema";

/** Where a message was handled, and by which address it was sent. */
export interface Place {
  pid: Uint32;
  point: string;
  actor: string;
  key?: string;
  traceId: string;
}

export interface Entry {
  word: string;
  count: Uint32;
}

/** Counts words. */
export interface Index extends Actor {
  /** Adds a word, and returns how often it was added. */
  add(word: string): Uint32;
  /** Takes the numbered messages of a sender. */
  note(from: string, number: Uint32): void;
  /** As `note`, with the number as its answer. */
  confirm(from: string, number: Uint32): Uint32;
  /** As `note`, and handles messages concurrently. @concurrent */
  hint(from: string, number: Uint32): void;
  /** The number of messages of a sender, and what was out of order. */
  noted(from: string): string;
  /** The numbers of the messages of a sender, in the order in which they were handled. */
  numbers(from: string): Uint32[];
  where(): Place;
  /** Records where the message was handled. */
  mark(): void;
  marked(): string[];
  fail(message: string): void;
  /** Returns after `ms`, or when the caller no longer waits. @concurrent */
  sleep(ms: Uint32): Uint32;
  /** Why calls of `sleep` ended early. @concurrent */
  interruptions(): string[];
  /** Words without an end. @concurrent */
  words(start: Uint32): Stream<Entry>;
  /** The number of words that were yielded, and how many streams have ended. @concurrent */
  yielded(): Uint32[];
  /** @idempotent */
  square(n: Uint32): Uint32;
  /** The number of calls of `keep`. */
  kept(): Uint32;
  /** Holds up everything else until there is such a file. */
  block(file: string): void;
  /** @respond */
  later(port: Port<string>, text: string): void;
  watch(port: Port<string>): void;
  peers(): Mesh<Index>;
  exit(code: Uint32): void;
  /** Tells the actor about another mesh, which `ask` calls. */
  introduce(peers: Mesh<Index>): void;
  /** Asks the first actor of the other mesh, which asks in turn, `depth` times altogether. */
  ask(depth: Uint32): string;
  /** As `ask`. The actor handles other messages meanwhile. @concurrent */
  askAside(depth: Uint32): string;
}

/** Uses the mesh of another program. */
export interface Guest extends Actor {
  visit(index: Mesh<Index>, word: string): Uint32[];
  /** Calls `where` of the first actor of a mesh. If there are others, a guest is asked to do so instead. */
  ask(index: Mesh<Index>, others: Mesh<Guest>[]): Place;
}
