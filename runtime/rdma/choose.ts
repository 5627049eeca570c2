/** Which transport leads to the memory that a handle names: the best that is allowed and, when tried, reaches it. */
import type { Opened } from "./backend.js";
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
 * @throws RdmaError when the handle is refused, its owner is gone, or no transport that is allowed leads there
 */
export async function choose(
  { backends, procs }: Domain,
  handle: Handle,
  allowed: readonly Transport[],
  signal: AbortSignal,
): Promise<Chosen> {
  const reasons: string[] = [];
  for (const backend of backends) {
    const { transport, oneSided } = backend;
    if (!allowed.includes(transport)) continue;
    const why = backend.unavailable();
    if (why !== undefined) {
      reasons.push(`${transport}: ${why}`);
      continue;
    }
    const ask = (request: Uint8Array) =>
      procs.ask(handle.proc, handle.location, (agent) => agent.askMemory.callOne(transport, request));
    const opened = await backend.open(handle, ask, signal);
    if (opened !== undefined) return { transport, oneSided, opened };
    reasons.push(`${transport}: it does not lead there`);
  }
  const tried = reasons.length === 0 ? `none of ${allowed.join(", ")} exists here` : reasons.join("; ");
  throw new RdmaError("ERR_RDMA_UNREACHABLE", `cannot reach the memory of an RdmaBuffer: ${tried}`);
}
