/**
 * The dialler's side of a resumable link. It makes the first connection, and a new one whenever a connection is lost.
 * The pauses between attempts grow and are partly random, so that many diallers that have lost the same peer do not
 * return all at once.
 */
import { toError } from "../../../shared/text/error-message.js";
import type { Clock, Random } from "../clock.js";
import { offerLink } from "../handshake/dial.js";
import { HandshakeError } from "../handshake/errors.js";
import { defaultHandshakeLimits } from "../handshake/limits.js";
import type { LinkUse } from "../handshake/message.js";
import type { Pipe } from "../transport/pipe.js";
import { type ResumableLimits, resumableLimits } from "./limits.js";
import { ResumablePipe } from "./pipe.js";

export interface ResumableDialOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly universe: bigint;
  /** The proc that dials. */
  readonly from: bigint;
  /** The requested proc. On a host, this is the agent of a driver. */
  readonly to: bigint;
  /** Whether the request is for that proc itself, whichever port it listens on. */
  readonly direct: boolean;
  /** The use of the connection. Default: a link. */
  readonly use?: LinkUse;
  /** The port of the proc, if it is known. Otherwise the host is asked. */
  readonly port?: number | undefined;
  /** The address of the peer, for errors. */
  readonly peer: string;
  readonly token?: string | undefined;
  readonly limits?: Partial<ResumableLimits>;
  /**
   * The time limit of the handshake of one attempt, in milliseconds, and of connecting before that unless `connectMs`
   * is given.
   */
  readonly handshakeMs?: number;
  readonly connectMs?: number | undefined;
  /**
   * Makes a connection, to `port` of the host if the host has redirected the dialler. Rejects if no peer listens there.
   * `signal` aborts the attempt.
   */
  connect(port: number | undefined, signal: AbortSignal): Promise<Pipe>;
}

/**
 * Dials a proc. The returned pipe makes a new connection whenever one is lost.
 * @returns the pipe, after its first connection has been made; the first attempt is not repeated
 * @throws HandshakeError; RangeError if a limit is invalid; and the errors of `connect`
 */
export async function dialResumable(options: ResumableDialOptions): Promise<Pipe> {
  const dialler = new ResumableDialler(options);
  try {
    await dialler.connect();
  } catch (error) {
    dialler.pipe.destroy();
    throw error;
  }
  return dialler.pipe;
}

class ResumableDialler {
  readonly pipe: ResumablePipe;
  readonly #options: ResumableDialOptions;
  readonly #limits: ResumableLimits;
  readonly #link: bigint;
  /** The port to which the host has redirected this dialler. */
  #port: number | undefined;
  #isFirst = true;
  /** The time at which the last connection was made, and the pause before the next attempt, both in milliseconds. */
  #connectedAt = 0;
  #pause = 0;
  /** The attempt to replace the connection. Only one attempt runs at a time, because a late answer would undo a later attempt. */
  #replacing: Promise<void> | undefined;

  constructor(options: ResumableDialOptions) {
    this.#options = options;
    this.#limits = resumableLimits(options.limits);
    this.#link = options.random.id();
    this.#port = options.port;
    this.pipe = new ResumablePipe({
      clock: options.clock,
      limits: this.#limits,
      peer: options.peer,
      connectionLost: () => void this.#redial(),
      ackOverdue: () => this.#tryReplacement(),
      pipeEnded: () => {},
    });
  }

  /** Makes a connection and resumes the link over it. */
  async connect(): Promise<void> {
    // One redirection is followed.
    if (!(await this.#attempt())) await this.#attempt();
  }

  /**
   * Makes one attempt.
   * @returns true if there is a connection, false if the host has redirected this dialler to another port
   */
  async #attempt(): Promise<boolean> {
    const {
      clock,
      random,
      universe,
      from,
      to,
      direct,
      use = "link",
      token,
      handshakeMs = defaultHandshakeLimits.handshakeMs,
      connectMs = handshakeMs,
    } = this.#options;
    const giveUp = new AbortController();
    const timer = clock.after(connectMs, () => {
      giveUp.abort(new HandshakeError("lost", `it did not answer within ${connectMs} ms`));
    });
    let pipe: Pipe;
    try {
      pipe = await this.#options.connect(this.#port, giveUp.signal);
    } finally {
      timer.cancel();
    }
    const received = this.pipe.bytesReceived;
    const giveUpMs = this.#options.limits?.giveUpMs;
    const terms = giveUpMs === undefined ? {} : { giveUpMs };
    const offer = { universe, from, to, direct, use, ...terms, link: this.#link, first: this.#isFirst, received };
    const outcome = await offerLink(pipe, offer, { clock, random, token, handshakeMs });
    if (outcome.kind === "redirect") {
      if (this.#port !== undefined) throw new HandshakeError("protocol", "the peer sends us elsewhere once more");
      this.#port = outcome.port;
      return false;
    }
    this.#resumeOver(outcome.pipe, outcome.received, received);
    return true;
  }

  #resumeOver(pipe: Pipe, offset: number, told: number): void {
    this.#isFirst = false;
    this.#connectedAt = this.#options.clock.now();
    if (!this.pipe.canResume(offset)) {
      pipe.destroy();
      throw new HandshakeError("offset", `the peer says that it has ${offset} bytes of the link, which cannot be`);
    }
    this.pipe.resume(pipe, offset, told);
  }

  /** Tries to replace a connection that is silent. The connection stays in use if the attempt fails. */
  #tryReplacement(): void {
    const over = () => {
      this.#replacing = undefined;
    };
    // A busy peer does not answer either, and keeps its connection.
    this.#replacing ??= this.connect().then(over, over);
  }

  /** Tries to connect until there is a connection or the link has ended. Never rejects. */
  async #redial(): Promise<void> {
    const { clock, random } = this.#options;
    const { redialMs, redialMaxMs } = this.#limits;
    // The pause is only reset after a connection that has lasted, so that connections that end at once are not repeated
    // without a pause.
    if (clock.now() - this.#connectedAt > redialMaxMs) this.#pause = 0;
    while (!this.pipe.hasEnded) {
      const pause = this.#pause;
      this.#pause = Math.min(redialMaxMs, pause === 0 ? redialMs : pause * 2);
      if (pause > 0) await new Promise<void>((wake) => clock.after(pause * (0.5 + random.number() / 2), wake));
      await this.#replacing;
      if (this.pipe.hasEnded || this.pipe.isConnected) return;
      try {
        await this.connect();
        return;
      } catch (error) {
        const failure = toError(error);
        if (failure instanceof HandshakeError && !failure.isTransient) this.pipe.destroy(this.#lostForGood(failure));
        else this.pipe.attemptFailed(failure);
        // The next attempt asks the host, which knows whether the proc has ended or listens on another port.
        this.#port = undefined;
      }
    }
  }

  #lostForGood(error: HandshakeError): Error {
    return new Error(`the connection to ${this.#options.peer} was lost and cannot be restored: ${error.message}`, {
      cause: error,
    });
  }
}
