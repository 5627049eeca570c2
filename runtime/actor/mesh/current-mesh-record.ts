/** Finds the record of a mesh in the current process. */
import { currentCell } from "../context.js";
import type { MeshIdentity, MeshRecord } from "../reference/mesh-record.js";

/** Returns the record of a mesh in the process that the running code belongs to. */
export function currentMeshRecord(identity: MeshIdentity): MeshRecord {
  return currentCell().proc.records.findOrCreate(identity);
}
