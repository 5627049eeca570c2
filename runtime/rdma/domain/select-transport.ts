/** Selects the transport for a handle: the fastest one that is allowed and that reaches the memory. */

import { RdmaError } from "../errors.js";
import type { MemoryHandle } from "../grant/memory-handle.js";
import type { OpenedMemory, TransportBackend } from "../transport/backend.js";
import type { Transport } from "../transport-names.js";
import type { RdmaDomain } from "./rdma-domain.js";

export interface SelectedTransport {
  readonly transport: Transport;
  readonly oneSided: boolean;
  readonly opened: OpenedMemory;
}

/**
 * Tries the allowed transports, the fastest first. Returns synchronously if no transport has to wait.
 * @throws RdmaError, also as a rejection, if the handle is refused, its owner is gone, or no allowed transport reaches
 * the memory
 */
export function selectTransport(
  domain: RdmaDomain,
  handle: MemoryHandle,
  allowed: readonly Transport[],
  signal: AbortSignal,
): SelectedTransport | Promise<SelectedTransport> {
  return selectFrom(0, [], domain, handle, allowed, signal);
}

/** @param reasons why each transport before `first` was not selected */
function selectFrom(
  first: number,
  reasons: string[],
  domain: RdmaDomain,
  handle: MemoryHandle,
  allowed: readonly Transport[],
  signal: AbortSignal,
): SelectedTransport | Promise<SelectedTransport> {
  const { backends, peers } = domain;
  for (let i = first; i < backends.length; i++) {
    const backend = backends[i]!;
    const { transport } = backend;
    if (!allowed.includes(transport)) continue;
    const why = backend.whyUnavailable();
    if (why !== undefined) {
      reasons.push(`${transport}: ${why}`);
      continue;
    }
    const ask = (request: Uint8Array) =>
      peers.askAgent(handle.proc, handle.location, (agent) => agent.askMemory.callOne(transport, request));
    const opened = backend.open(handle, ask, signal);
    if (opened instanceof Promise) {
      return opened.then(
        (found) => toSelected(backend, found, reasons) ?? selectFrom(i + 1, reasons, domain, handle, allowed, signal),
      );
    }
    const found = toSelected(backend, opened, reasons);
    if (found !== undefined) return found;
  }
  const tried = reasons.length === 0 ? `none of ${allowed.join(", ")} exists here` : reasons.join("; ");
  throw new RdmaError("ERR_RDMA_UNREACHABLE", `cannot reach the memory of an RdmaBuffer: ${tried}`);
}

function toSelected(
  { transport, oneSided }: TransportBackend,
  opened: OpenedMemory | undefined,
  reasons: string[],
): SelectedTransport | undefined {
  if (opened !== undefined) return { transport, oneSided, opened };
  reasons.push(`${transport}: it does not reach the memory`);
  return undefined;
}
