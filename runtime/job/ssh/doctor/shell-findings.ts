/** Judges what the shell of a host has said: its folders, its disk and its clock. Pure. */
import { formatBytes } from "../../../../shared/text/format-bytes.js";
import type { Finding, Judge } from "./finding.js";
import type { HostFacts } from "./probed-host.js";

const mib = 1024 * 1024;
/** The space in bytes that a daemon and its sockets need at least, and the space below which programs soon fill a disk. */
const neededSpace = 16 * mib;
const littleSpace = 512 * mib;

/** The difference of the clocks in ms that is worth a note. */
const notedDifference = 5000;
/** A certificate of a job is valid from a day before it is made, in ms: see the authority of a job. */
const refusedDifference = 86_400_000;

/** Returns the findings about the machine itself. */
export function machineFindings(facts: HostFacts, judge: Judge): readonly Finding[] {
  const { said } = facts;
  const isSetUp = said.has("setup");
  return [
    ...(isSetUp ? [judge("shell", "ok", "its login shell runs /bin/sh")] : [setupFinding(facts, judge)]),
    ...folderFindings(said, judge),
    ...diskFindings(said, judge),
    clockFinding(facts, judge),
  ];
}

function setupFinding({ output, endCode }: HostFacts, judge: Judge): Finding {
  const how = endCode === undefined ? "did not end in time" : `ended with exit code ${endCode}`;
  return judge(
    "shell",
    "problem",
    `the lines of setup ${how}${output === "" ? "" : `: ${output}`}`,
    "change the option setup of the job; its lines run in /bin/sh, and each must succeed",
  );
}

function folderFindings(said: HostFacts["said"], judge: Judge): readonly Finding[] {
  const unwritable = said.get("unwritable") ?? [];
  if (unwritable.length === 0) {
    return [judge("files", "ok", `it can write to ${(said.get("writable") ?? []).join(" and ")}`)];
  }
  const advice =
    "a host keeps its daemon in ~/.cache/viceroy, or below XDG_CACHE_HOME, and its sockets in /tmp: make both writable " +
    "for the user, and free space";
  return [judge("files", "problem", `it cannot write to ${unwritable.map((line) => line.trim()).join("; ")}`, advice)];
}

function diskFindings(said: HostFacts["said"], judge: Judge): readonly Finding[] {
  const places = (said.get("free") ?? [])
    .map((line) => /^(\d+) (.+)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, kib, folder]) => ({ folder: folder!, bytes: Number(kib) * 1024 }));
  if (places.length === 0) return [];
  const least = places.reduce((a, b) => (b.bytes < a.bytes ? b : a));
  const text = `${formatBytes(least.bytes)} free in ${least.folder}`;
  const advice = "free space there: daemons, logs and the files of programs need it";
  if (least.bytes < neededSpace) return [judge("disk", "problem", text, advice)];
  return [least.bytes < littleSpace ? judge("disk", "note", text, advice) : judge("disk", "ok", text)];
}

/** The shell tells whole seconds, and its words take a while. */
function clockFinding({ said, heardAt }: HostFacts, judge: Judge): Finding {
  const seconds = Number(said.get("time")?.[0]);
  if (!Number.isFinite(seconds) || heardAt === undefined) return judge("clock", "note", "it does not tell its time");
  const difference = seconds * 1000 - heardAt;
  const amount = Math.abs(difference);
  if (amount < notedDifference) return judge("clock", "ok", "its clock agrees with that of this machine");
  const text = `its clock is ${Math.round(amount / 1000)} s ${difference < 0 ? "behind" : "ahead of"} that of this machine`;
  const advice = "run a time service, such as chrony or systemd-timesyncd, on both machines";
  if (amount < refusedDifference) return judge("clock", "note", `${text}: times in logs will differ`, advice);
  return judge("clock", "problem", `${text}: certificates of jobs are not valid there`, advice);
}
