/** Takes a large result that is in the memory of the host of its worker. */
import type { StoredMemory } from "../../../generated/tasks.js";
import { ObjectLostError } from "../errors.js";
import { bringValue } from "../objects/bring-value.js";
import { readerFrom } from "../objects/piece-sources.js";
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
  { host }: ResultPlace,
  isNeeded: boolean,
): Promise<ReceivedValue> {
  const { id, label } = result;
  const adopted = await host.adopt(id, memory);
  if (adopted === undefined) {
    throw new ObjectLostError(
      `the result of ${label} is lost: its host could not keep it, because its worker process has ended, or the host cannot open more files`,
    );
  }
  const { store } = adopted;
  member.refs.sources.copiesOf(result).complete(store);
  if (!isNeeded) {
    // A result that is made again has one already, from which others may be waiting.
    const elsewhere = (result.elsewhere as RemoteValue | undefined) ?? new RemoteValue(result, member.remoteOwner);
    elsewhere.foundAt(adopted);
    return { elsewhere };
  }
  const { size, head } = memory;
  const read = readerFrom(store, member.proc, id, (body) => member.inTurn(body));
  return bringValue({ label, clock: member.clock, keeper: member.objects, source: async () => ({ size, head, read }) });
}
