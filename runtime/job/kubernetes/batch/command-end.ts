/** Reads from the pod of a command how the command has ended. */
import type { ClientOutcome } from "../../batch/client.js";
import type { ApiObject } from "../api/kubernetes-api.js";
import { hostContainer } from "../manifest/layout.js";
import type { ContainerState, PodObject } from "../pods/pod-object.js";
import { troubleOf } from "../pods/pod-trouble.js";
import { failureMark, isFailure } from "./command-order.js";

/**
 * Returns the outcome; undefined while the command runs, and if the cluster has ended its pod.
 * @param pods the pods of the Job of the command: one, or none if it was deleted
 */
export function commandOutcome(pods: readonly ApiObject[]): ClientOutcome | undefined {
  const ended = containerStates(pods).find(({ terminated }) => terminated !== undefined)?.terminated;
  if (ended === undefined || pods.some((pod) => troubleOf(pod as PodObject)?.kind === "disrupted")) return undefined;
  const { exitCode, finishedAt = "", message = "" } = ended;
  const line = message.trim().split("\n").at(-1) ?? "";
  const trouble = troubleOf(pods[0] as PodObject);
  return {
    exitCode,
    endedAt: Date.parse(finishedAt) || Date.now(),
    ...(isFailure(line) ? { error: line.slice(failureMark.length) } : {}),
    ...(trouble?.kind === "out-of-memory" ? { scheduler: trouble.text } : {}),
  };
}

/** Returns the time in ms since 1970 at which the container of the command was started; undefined if it was not. */
export function commandStart(pods: readonly ApiObject[]): number | undefined {
  const [state] = containerStates(pods);
  return Date.parse(state?.running?.startedAt ?? state?.terminated?.startedAt ?? "") || undefined;
}

function containerStates(pods: readonly ApiObject[]): ContainerState[] {
  return pods.flatMap((pod) =>
    ((pod as PodObject).status?.containerStatuses ?? []).flatMap(({ name, state }) =>
      name === hostContainer && state !== undefined ? [state] : [],
    ),
  );
}
