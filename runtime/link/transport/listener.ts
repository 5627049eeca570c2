/** A listener accepts connections at an address until it is closed. It does not keep the process alive. */
import type { ListenAddress, NetworkAddress } from "./network-address.js";

export interface Listener<Address extends ListenAddress = NetworkAddress> {
  /** The address at which it listens, with the actual port. */
  readonly address: Address;
  /** Accepts no more connections. Accepted connections continue. Idempotent. */
  close(): void;
}
