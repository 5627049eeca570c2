/**
 * The data connections that are announced through a tunnel, on either side of it: the driver names a ticket and an address, and
 * the host says when a connection with this ticket has come, and when it leads to the address. The bytes of a data connection do
 * not pass the tunnel, but it ends with the tunnel.
 */

import { Deferred } from "../deferred.js";
import { ProtocolError } from "../frame/frame.js";
import { TICKET_BYTES } from "../transport/socket/data-connection.js";
import { ChannelRefusedError } from "./errors.js";
import { newTunnelFrame, openDataBody, readText, TunnelKind, textBody } from "./frame.js";

/** A data connection that this side has announced. */
export interface AnnouncedData {
  /** Resolves when the other side has got the connection. Rejects as `joined` does. */
  readonly arrived: Promise<void>;
  /**
   * Resolves when the connection leads to its address. Rejects with ChannelRefusedError, or with the error with which the tunnel has
   * ended.
   */
  readonly joined: Promise<void>;
  /** This side does not want it any more. */
  cancel(): void;
}

/** A data connection that the peer has announced. */
export interface DataRequest {
  readonly address: string;
  readonly ticket: Uint8Array;
  /** Aborted when the peer does not want the connection any more, or the tunnel has ended. */
  readonly signal: AbortSignal;
  /** The connection has come. */
  arrived(): void;
  /** The connection leads to its address. */
  joined(): void;
  /** @param code the code of the system's error, or an empty text */
  refuse(code: string, reason: string): void;
  /** The connection has ended. */
  ended(): void;
}

type Announcement = Readonly<Record<"arrived" | "joined", Deferred<void>>>;

export class DataAnnouncements {
  readonly #send: (frame: Uint8Array) => void;
  /** Those of this side that do not lead to their address yet. */
  readonly #announced = new Map<number, Announcement>();
  readonly #requested = new Map<number, AbortController>();

  /** @param send sends a frame through the tunnel */
  constructor(send: (frame: Uint8Array) => void) {
    this.#send = send;
  }

  /** The number of data connections that the peer has announced and that have not ended. */
  get requestedCount(): number {
    return this.#requested.size;
  }

  announce(number: number, ticket: Uint8Array, address: string): AnnouncedData {
    const arrived = new Deferred<void>();
    const joined = new Deferred<void>();
    this.#announced.set(number, { arrived, joined });
    this.#send(newTunnelFrame(TunnelKind.openData, number, openDataBody(ticket, address)));
    const cancel = () => {
      if (this.#announced.delete(number)) this.#send(newTunnelFrame(TunnelKind.reset, number));
    };
    return { arrived: arrived.promise, joined: joined.promise, cancel };
  }

  /** Reads the announcement of the peer. */
  received(number: number, body: Uint8Array): DataRequest {
    const end = new AbortController();
    this.#requested.set(number, end);
    const answer = (kind: number, text?: Uint8Array) => {
      if (this.#requested.has(number)) this.#send(newTunnelFrame(kind, number, text));
    };
    const ended = () => void this.#requested.delete(number);
    return {
      ticket: body.slice(0, TICKET_BYTES),
      address: readText(body.subarray(TICKET_BYTES)),
      signal: end.signal,
      arrived: () => answer(TunnelKind.dataArrived),
      joined: () => answer(TunnelKind.dataJoined),
      refuse: (code, reason) => {
        answer(TunnelKind.refused, textBody(`${code}\n${reason}`));
        ended();
      },
      ended,
    };
  }

  /**
   * Handles a frame, if it is about a data connection.
   * @returns whether it is
   * @throws ProtocolError if it breaks the protocol
   */
  control(kind: number, number: number, body: Uint8Array): boolean {
    const requested = this.#requested.get(number);
    if (requested !== undefined) {
      if (kind !== TunnelKind.reset)
        throw new ProtocolError(`the peer has sent a frame of kind ${kind} for a data connection`);
      this.#requested.delete(number);
      requested.abort(new Error("the driver has given it up"));
      return true;
    }
    const announced = this.#announced.get(number);
    switch (kind) {
      case TunnelKind.dataArrived:
        announced?.arrived.resolve();
        return true;
      case TunnelKind.dataJoined:
        this.#announced.delete(number);
        announced?.joined.resolve();
        return true;
      case TunnelKind.refused:
        if (announced === undefined) return false;
        this.#announced.delete(number);
        reject(announced, refusedError(body));
        return true;
      default:
        return announced !== undefined;
    }
  }

  /** The tunnel has ended. */
  end(reason: Error): void {
    for (const announced of this.#announced.values()) reject(announced, reason);
    for (const controller of this.#requested.values()) controller.abort(reason);
    this.#announced.clear();
    this.#requested.clear();
  }
}

function reject({ arrived, joined }: Announcement, error: Error): void {
  arrived.reject(error);
  joined.reject(error);
}

/** Reads the body of a refusal. */
export function refusedError(body: Uint8Array): ChannelRefusedError {
  const [code = "", ...reason] = readText(body).split("\n");
  return new ChannelRefusedError(code, reason.join("\n"));
}
