/** Reads what the pods of a job have printed, from all of them at once. */
import { setTimeout as pause } from "node:timers/promises";
import { holding } from "../../batch/batch-run.js";
import type { JobLogLine, LogRequest } from "../../provider.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { KubernetesError } from "../api/kubernetes-error.js";
import { waitingLine } from "../batch/command-order.js";
import { commandMesh } from "../manifest/layout.js";
import { followLog } from "./followed-log.js";
import type { PodFeed } from "./pod-feed.js";
import { noPods, type PodFacts, type PodState } from "./pod-state.js";

/** Time in ms in which the last lines of hosts are read when the command has ended. */
const lastLinesMs = 5000;

/**
 * The longest pause in ms between two attempts to read what a command prints. Its pod can be deleted soon after the API server is back, and its last
 * lines with it.
 */
const commandPauseMs = 500;

/** Maximum number of lines that are read ahead of the reader. */
const maxAhead = 10_000;

/**
 * Reads the lines.
 * @param ended resolves when no further pods will come; absent: only what the pods have printed until now is read
 */
export async function* readPodLogs(
  api: KubernetesApi,
  feed: PodFeed,
  { signal }: LogRequest,
  ended: ((signal: AbortSignal) => Promise<unknown>) | undefined,
): AsyncGenerator<JobLogLine, void> {
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  const lines: JobLogLine[] = [];
  let wake: (() => void) | undefined;
  let resume: (() => void) | undefined;
  const readers = new Map<string, Promise<void>>();
  /** The reader of the pod of the command, if there is one. */
  const commands: Promise<void>[] = [];
  let current = noPods;
  const linesOf = ({ uid, name, container, place }: PodFacts): AsyncIterable<string> => {
    if (ended === undefined) return api.logs(name, { container, follow: false, signal: either });
    const isOver = () => current.get(uid)?.isOver !== false;
    const longestPause = place.mesh === commandMesh ? commandPauseMs : undefined;
    return followLog(api, { pod: name, container, isOver, signal: either, longestPause });
  };
  const read = async (pod: PodFacts) => {
    const isCommand = pod.place.mesh === commandMesh;
    let isFirst = true;
    for await (const line of linesOf(pod)) {
      const isOwn = isCommand && isFirst && line === waitingLine;
      isFirst = false;
      if (isOwn) continue;
      lines.push(isCommand ? { line } : { ...pod.place, line });
      wake?.();
      while (lines.length > maxAhead && !either.aborted) await new Promise<void>((resolve) => (resume = resolve));
    }
  };
  const begin = (state: PodState) => {
    current = state;
    for (const pod of [...state.values()].sort(byPlace)) {
      if (!(pod.isRunning || pod.isOver) || readers.has(pod.uid)) continue;
      const reading = read(pod).catch(ignoreGone);
      // It is waited for below.
      reading.catch(() => {});
      readers.set(pod.uid, reading);
      if (pod.place.mesh === commandMesh) commands.push(reading);
    }
  };
  const all = async () => {
    if (ended === undefined) {
      begin(await holding(feed.until((state) => state, either)));
    } else {
      const watching = holding(feed.until((state) => void begin(state), either));
      await Promise.race([watching, ended(either)]);
      // The end of a Job can be told before its last pods.
      begin(await holding(feed.listed(either)));
    }
    await Promise.all(commands);
    // Hosts whose command was killed go on for a while.
    const isLimited = ended !== undefined && commands.length > 0;
    const last = isLimited ? [pause(lastLinesMs, undefined, { signal: either, ref: false })] : [];
    await Promise.race([Promise.all(readers.values()), ...last]);
  };
  let isOver = false;
  let fault: unknown;
  const reading = all()
    .catch((error: unknown) => {
      if (!either.aborted) fault = error;
    })
    .finally(() => {
      isOver = true;
      wake?.();
    });
  try {
    for (;;) {
      yield* lines.splice(0);
      resume?.();
      if (isOver && lines.length === 0) break;
      if (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    leaving.abort();
    resume?.();
    await reading;
  }
  if (fault !== undefined) throw fault;
}

function byPlace({ place: left }: PodFacts, { place: right }: PodFacts): number {
  return left.mesh === right.mesh ? left.rank - right.rank : left.mesh < right.mesh ? -1 : 1;
}

/** A pod can be deleted between its discovery and the request. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof KubernetesError && (error.status === 404 || error.status === 400))) throw error;
}
