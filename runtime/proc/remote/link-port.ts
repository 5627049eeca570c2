/**
 * The port at which a process on a host accepts links itself: those that its daemon redirects, and those of its driver.
 */
import type { HostProof } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import type { ProcId } from "../../link/address.js";
import { ResumableAcceptor } from "../../link/resumable/accept.js";
import type { NetworkAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { Platform } from "../platform/platform.js";
import { credentialsOf } from "./host-connection.js";

/** The proc that accepts links at the port. */
export interface LinkPortOwner {
  readonly proc: Proc;
  /** Takes a link. @param from the proc that has connected */
  accept(pipe: Pipe, from: ProcId): void;
  /** Takes a connection that carries memory bytes only. */
  acceptMemory(pipe: Pipe): void;
}

/**
 * Listens at the address of the host, at a free port.
 * @param at the address at which the host listens
 * @returns the port; rejects when listening is not possible
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
  const acceptor = new ResumableAcceptor({
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
