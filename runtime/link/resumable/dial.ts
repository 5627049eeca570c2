/**
 * The dialler's side of a lasting link: makes its first connection, and others when one is lost, with growing pauses and
 * some chance in them, so that many who lost the same peer do not all come back at once.
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
  /** The proc that is wanted; on a host, the agent of a driver. */
  readonly to: bigint;
  /** Whether that proc itself is wanted, by whatever port. */
  readonly direct: boolean;
  /** What for; default: a link. */
  readonly use?: LinkUse;
  /** Where it listens, if that is known: the host need not be asked. */
  readonly port?: number | undefined;
  /** Who is dialled, as errors name it: an address. */
  readonly peer: string;
  readonly token?: string | undefined;
  readonly limits?: Partial<ResumableLimits>;
  /** How long one attempt may take for its handshake, and to connect before that unless `connectMs` says otherwise, in ms. */
  readonly handshakeMs?: number;
  readonly connectMs?: number | undefined;
  /**
   * Makes a connection: to `port` of the host when it has sent us there. Rejects when there is none; `signal` gives it up.
   */
  connect(port: number | undefined, signal: AbortSignal): Promise<Pipe>;
}

/**
 * A link to a proc that listens, over connections that are made again when they are lost.
 * @returns once its first connection stands; its first attempt is its only one
 * @throws HandshakeError, RangeError for limits, and what `connect` rejects with
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
  /** Where the host has sent us. */
  #port: number | undefined;
  #isFirst = true;
  /** In ms: when the last connection was made, and the pause before the next attempt. */
  #connectedAt = 0;
  #pause = 0;
  /** One attempt at a time: an answer that comes late would undo what a later one has begun. */
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

  /** Makes a connection and goes on over it. */
  async connect(): Promise<void> {
    // Whoever is sent elsewhere goes there, once.
    if (!(await this.#attempt())) await this.#attempt();
  }

  /** @returns whether there is a connection; otherwise the host has sent us to another port */
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
    const offer = { universe, from, to, direct, use, link: this.#link, first: this.#isFirst, received };
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

  /** Tries another connection while the one that stands is silent, which goes on if there is none. */
  #tryReplacement(): void {
    const over = () => {
      this.#replacing = undefined;
    };
    // A peer that is busy answers nobody, and is none the worse for it.
    this.#replacing ??= this.connect().then(over, over);
  }

  /** Tries until there is a connection, or the link has come to its end. Never rejects. */
  async #redial(): Promise<void> {
    const { clock, random } = this.#options;
    const { redialMs, redialMaxMs } = this.#limits;
    // Connections that end as soon as they are made are not made again and again without a pause.
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
        // The host knows whether the proc has ended, or listens elsewhere.
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
