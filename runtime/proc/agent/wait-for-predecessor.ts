/**
 * Waits until a failed actor has made room for its successor: first everything that it owns must end and its `cleanup`
 * must return.
 */
import type { Proc } from "../../actor/proc/proc.js";
import type { MeshId } from "../../link/address.js";

/** Waits for the actor of a mesh that has failed here before, if there is one. Never rejects. */
export async function waitForPredecessor(proc: Proc, mesh: MeshId): Promise<void> {
  const before = proc.cell(mesh);
  if (before?.ended !== undefined) await before.lifecycle.whenVacated();
}
