/** A listener accepts connections at an address until it is closed. It does not keep the process alive. */
import type { NetworkAddress } from "./network-address.js";

export interface Listener {
  /** The address at which it listens, with the actual port. */
  readonly address: NetworkAddress;
  /** Accepts no more connections. Accepted connections continue. Idempotent. */
  close(): void;
}
