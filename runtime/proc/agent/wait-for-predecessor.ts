/** Room for another actor of a mesh: the one before it has failed, and what it owns and its `cleanup` come to their ends first. */
import type { Proc } from "../../actor/proc/proc.js";
import type { MeshId } from "../../link/address.js";

/** Never rejects. */
export async function waitForPredecessor(proc: Proc, mesh: MeshId): Promise<void> {
  const before = proc.cell(mesh);
  if (before?.ended !== undefined) await before.whenVacated();
}
