/** Fits the resources of the hosts of a job into the bounds of a runtime environment. */
import type { RuntimeEnv } from "../environment/index.js";

/** The resources that jobs ask for, per host. */
const known = ["cpus", "gpus", "memory"] as const;

const units: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/**
 * Returns meshes whose hosts have at least the minimum and at most the maximum of each resource. A host of which nothing
 * is said gets the minimum, if there is one.
 *
 * @param meshes the meshes of a job by name
 * @throws RangeError if the environment needs a resource that hosts of jobs do not have
 */
export function boundedMeshes<T extends object>(
  meshes: Readonly<Record<string, T>>,
  { minimumResources, maximumResources }: RuntimeEnv,
): Readonly<Record<string, T>> {
  for (const [name, amount] of Object.entries(minimumResources)) {
    if (amount === 0 || (known as readonly string[]).includes(name)) continue;
    throw new RangeError(
      `cannot create a job: expected minimumResources of ${known.join(", ")}, which hosts of jobs have, got ${name}`,
    );
  }
  return Object.fromEntries(
    Object.entries(meshes).map(([mesh, spec]) => {
      const bounded = { ...spec } as Record<string, unknown>;
      for (const name of known) {
        const asked = amountOf(bounded[name]);
        const least = Math.max(asked ?? 0, minimumResources[name] ?? 0);
        const amount = Math.min(least, maximumResources[name] ?? Infinity);
        // Schedulers count whole processors, GPUs and bytes.
        if (amount > 0 && amount !== asked) bounded[name] = Math.ceil(amount);
      }
      return [mesh, bounded as T];
    }),
  );
}

/** Returns an amount of a mesh as a number: memory can be text such as `"16GiB"`. */
function amountOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  const [, digits, unit] = (typeof value === "string" && /^([\d.]+)([KMGT]iB)$/.exec(value)) || [];
  return digits === undefined ? undefined : Number(digits) * units[unit!]!;
}
