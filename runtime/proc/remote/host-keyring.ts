/**
 * The credentials that a process presents to hosts. Each attachment of hosts has its own, so that one process can use
 * hosts with different tokens and certificates. A process on a host also has those of its host, for the other hosts of
 * the same driver, and for the port at which it listens.
 */
import type { HostKey, HostProof } from "../../../generated/proc-agent.js";
import type { ProcId } from "../../link/address.js";

export class HostKeyring {
  /** The credentials of the host on which this process runs; undefined on the machine of the driver. */
  own: HostProof | undefined;
  readonly #proofs = new Map<ProcId, HostProof>();

  /** Adds the credentials for hosts. @param hosts the ids of their agents */
  add({ hosts, proof }: HostKey): void {
    for (const host of hosts) this.#proofs.set(host, proof);
  }

  /** Removes the credentials for a host that is gone. */
  remove(host: ProcId): void {
    this.#proofs.delete(host);
  }

  /** Returns the credentials for a host. @param host the id of its agent */
  proofFor(host: ProcId): HostProof | undefined {
    return this.#proofs.get(host) ?? this.own;
  }

  /** The credentials for all hosts, except those of the host on which this process runs. */
  get keys(): HostKey[] {
    const hostsByProof = new Map<HostProof, ProcId[]>();
    for (const [host, proof] of this.#proofs) {
      const hosts = hostsByProof.get(proof);
      if (hosts === undefined) hostsByProof.set(proof, [host]);
      else hosts.push(host);
    }
    return [...hostsByProof].map(([proof, hosts]) => ({ hosts, proof }));
  }
}
