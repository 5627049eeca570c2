/**
 * The daemon with its two doors: one for connections from afar, whose links outlive them, and one for those of this machine.
 * Where it listens, and how it learns that it is to end, is decided by whoever opens it.
 */
import type { HostProof } from "../../../generated/proc-agent.js";
import type { Clock, Random } from "../../link/clock.js";
import { Acceptor } from "../../link/handshake/accept.js";
import type { Offer } from "../../link/handshake/message.js";
import { LastingAcceptor } from "../../link/lasting/accept.js";
import type { NetworkAddress } from "../../link/network-address.js";
import type { Pipe } from "../../link/pipe.js";
import type { ScopedPlatform } from "../../proc/platform/platform.js";
import { HostDaemon } from "./host-daemon.js";

export interface HostListenerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly hostname: string;
  /** What drivers must have, too, and what processes of this host prove to others. */
  readonly proof: HostProof;
  /** Where this host listens, as far as its processes may listen there, too. */
  readonly addresses: readonly NetworkAddress[];
  /** A platform for one driver. */
  readonly platform: () => ScopedPlatform;
  /** Told why a connection was not let in. @param peer its address, where it has one */
  readonly refused?: (error: Error, peer?: string) => void;
}

/** Drivers that one daemon serves at the same time. */
const maxDrivers = 256;

export class HostListener {
  readonly daemon: HostDaemon;
  readonly #networkAcceptor: LastingAcceptor;
  readonly #localAcceptor: Acceptor;

  constructor({ clock, random, refused = () => {}, ...host }: HostListenerOptions) {
    const daemon = new HostDaemon({ id: random.id(), ...host, maxDrivers });
    const guard = { clock, random, token: host.proof.token, refused };
    const admit = (offer: Offer) => daemon.admit(offer);
    this.daemon = daemon;
    this.#networkAcceptor = new LastingAcceptor({ ...guard, admit });
    this.#localAcceptor = new Acceptor({
      ...guard,
      decide: async (offer) => ({ ...(await daemon.admit(offer)), received: 0 }),
    });
  }

  /** Somebody has connected. @param peer their address, where they have one */
  accept(kind: NetworkAddress["kind"], pipe: Pipe, peer?: string): void {
    (kind === "unix" ? this.#localAcceptor : this.#networkAcceptor).accept(pipe, peer);
  }

  /** Takes no more connections, and ends what drivers have here. Never rejects. */
  async end(reason: string): Promise<void> {
    this.#localAcceptor.close();
    this.#networkAcceptor.close();
    await this.daemon.shutdown(reason);
  }
}
