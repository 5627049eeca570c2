/** Takes a large result that is in the memory of the host of its worker. */
import type { StoredMemory } from "../../../generated/tasks.js";
import { bringValue } from "../objects/bring-value.js";
import { StoredValue } from "../objects/stored-value.js";
import type { ReceivedValue } from "../refs/elsewhere.js";
import { RemoteValue } from "../refs/remote-value.js";
import type { Result } from "../refs/result.js";
import type { ResultPlace } from "../submit/ports.js";
import type { ContextMember } from "./member.js";

/**
 * Opens the result if it is on this machine. Otherwise it stays on its host, in the store, until somebody reads it elsewhere.
 *
 * @param isNeeded whether this process needs the value at once
 * @returns what the worker need not keep any more
 */
export function receiveResult(
  member: ContextMember,
  result: Result,
  memory: StoredMemory,
  place: ResultPlace,
  isNeeded: boolean,
): ReceivedValue | Promise<ReceivedValue> {
  return StoredValue.open(memory, member.objects) ?? receiveFromHost(member, result, memory, place, isNeeded);
}

async function receiveFromHost(
  member: ContextMember,
  result: Result,
  memory: StoredMemory,
  { id: lease, host, worker }: ResultPlace,
  isNeeded: boolean,
): Promise<ReceivedValue> {
  const adopted = isNeeded ? undefined : await host.adopt(result.id, memory);
  if (adopted !== undefined) {
    member.refs.sources.copiesOf(result).complete(adopted.store);
    // A result that is made again has one already, from which others may be waiting.
    const elsewhere = (result.elsewhere as RemoteValue | undefined) ?? new RemoteValue(result, member.remoteOwner);
    elsewhere.foundAt(adopted);
    return { elsewhere };
  }
  const { size, head } = memory;
  const read = (index: number) => worker.piece(lease, result.id, index);
  const { clock, objects: keeper } = member;
  return bringValue({ label: result.label, clock, keeper, source: async () => ({ size, head, read }) });
}
