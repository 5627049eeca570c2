/** The places of the processes of an SPMD run, and the variables by which a process learns its own. */

/** One process: the number `rank` of all, and the number `localRank` on its host. */
export interface SpmdRank {
  readonly rank: number;
  /** The rank of the host in its mesh. */
  readonly host: number;
  readonly localRank: number;
}

/** The address at which the processes meet: a port of the first host. */
export interface Meeting {
  readonly address: string;
  readonly port: number;
}

/** Returns the processes in the order of their ranks: those of the first host, then those of the next. */
export function spmdRanks(hosts: number, procs: number): readonly SpmdRank[] {
  return Array.from({ length: hosts * procs }, (_, rank) => ({
    rank,
    host: Math.floor(rank / procs),
    localRank: rank % procs,
  }));
}

/**
 * Returns the environment of a process, with the names that `torchrun` and launchers like it use.
 * @param env the variables of the user, who may choose another meeting
 */
export function rankEnvironment(
  { rank, host, localRank }: SpmdRank,
  shape: { readonly hosts: number; readonly procs: number },
  meeting: Meeting,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const { hosts, procs } = shape;
  return {
    MASTER_ADDR: meeting.address,
    MASTER_PORT: `${meeting.port}`,
    ...env,
    RANK: `${rank}`,
    WORLD_SIZE: `${hosts * procs}`,
    LOCAL_RANK: `${localRank}`,
    LOCAL_WORLD_SIZE: `${procs}`,
    GROUP_RANK: `${host}`,
    GROUP_WORLD_SIZE: `${hosts}`,
  };
}
