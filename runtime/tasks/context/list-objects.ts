/** `JobContext.objects`: what large values a context has, and how much memory and disk they use. */
import type { ContextHost, ObjectEntry } from "../../../generated/tasks.js";
import { callInTurn } from "../objects/piece-sources.js";
import type { ContextMember } from "./member.js";

/** A large value: one of 64 KiB or more. */
export interface ObjectInfo {
  /** The name of the task, the endpoint, or `put`. */
  readonly label: string;
  /** The number of encoded bytes. */
  readonly size: number;
  /**
   * `"memory"` and `"disk"`: the owner has it there, on its machine. `"heap"`: the owner has it in its own memory, because it cannot share
   * it. `"hosts"`: only other hosts have it.
   */
  readonly place: "memory" | "disk" | "heap" | "hosts";
  /** The number of other hosts that have a copy, or get one. */
  readonly copies: number;
  /** The number of other processes that have references. */
  readonly borrowers: number;
  /** The number of the host whose worker owns it. Undefined: the program owns it. */
  readonly host: number | undefined;
}

/** The use of one host by large values, and its limits, in bytes. */
export interface HostObjects {
  /** The number of the host in the context. */
  readonly host: number;
  /** The bytes in memory. */
  readonly memory: number;
  /** The largest number of bytes in memory. */
  readonly memoryLimit: number;
  /** The bytes on disk. */
  readonly disk: number;
  /** The largest number of bytes on disk. */
  readonly diskLimit: number;
  /** The number of values whose owners are processes of the host, or that its store has. */
  readonly values: number;
  /** The number of those that are on disk. */
  readonly spilled: number;
}

/** What `JobContext.objects` returns. */
export interface ObjectReport {
  /** The values of the program and of the worker processes that answer. */
  readonly values: readonly ObjectInfo[];
  /** The hosts that answer and share memory. */
  readonly hosts: readonly HostObjects[];
}

export async function listObjects(member: ContextMember): Promise<ObjectReport> {
  member.checkOpen("cannot list objects");
  const inTurn = (body: () => void) => member.inTurn(body);
  const { hosts } = await callInTurn(inTurn, () => member.root().describe.callOne());
  const own = member.refs.largeResults().map((entry) => infoOf(entry, undefined));
  const reports = await Promise.all(hosts.map(reportOf));
  return {
    values: [...own, ...reports.flatMap(({ values }) => values)],
    hosts: reports.flatMap(({ usage }) => (usage === undefined ? [] : [usage])),
  };

  async function reportOf({ host }: ContextHost, index: number) {
    // A host that has ended has no values.
    const [entries, load] = await Promise.all([
      callInTurn(inTurn, () => host.objects.callOne()).catch(() => []),
      callInTurn(inTurn, () => host.load.callOne()).catch(() => undefined),
    ]);
    const usage: HostObjects | undefined = load?.objects && { host: index, ...load.objects };
    return { values: entries.map((entry) => infoOf(entry, index)), usage };
  }
}

/** All processes of a context have the same version, so that no place is unknown. */
function infoOf(entry: ObjectEntry, host: number | undefined): ObjectInfo {
  return { ...entry, place: entry.place as ObjectInfo["place"], host };
}
