/**
 * A link exchanges frames with one peer over one pipe. This file holds the state of a link: its lanes, sessions and
 * pending calls. frame-sender.ts writes the frames, and inbound/link-receiver.ts handles the frames that come in. A
 * link knows nothing of actors, nor of the transport below the pipe.
 */
import { AGENT_MESH, type ProcId } from "./address.js";
import type { DeliveryError } from "./errors.js";
import type { Lane } from "./inbound/lane.js";
import { LinkReceiver } from "./inbound/link-receiver.js";
import type { ReceivingLink } from "./inbound/receiving-link.js";
import type { LinkHost } from "./link-host.js";
import { FrameSender } from "./outbound/frame-sender.js";
import type { MessageSender, SessionTarget } from "./outbound/message-sender.js";
import { type PendingCall, PendingCalls } from "./outbound/pending-calls.js";
import { Session } from "./outbound/session.js";
import type { SessionLink, SessionOnLane } from "./outbound/session-link.js";
import type { StreamSource } from "./outbound/stream-source.js";
import type { Pipe } from "./transport/pipe.js";

export class Link extends FrameSender implements SessionLink, ReceivingLink<Link> {
  readonly host: LinkHost<Link>;
  readonly calls = new PendingCalls();
  /** The lanes that the peer has opened, by their numbers. */
  readonly lanes: (Lane | undefined)[] = [undefined];
  /** The sessions of the lanes that this side has opened, by the numbers of the lanes. */
  readonly sessions: (Session | undefined)[] = [undefined];
  /** The extents that the peer has numbered, by their numbers. Number 0 is never used. */
  readonly extents: Readonly<Record<string, number>>[] = [{}];
  /** The streams that this side produces, by the number of the peer's call. */
  readonly streams = new Map<number, StreamSource>();
  /** The peer: given when the link is dialled, otherwise known after the peer's `hello`. */
  peer: ProcId | undefined;
  /** Whether the peer's `hello` has come. */
  isIntroduced = false;
  /** The error with which the link has ended, or undefined while it is in use. */
  ended: DeliveryError | undefined;
  /** The error in the peer's frames that has ended the link, or undefined if there is none. */
  fault: Error | undefined;
  /** Whether this side has dialled the peer. */
  readonly isDialler: boolean;
  /**
   * The number of this link among those that its dialler has dialled, from 1 on. It is 0 if nobody has dialled the
   * link, or if the dialler does not send the number.
   */
  dialNumber: number;
  /** Whether the receiver of one of the sessions has moved. */
  hasUnhandled = false;
  readonly #freeLanes: number[] = [];
  /** Lanes that this side has closed, and whose close the peer has not confirmed. */
  readonly #closingLanes = new Set<number>();
  readonly #receiver: LinkReceiver<Link>;
  #pipe: Pipe | undefined;
  #isClosing = false;

  /**
   * Creates a link. Frames can be sent at once; they wait in the outbox until the link has a pipe.
   * @param peer undefined until the peer introduces itself
   * @param dialling if this side dials: the number of the link, and the number of the last link that the peer has
   * dialled and that has ended on this side
   */
  constructor(
    host: LinkHost<Link>,
    peer: ProcId | undefined,
    dialling?: { readonly number: number; readonly over: number },
  ) {
    super(host.limits);
    this.host = host;
    this.isDialler = dialling !== undefined;
    this.dialNumber = dialling?.number ?? 0;
    this.peer = peer;
    this.#receiver = new LinkReceiver<Link>(this);
    const { universe, id } = host;
    this.sendHello({ universe, id, dialNumber: this.dialNumber, lastEnded: dialling?.over ?? 0 });
  }

  /** Sets the pipe of the link and starts to read from the pipe. */
  attach(pipe: Pipe): void {
    this.#pipe = pipe;
    if (this.ended !== undefined && !this.#isClosing) {
      pipe.destroy();
      return;
    }
    pipe.open(this.#receiver);
    this.outbox.attach(pipe);
  }

  /** Sends `bye`, and closes the pipe after everything has been sent. */
  close(reason: string): void {
    if (this.#isClosing || this.ended !== undefined) return;
    this.#isClosing = true;
    this.sendBye(reason);
    this.outbox.finish(() => this.#pipe?.close());
  }

  /** Whether this side has sent `bye`. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Closes the pipe at once, because the peer has sent invalid frames or is known to be dead. */
  destroy(error?: Error): void {
    this.#receiver.stop();
    this.#pipe?.destroy(error);
  }

  /** Ends a link whose peer cannot be reached. */
  failUnreachable(error: DeliveryError): void {
    this.#receiver.stop();
    this.host.linkClosed(this, error);
  }

  /** Ends the link: pending calls fail with `error`, and all sessions and lanes are closed. Idempotent. */
  end(error: DeliveryError): void {
    if (this.ended !== undefined) return;
    this.ended = error;
    // A link that this side has closed still sends what was written before the farewell.
    if (!this.#isClosing) this.outbox.end();
    this.#receiver.stop();
    for (const session of this.sessions) session?.end(error);
    for (const call of this.calls.all()) {
      this.endCall(call);
      if (!call.isAbandoned) call.failed(error);
    }
    for (const lane of this.lanes) {
      if (lane === undefined) continue;
      lane.isOpen = false;
      lane.destination.laneClosed(lane);
    }
    this.sessions.length = 1;
    this.lanes.length = 1;
    this.streams.clear();
  }

  /**
   * Opens a session of a sender on a lane of its own.
   * @param key the sender's own name for the session
   */
  openSession(sender: MessageSender, target: SessionTarget, key: unknown): Session {
    const lane = this.#freeLanes.pop() ?? this.sessions.length;
    const session = new Session(this, lane, sender, target, key);
    this.sessions[lane] = session;
    if (target.kind === "actor" && target.number === AGENT_MESH) this.outbox.orderedLanes.add(lane);
    else this.outbox.orderedLanes.delete(lane);
    this.sendOpen(lane, sender, target);
    return session;
  }

  /**
   * Tells the peer, once, that a session sends nothing more. The number of the lane is free again when the peer has
   * confirmed.
   */
  closeSession(session: SessionOnLane): void {
    const { lane } = session;
    // The receiver can end while the close of an ended sender is on its way.
    if (this.ended !== undefined || this.sessions[lane] !== session || this.#closingLanes.has(lane)) return;
    this.#closingLanes.add(lane);
    this.sendClose(lane);
  }

  /** Resolves when the sessions have sent all their messages, or will never send them. */
  async whenAllSent(): Promise<void> {
    const sessions = this.sessions.filter((session) => session !== undefined);
    await Promise.all(sessions.map((session) => new Promise<void>((sent) => session.afterAllSent(sent))));
  }

  /** Frees the number of a lane that the peer has closed. */
  freeLane(lane: number): void {
    if (this.sessions[lane] === undefined) return;
    this.sessions[lane] = undefined;
    this.#closingLanes.delete(lane);
    this.#freeLanes.push(lane);
  }

  /** Keeps the process alive for a pending call or a queued message. */
  holdProcess(): void {
    this.host.keepAlive.hold();
  }

  releaseProcess(): void {
    this.host.keepAlive.release();
  }

  /** Removes a call that has ended from the pending calls. */
  endCall(call: PendingCall): void {
    if (!call.isAbandoned) this.host.keepAlive.release();
    this.calls.remove(call);
    if (this.hasUnhandled) call.session?.callEnded(call);
  }

  /** Notes that nobody waits for a call any more. The call stays pending until the receiver ends it. */
  abandonCall(call: PendingCall): void {
    if (call.isAbandoned) return;
    call.isAbandoned = true;
    this.host.keepAlive.release();
    if (this.hasUnhandled) call.session?.callEnded(call);
  }
}
