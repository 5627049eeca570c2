/** A cast that has come for one actor here, and what becomes of it when its turn comes. */
import type { Extension } from "../link/extension.js";
import type { Session } from "../link/session.js";
import type { Encoded } from "../link/waiting.js";
import type { Arrivals, Arriving } from "./arrivals.js";
import type { Reply } from "./caster-end.js";

export interface CastArrivalOptions {
  readonly seq: number;
  readonly index: number;
  readonly way: number;
  /** Of the endpoint, on the lane of casts to the actor. */
  readonly slot: (session: Session) => number;
  /** Undefined: it only keeps its place. */
  readonly body: Encoded | undefined;
  readonly extension: (session: Session) => Extension | undefined;
  /** Who waits for the answer; undefined: nobody. */
  readonly reply: (() => Reply) | undefined;
  /** It has had credit. */
  readonly taken: () => void;
}

export class CastArrival implements Arriving {
  readonly seq: number;
  readonly index: number;
  readonly way: number;
  readonly #options: CastArrivalOptions;
  #cancelled = false;

  constructor(options: CastArrivalOptions) {
    const { seq, index, way } = options;
    this.seq = seq;
    this.index = index;
    this.way = way;
    this.#options = options;
  }

  post({ session }: Arrivals): void {
    const { slot, body, extension, reply, taken } = this.#options;
    if (body === undefined || this.#cancelled) taken();
    else session.post(slot(session), body, extension(session), reply?.(), { credited: taken });
  }

  cancel(): void {
    this.#cancelled = true;
  }
}
