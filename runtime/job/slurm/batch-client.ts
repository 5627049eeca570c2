/**
 * The parts of a batch script that run the command of a batch job. It runs in the batch step, on the first node, which it
 * shares with the host there: Slurm gives that step all that the job has on the node, so the command needs no resources
 * of its own.
 */
import {
  batchVariable,
  type ClientOrder,
  notStarted,
  outcomeFileOf,
  recordFileOf,
  startFileOf,
} from "../batch/client.js";
import { markVariable } from "../keeper/marked-processes.js";
import { killMarkedLines } from "../keeper/shell-ends.js";
import { quote } from "../quote.js";

/** Time in s before the time limit at which the command gets SIGTERM, and the shortest part of a limit that is for that. */
const warnSeconds = 60;
const shortestPart = 4;

/** Time in s for the command to end when a host of the job has ended, and for the hosts when the command has. */
const endSeconds = 10;

/**
 * Returns the argument of `sbatch` by which Slurm tells the batch script of the time limit.
 * @param timeLimit in minutes; null if it is that of the partition
 */
export function signalArgument(timeLimit: number | null): string {
  const seconds = timeLimit === null ? warnSeconds : Math.min(warnSeconds, (timeLimit * 60) / shortestPart);
  return `--signal=B:TERM@${seconds}`;
}

/** Returns the lines that check the command before the hosts start. */
export function clientCheck({ command, cwd }: ClientOrder, folder: string): string {
  const [program = ""] = command;
  const noFolder = notStarted(command, `there is no folder ${cwd} on the node`);
  const noProgram = notStarted(command, `there is no such program on the node, seen from ${cwd}`);
  return `now() { date +%s%3N; }
outcome() {
  printf '{"endedAt":%s,%s\\n' "$(now)" "\${1#?}" > ${quote(`${outcomeFileOf(folder)}.new`)}
  mv ${quote(`${outcomeFileOf(folder)}.new`)} ${quote(outcomeFileOf(folder))}
}
refuse() {
  outcome "$1"
  echo "viceroy job: $2" >&2
  exit ${noFolder.exitCode}
}
cd -- ${quote(cwd)} || refuse ${quote(JSON.stringify(noFolder))} ${quote(noFolder.error!)}
type -P -- ${quote(program)} > /dev/null || refuse ${quote(JSON.stringify(noProgram))} ${quote(noProgram.error!)}
`;
}

/** Returns the lines that run the command after the steps of the hosts have been started, and end the job with it. */
export function clientRun({ command, env }: ClientOrder, folder: string): string {
  const variables = Object.entries({ ...env, [batchVariable]: recordFileOf(folder) });
  return `hosts=$(jobs -p)
now > ${quote(startFileOf(folder))}
env ${variables.map(([name, value]) => quote(`${name}=${value}`)).join(" ")} ${command.map(quote).join(" ")} < /dev/null 3>&- &
client=$!
runs() { kill -0 "$1" 2> /dev/null; }
all_run() { for pid; do runs "$pid" || return 1; done; }
# Slurm sends the signal before the time limit to this script only. The hosts go on, so that the command can use them.
trap 'kill -TERM "$client" 2> /dev/null' TERM
while all_run "$client" $hosts; do wait -n "$client" $hosts; done
# A host that ends is the end of the job.
runs "$client" && kill -TERM "$client"
(sleep ${endSeconds}; kill -KILL "$client") > /dev/null 2>&1 &
limit=$!
while runs "$client"; do wait "$client"; done
kill "$limit" 2> /dev/null
wait "$client"
status=$?
outcome "{\\"exitCode\\":$status}"
kill -TERM $hosts 2> /dev/null
for ((i = 0; i < ${endSeconds * 5}; i++)); do
  running=
  for pid in $hosts; do runs "$pid" && running=yes; done
  [ -n "$running" ] || break
  sleep 0.2
done
# The shell shall not report the end of hosts that are killed now: it would be in the output of the command.
disown -a
# Slurm kills what is left. Not every cluster finds processes whose parents have ended.
${killMarkedLines(markVariable, `$${markVariable}`)}exit "$status"
`;
}
