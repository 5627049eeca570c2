/** The port at which a process on a host takes links itself: those that its daemon sends on, and its driver's. */
import type { HostProof } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import type { ProcId } from "../../link/address.js";
import { LastingAcceptor } from "../../link/lasting/accept.js";
import type { NetworkAddress } from "../../link/network-address.js";
import type { Pipe } from "../../link/pipe.js";
import type { Platform } from "../platform/platform.js";
import { credentialsOf } from "./host-connection.js";

/** Who is reached there. */
export interface LinkPortOwner {
  readonly proc: Proc;
  /** @param from who has connected */
  accept(pipe: Pipe, from: ProcId): void;
  /** Somebody has connected for bytes of memory alone. */
  acceptMemory(pipe: Pipe): void;
}

/**
 * @param at where the host listens: at the same address, at a port that is free
 * @returns the port; rejects when nobody can listen there
 */
export async function openLinkPort(
  platform: Platform,
  owner: LinkPortOwner,
  proof: HostProof | undefined,
  at: NetworkAddress,
): Promise<number> {
  if (at.kind === "unix") throw new TypeError("cannot open a port: a Unix socket has none");
  const { clock, random } = platform;
  const { id, universe } = owner.proc;
  const acceptor = new LastingAcceptor({
    clock,
    random,
    token: proof?.token,
    admit: (offer) =>
      offer.universe === universe && offer.to === id
        ? {
            kind: "open",
            open: (pipe) => (offer.use === "memory" ? owner.acceptMemory(pipe) : owner.accept(pipe, offer.from)),
          }
        : { kind: "refuse", reason: "unknown", text: "there is no such process at this port" },
  });
  const address = { ...at, port: 0 };
  const listener = await platform.listenAt(address, (pipe) => acceptor.accept(pipe), credentialsOf(proof?.tls));
  const got = listener.address;
  if (got.kind === "unix") throw new TypeError("cannot open a port: a Unix socket has none");
  return got.port;
}
