/** The contents of a `relay` frame, which carries bytes of a connection between two procs through a third one. */
import type { ProcId } from "../address.js";

export interface RelayFrame {
  readonly to: ProcId;
  readonly from: ProcId;
  /** The number of the connection, chosen at random by the proc that has dialled. */
  readonly channel: number;
  /** One of the operations in transport/relay/pipe.ts. */
  readonly op: number;
  /** The payload, valid only while the frame is handled. */
  readonly bytes: Uint8Array;
}
