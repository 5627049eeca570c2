/** Which transport leads to the memory that a handle names: the best that is allowed and, when tried, reaches it. */
import type { Backend, Opened } from "./backend.js";
import type { Domain } from "./domain.js";
import { RdmaError } from "./errors.js";
import type { Handle } from "./handle.js";
import type { Transport } from "./transport.js";

export interface Chosen {
  readonly transport: Transport;
  readonly oneSided: boolean;
  readonly opened: Opened;
}

/**
 * On the spot where no transport that is tried needs to wait.
 * @throws RdmaError, also as a rejection, when the handle is refused, its owner is gone, or no transport that is allowed leads there
 */
export function choose(
  domain: Domain,
  handle: Handle,
  allowed: readonly Transport[],
  signal: AbortSignal,
): Chosen | Promise<Chosen> {
  return from(0, [], domain, handle, allowed, signal);
}

/** @param reasons why none of those before `first` is taken */
function from(
  first: number,
  reasons: string[],
  domain: Domain,
  handle: Handle,
  allowed: readonly Transport[],
  signal: AbortSignal,
): Chosen | Promise<Chosen> {
  const { backends, procs } = domain;
  for (let i = first; i < backends.length; i++) {
    const backend = backends[i]!;
    const { transport } = backend;
    if (!allowed.includes(transport)) continue;
    const why = backend.unavailable();
    if (why !== undefined) {
      reasons.push(`${transport}: ${why}`);
      continue;
    }
    const ask = (request: Uint8Array) =>
      procs.ask(handle.proc, handle.location, (agent) => agent.askMemory.callOne(transport, request));
    const opened = backend.open(handle, ask, signal);
    if (opened instanceof Promise) {
      return opened.then(
        (found) => chosen(backend, found, reasons) ?? from(i + 1, reasons, domain, handle, allowed, signal),
      );
    }
    const found = chosen(backend, opened, reasons);
    if (found !== undefined) return found;
  }
  const tried = reasons.length === 0 ? `none of ${allowed.join(", ")} exists here` : reasons.join("; ");
  throw new RdmaError("ERR_RDMA_UNREACHABLE", `cannot reach the memory of an RdmaBuffer: ${tried}`);
}

function chosen({ transport, oneSided }: Backend, opened: Opened | undefined, reasons: string[]): Chosen | undefined {
  if (opened !== undefined) return { transport, oneSided, opened };
  reasons.push(`${transport}: it does not lead there`);
  return undefined;
}
