/**
 * The batch jobs that a job of Slurm has got later for more hosts of a mesh. Slurm is the only place where they are recorded: the
 * comment of each tells its mesh and its ranks.
 */
import { formatPlace, type HostPlace } from "../mesh-spec.js";
import type { LoginCommands } from "../reach/login-commands.js";
import { commentOf } from "./batch-script.js";
import { findComments } from "./queue.js";

/** Hosts of one mesh with successive ranks. */
export interface FurtherHosts {
  readonly mesh: string;
  /** The rank of the first one. */
  readonly first: number;
  readonly hosts: number;
}

/** A batch job for further hosts. */
export interface FurtherBatch extends FurtherHosts {
  readonly id: number;
}

/** Returns the comment of the batch job for further hosts. */
export function furtherComment(applyId: string, { mesh, first, hosts }: FurtherHosts): string {
  return `${commentOf(applyId)} ${mesh}:${first}+${hosts}`;
}

/** Finds those that have not ended, in the order of their ranks. @param ended whether to return those that have ended, too */
export async function furtherBatches(commands: LoginCommands, applyId: string, ended = false): Promise<FurtherBatch[]> {
  const found = await findComments(commands, commentOf(applyId), ended);
  const batches = found.flatMap(({ id, rest }) => {
    const [, mesh, first, hosts] = /^ (\w+):(\d+)\+(\d+)(?: |$)/.exec(rest) ?? [];
    return mesh === undefined ? [] : [{ id, mesh, first: Number(first), hosts: Number(hosts) }];
  });
  return batches.sort((left, right) => left.first - right.first);
}

/** Returns whether a batch job has the host at a place. */
export function hasPlace({ mesh, first, hosts }: FurtherHosts, place: HostPlace): boolean {
  return place.mesh === mesh && place.rank >= first && place.rank < first + hosts;
}

/** Groups places without a batch job. Those of one mesh become one batch job. */
export function missingHosts(places: readonly HostPlace[], batches: readonly FurtherHosts[]): FurtherHosts[] {
  const missing = new Map<string, FurtherHosts>();
  for (const place of places.filter((each) => !batches.some((batch) => hasPlace(batch, each)))) {
    const { mesh, rank } = place;
    const group = missing.get(mesh) ?? { mesh, first: rank, hosts: 0 };
    missing.set(mesh, { ...group, hosts: group.hosts + 1 });
  }
  return [...missing.values()];
}

/**
 * Returns the batch jobs that end when a mesh gets smaller.
 * @param hosts the new number of hosts
 * @throws Error if hosts would stay of a batch job that ends
 */
export function endingBatches(batches: readonly FurtherBatch[], mesh: string, hosts: number): FurtherBatch[] {
  const own = batches.filter((batch) => batch.mesh === mesh);
  const ending = own.filter((batch) => batch.first >= hosts);
  if (ending.some(({ first }) => first === hosts)) return ending;
  const sizes = own.map(({ first }) => first);
  const place = formatPlace({ mesh, rank: hosts });
  const which = sizes.length === 0 ? "none, because it has not grown" : sizes.join(", ");
  throw new Error(
    `Slurm ends whole jobs only, and that of ${place} has other hosts, too; mesh "${mesh}" can shrink to these sizes: ${which}. ` +
      `To leave single hosts, use ${mesh}.resize({ hosts: ${hosts} }); they stay until the job ends`,
  );
}
