/** The names that Kubernetes accepts, and errors for others that say the rule and what to do. */
import { describeValue } from "../../../../shared/text/describe-value.js";

/** The rule of RFC 1035 for labels, which names of Services follow. */
const label1035 = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/;
/** The rule of RFC 1123 for labels, which namespaces follow. */
const label1123 = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const qualifiedName = /^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/;

/** Maximum number of characters of a label. */
const maxLabel = 63;
const maxSubdomain = 253;

/** The longest part that objects of a job append to its name: the number of a bundle's part, or the name of the Secret. */
const longestSuffix = "-secrets".length;

/** @throws TypeError if Kubernetes refuses the name for the objects of a job */
export function checkJobName(name: string): void {
  const limit = maxLabel - longestSuffix;
  if (label1035.test(name) && name.length <= limit) return;
  throw nameError(
    `name of a KubernetesJob as 1 to ${limit} lower-case letters, digits and hyphens that begin with a letter and end with a letter or a digit`,
    name,
    suggestedLabel(name, limit),
  );
}

/** @throws TypeError if a namespace cannot have the name */
export function checkNamespace(namespace: unknown): void {
  if (typeof namespace === "string" && label1123.test(namespace) && namespace.length <= maxLabel) return;
  throw nameError(
    "namespace as 1 to 63 lower-case letters, digits and hyphens that begin and end with a letter or a digit",
    namespace,
    suggestedLabel(namespace, maxLabel),
  );
}

/**
 * Checks the name of a mesh. It is a part of the names of the mesh's pods, which are their host names, too.
 * @throws TypeError if Kubernetes refuses the names of the pods
 */
export function checkMeshName(job: string, mesh: string, hosts: number): void {
  if (!label1123.test(mesh)) {
    throw nameError(
      "names of meshes of a KubernetesJob as lower-case letters and digits, because they are parts of the names of pods",
      mesh,
      suggestedLabel(mesh, maxLabel)?.replaceAll("-", ""),
    );
  }
  const longest = `${job}-${mesh}-${hosts - 1}`;
  if (longest.length <= maxLabel) return;
  throw new TypeError(
    `cannot make a job: expected a name of the job and of mesh "${mesh}" that make host names of at most ${maxLabel} ` +
      `characters, got ${longest.length} in "${longest}"; give the job or the mesh a shorter name`,
  );
}

/** Checks the name of an object that is there, such as a Secret or a priority class. @throws TypeError */
export function checkObjectName(option: string, name: unknown): void {
  if (isDnsName(name)) return;
  throw nameError(
    `${option} as the name of an object: lower-case letters, digits, hyphens and dots that begin and end with a letter or a digit`,
    name,
  );
}

/** Checks labels by which nodes or pods are selected. @throws TypeError */
export function checkLabels(option: string, labels: unknown): void {
  if (typeof labels !== "object" || labels === null || Array.isArray(labels)) {
    throw nameError(`${option} as labels, such as { disk: "ssd" }`, labels);
  }
  for (const [key, value] of Object.entries(labels)) {
    if (!isLabelKey(key)) {
      throw nameError(
        `keys of ${option} as up to 63 letters, digits, and . _ -, after an optional domain and a slash`,
        key,
      );
    }
    if (typeof value !== "string" || !labelValue.test(value)) {
      throw nameError(
        `"${key}" of ${option} as at most 63 letters, digits, and . _ - that begin and end with a letter or a digit`,
        value,
      );
    }
  }
}

/** Returns whether text is a host name in lower case. */
export function isDnsName(name: unknown): boolean {
  return typeof name === "string" && subdomain.test(name) && name.length <= maxSubdomain;
}

/** Returns whether a label can have the key: a name, after an optional domain and a slash. */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  const domain = slash < 0 ? undefined : key.slice(0, slash);
  if (domain !== undefined && !(subdomain.test(domain) && domain.length <= maxSubdomain)) return false;
  return qualifiedName.test(key.slice(slash + 1));
}

/** Checks the value of a label. @throws TypeError */
export function checkLabelValue(option: string, value: unknown): void {
  if (typeof value === "string" && value !== "" && labelValue.test(value)) return;
  throw nameError(`${option} as 1 to 63 letters, digits, and . _ - that begin and end with a letter or a digit`, value);
}

/** Checks the name of an environment variable. @throws TypeError */
export function checkEnvName(option: string, name: string): void {
  if (/^[A-Za-z_]\w*$/.test(name)) return;
  throw nameError(`names in ${option} as letters, digits and _ that do not begin with a digit`, name);
}

/** Returns a similar name that follows the rule; undefined if there is none. */
function suggestedLabel(name: unknown, limit: number): string | undefined {
  if (typeof name !== "string") return undefined;
  const similar = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, limit)
    .replaceAll(/^[-\d]+|-+$/g, "");
  return similar === "" ? undefined : similar;
}

function nameError(expected: string, got: unknown, suggestion?: string): TypeError {
  const advice = suggestion === undefined ? "" : `; "${suggestion}" is one`;
  return new TypeError(`cannot make a job: expected ${expected}, got ${describeValue(got)}${advice}`);
}
