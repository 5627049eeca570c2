/** Checks a request for hosts, which comes from a program that may be hostile, before any rule is asked. */
import { describeValue } from "../../../../shared/text/describe-value.js";
import { checkOptionNames } from "../../../shape/check-options.js";
import { checkHostCount } from "../../mesh-spec.js";
import { type ComputeSpec, checkCompute } from "../compute/compute-options.js";
import { checkMeshName, checkNamespace } from "../manifest/names.js";
import { maxMeshes, type ProvisionRequest } from "../provision/protocol.js";

/** The longest time in ms in which a lost host can be awaited: a week. */
const longestLostTimeout = 7 * 86_400_000;

/**
 * Returns the request.
 * @throws TypeError, RangeError with the field and the rule that it breaks
 */
export function readRequest(body: unknown): ProvisionRequest {
  checkOptionNames("cannot make a job", body, ["meshes", "namespace", "lostTimeout"]);
  const { meshes, namespace, lostTimeout } = body as Readonly<Record<string, unknown>>;
  if (namespace !== undefined) checkNamespace(namespace);
  if (
    !Number.isSafeInteger(lostTimeout) ||
    (lostTimeout as number) < 0 ||
    (lostTimeout as number) > longestLostTimeout
  ) {
    throw new RangeError(`cannot make a job: expected lostTimeout from 0 to ${longestLostTimeout} ms`);
  }
  if (typeof meshes !== "object" || meshes === null || Array.isArray(meshes)) {
    throw new TypeError("cannot make a job: expected meshes as an object");
  }
  const entries = Object.entries(meshes);
  if (entries.length === 0 || entries.length > maxMeshes) {
    throw new RangeError(`cannot make a job: expected 1 to ${maxMeshes} meshes, got ${entries.length}`);
  }
  const specs = entries.map(([mesh, spec]): [string, ComputeSpec] => [mesh, readMesh(mesh, spec)]);
  const request = { meshes: Object.fromEntries(specs), lostTimeout: lostTimeout as number };
  return namespace === undefined ? request : { ...request, namespace: namespace as string };
}

function readMesh(mesh: string, given: unknown): ComputeSpec {
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`cannot make a job: expected mesh "${mesh}" as an object, got ${describeValue(given)}`);
  }
  const { image } = given as ComputeSpec;
  // The steps of an image can copy files, which would be those of this machine.
  if (typeof image !== "string") {
    throw new TypeError(`cannot make a job: expected image of mesh "${mesh}" as the name of a container image`);
  }
  const spec = checkCompute(given);
  checkHostCount(mesh, spec.hosts);
  checkMeshName("j", mesh, spec.hosts!);
  return spec;
}
