/** Checks whether a job can run a command in a pod of its own. */
import { isProvisioned, type KubernetesSpec } from "../kubernetes-spec.js";
import { commandMesh, meshObjectName } from "../manifest/layout.js";
import { checkMeshName } from "../manifest/names.js";

/** Returns the name of the Job of a command. */
export function commandJobName({ name }: Pick<KubernetesSpec, "name">): string {
  return meshObjectName(name, commandMesh);
}

/** @throws Error, TypeError with what to do if it cannot */
export function checkCommand({ name, meshes }: KubernetesSpec): void {
  const [selected] = Object.entries(meshes).find(([, mesh]) => !isProvisioned(mesh)) ?? [];
  if (selected !== undefined) {
    throw new Error(
      `the pods of mesh "${selected}" are there already, and only a job that makes its pods runs a command; start the program in a pod that ` +
        `has the Role that "viceroy job rbac" prints, and call job.state() there`,
    );
  }
  if (meshes[commandMesh] !== undefined) {
    throw new Error(
      `its mesh "${commandMesh}" has the name that the pod of the command needs; give the mesh another name`,
    );
  }
  checkMeshName(name, commandMesh, 1);
}
