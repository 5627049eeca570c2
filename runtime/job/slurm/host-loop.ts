/**
 * The shell beside the daemon of each node: it starts a daemon that was killed again, so that the host comes back at its rank
 * while Slurm and the other hosts go on. It writes which incarnation of the host runs into a file that drivers read. A daemon
 * that ends by itself, in order or because it cannot start, is not started again: its exit code is that of the host.
 */
import { credentialsName } from "../credentials/credentials-folder.js";
import { hostVariable, markVariable } from "../keeper/marked-processes.js";
import { findMarked, killMarkedLines } from "../keeper/shell-ends.js";

/** The folder of the files with the incarnations of hosts, in the folder of the run. The name of each file is `mesh-rank`. */
export const incarnationsName = "hosts";

/**
 * The number of incarnations for each time that Slurm starts the job. A job that was started again has other hosts, and its
 * nodes may not see yet what the nodes before have written.
 */
const perStart = 1_000_000;

/** The time in s for which a daemon must run so that earlier ends do not count any more. */
const stableSeconds = 60;

/** The number of ends, each within `stableSeconds` of a start, after which a daemon is started again. */
const maxQuickEnds = 5;

/** The words of the batch script for the first incarnation of the hosts that it starts. */
export const firstIncarnation = `"$((\${SLURM_RESTART_COUNT:-0} * ${perStart}))"`;

/** Returns the words of the batch script for the folder with the keys of the hosts. @param folder as the shell reads it */
export function keysFolder(folder: string): string {
  return `${folder}/${credentialsName}/enrolled-"$SLURM_JOB_ID-\${SLURM_RESTART_COUNT:-0}"`;
}

/** Returns the mark of the processes of one incarnation of a host, from variables of the shell. */
function markOf(job: string, mesh: string, rank: string, incarnation: string): string {
  return `${job}/${mesh}/${rank}/${incarnation}`;
}

/** Returns a script of the shell that kills an incarnation of a host, on its node. */
export function endIncarnation(job: string, mesh: string, rank: number, incarnation: number): string {
  return killMarkedLines(hostVariable, markOf(job, mesh, String(rank), String(incarnation)));
}

/**
 * The loop, after the checks of the node (host-check.ts). Its variables are the folder of the run, the `first` incarnation, the
 * `key` file of the host or nothing, and the command of the host as arguments.
 *
 * Slurm sends the signals of the end to the daemon, too, so the shell only notes them. The pauses are 0.25, 1.25, 4.25, 9.25
 * and 16.25 s.
 */
export const hostLoop = `
incarnation=$first
quick=0
over=
trap 'over=yes' TERM INT HUP
while :; do
  mark="${markOf(`$${markVariable}`, "$VICEROY_JOB_MESH", "$rank", "$incarnation")}"
  file="$folder/${incarnationsName}/$VICEROY_JOB_MESH-$rank"
  echo "$incarnation" > "$file.new" && mv "$file.new" "$file"
  since=$(date +%s)
  ${hostVariable}=$mark "$@" &
  host=$!
  while wait "$host"; status=$?; kill -0 "$host" 2> /dev/null; do :; done
  if [ -n "$over" ] || [ "$status" -le 128 ]; then exit "$status"; fi
  [ "$(($(date +%s) - since))" -lt ${stableSeconds} ] || quick=0
  why="was ended by signal $((status - 128))"
  if [ "$quick" -ge ${maxQuickEnds} ]; then
    echo "viceroy host: $why, $((quick + 1)) times within ${stableSeconds} s of a start, and is not started again" >&2
    exit "$status"
  fi
  echo "viceroy host: $why, and is started again" >&2
  while [ -n "$(${findMarked(hostVariable, "$mark")})" ]; do
    ${killMarkedLines(hostVariable, "$mark")}    sleep 0.1
  done
  sleep "$((quick * quick)).25"
  [ -z "$over" ] || exit "$status"
  # The issuer has signed for the key of the daemon that was killed.
  [ -z "$key" ] || rm -f "$key"
  quick=$((quick + 1))
  incarnation=$((incarnation + 1))
done
`;
