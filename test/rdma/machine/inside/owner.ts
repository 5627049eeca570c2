/**
 * A process that grants memory through RDMA devices on the orders of its parent. It uses the transport without actors.
 */

import { systemClock, systemRandom } from "../../../../runtime/link/clock.js";
import { ownMachineId } from "../../../../runtime/machine-id.js";
import { rdmaAddon } from "../../../../runtime/native/rdma-addon.js";
import type { Grant } from "../../../../runtime/rdma/grant/grant.js";
import { GrantState } from "../../../../runtime/rdma/grant/grant-slot.js";
import { GrantTable } from "../../../../runtime/rdma/grant/grant-table.js";
import type { MemoryHandle } from "../../../../runtime/rdma/grant/memory-handle.js";
import { ownStartTime } from "../../../../runtime/rdma/grant/start-time.js";
import { VerbsBackend } from "../../../../runtime/rdma/transport/verbs/backend.js";

export type Command =
  | { readonly kind: "grant"; readonly length: number; readonly access: "r" | "rw" }
  | { readonly kind: "answer"; readonly request: Uint8Array }
  | { readonly kind: "revoke"; readonly slot: number }
  | { readonly kind: "bytes"; readonly slot: number; readonly from: number; readonly to: number };

export interface Question {
  readonly id: number;
  readonly command: Command;
}

export interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

export function pattern(index: number): number {
  return (index * 7 + (index >> 9)) & 0xff;
}

/** Number of bytes before and after the granted memory, which no peer may read. */
const margin = 8192;

function serve(): void {
  const addon = rdmaAddon();
  const table = new GrantTable(addon, systemClock, systemRandom);
  const backend = new VerbsBackend(addon, table, systemClock);
  const grants = new Map<number, Grant>();

  const grantOf = (slot: number): Grant => {
    const grant = grants.get(slot);
    if (grant === undefined) throw new Error(`there is no grant ${slot}`);
    return grant;
  };

  const make = (length: number, access: "r" | "rw"): MemoryHandle => {
    const all = new Uint8Array(length + 2 * margin).fill(0xee);
    const bytes = all.subarray(margin, margin + length);
    for (let index = 0; index < length; index++) bytes[index] = pattern(index);
    const grant = table.add({ bytes, address: addon?.addressOf(bytes), file: undefined }, 0, length, access);
    grants.set(grant.slot, grant);
    const { slot, generation, nonce } = grant;
    const verbs = backend.handlePartOf();
    const transportParts = verbs === undefined ? {} : { verbs };
    const name = { machine: ownMachineId(), pid: process.pid, started: ownStartTime(), table: table.fd };
    return { slot, generation, nonce, length, access, proc: 1n, location: "", process: name, transportParts };
  };

  const run = async (command: Command): Promise<unknown> => {
    switch (command.kind) {
      case "grant":
        return make(command.length, command.access);
      case "answer":
        return backend.answerPeer(command.request);
      case "revoke": {
        const grant = grantOf(command.slot);
        table.markEnded(grant, GrantState.revoked);
        await backend.finishRevocation(grant);
        // The memory is reused after the revocation.
        grant.memory.bytes.fill(0xdd);
        return undefined;
      }
      case "bytes":
        return grantOf(command.slot).memory.bytes.slice(command.from, command.to);
    }
  };

  process.on("message", ({ id, command }: Question) => {
    run(command).then(
      (value) => process.send?.({ id, value } satisfies Reply),
      (error: Error) => process.send?.({ id, error: error.message } satisfies Reply),
    );
  });
}

if (process.env["VICEROY_TEST_OWNER"] !== undefined) serve();
