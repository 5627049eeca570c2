/** One proc of a mesh, as its maker sees it: what it runs in, whether it has ended and how. */
import type { Location, ProcId } from "../link/address.js";
import type { Clock } from "../link/clock.js";
import type { FailureCause } from "../supervise/cause.js";
import type { Body, BodyEnd } from "./body.js";

export interface MemberOptions {
  readonly id: ProcId;
  /** The proc that has made it, which is its parent. */
  readonly maker: ProcId;
  readonly rank: number;
  /** Where it listens for others; empty: nowhere. */
  readonly location: Location;
  readonly body: Body;
  readonly clock: Clock;
}

/**
 * How long the exit status of a process may come after the end of its link, in ms. Calls wait for the shorter one; the
 * longer one is for a machine that is overloaded, since a failure whose cause is known is worth more.
 */
const statusGrace = 2000;
const callGrace = 30;

export class Member {
  readonly id: ProcId;
  readonly maker: ProcId;
  readonly rank: number;
  readonly location: Location;
  readonly body: Body;
  readonly clock: Clock;
  /** It was told to end: its end is no failure. */
  stopping = false;
  #end: BodyEnd | undefined;
  readonly #onEnd: (member: Member, end: BodyEnd) => void;

  /** @param onEnd called once, when it has ended in whatever way */
  constructor(options: MemberOptions, onEnd: (member: Member, end: BodyEnd) => void) {
    this.id = options.id;
    this.maker = options.maker;
    this.rank = options.rank;
    this.location = options.location;
    this.body = options.body;
    this.clock = options.clock;
    this.#onEnd = onEnd;
    void this.body.ended.then((end) => this.#ended(end));
  }

  /** How it ended; undefined while it runs. */
  get end(): BodyEnd | undefined {
    return this.#end;
  }

  /** It is of no use any more: it is ended, and that is what it ended of. */
  giveUp(end: BodyEnd): void {
    this.body.kill();
    this.#ended(end);
  }

  /** Its link has ended: how it ended, in words, as soon as that is known. */
  lastWords(): Promise<string> {
    return new Promise((resolve) => {
      const timer = this.clock.after(callGrace, () => resolve("its process has closed its link"), true);
      void this.body.ended.then(({ cause }) => {
        timer.cancel();
        resolve(cause.message);
      });
    });
  }

  /** One that lives on without its link is nobody's. */
  linkLost(reason: string): void {
    if (this.#end !== undefined) return;
    const cause: FailureCause = { name: "LinkEnd", message: reason };
    const giveUp = () => {
      if (this.#end === undefined) this.giveUp({ kind: "process", cause });
    };
    this.clock.after(statusGrace, giveUp, true);
  }

  #ended(end: BodyEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#onEnd(this, end);
  }
}
