/** Something that takes connections at an address, until it is closed. It does not keep the process alive. */
import type { NetworkAddress } from "./network-address.js";

export interface Listener {
  /** Where it listens; the port is the one it has got. */
  readonly address: NetworkAddress;
  /** Takes no more connections; those that it has taken go on. Idempotent. */
  close(): void;
}
