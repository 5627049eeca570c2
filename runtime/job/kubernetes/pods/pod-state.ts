/**
 * The pods of a job as the API server has told of them: a value that each message of the server replaces by another one. Which pod is the host of
 * a rank follows from the value alone, and so not from the order in which the server has told of different pods.
 */
import type { HostPlace } from "../../mesh-spec.js";
import { formatPlace } from "../../mesh-spec.js";
import type { ApiObject } from "../api/kubernetes-api.js";
import { commandMesh } from "../manifest/layout.js";
import type { PodObject } from "./pod-object.js";
import { lastEndOf, type PodTrouble, troubleOf } from "./pod-trouble.js";

/** One pod, as the API server has described it last. */
export interface PodFacts {
  readonly uid: string;
  readonly name: string;
  readonly place: HostPlace;
  /** The IP address; undefined until the pod has one. */
  readonly ip: string | undefined;
  readonly node: string | undefined;
  /** The container of the daemon. */
  readonly container: string;
  /** The port that its template calls "viceroy"; undefined if it has none. */
  readonly port: number | undefined;
  /** Whether its containers run. */
  readonly isRunning: boolean;
  /** Whether its daemon listens and the pod is not being ended. */
  readonly isReady: boolean;
  /** Whether it is Ready as soon as its daemon listens: it has no other container and no readiness gate. */
  readonly isReadyWithDaemon: boolean;
  /** Whether it was told to end, and ends. */
  readonly isEnding: boolean;
  /** Whether it has ended, and is kept for its logs. */
  readonly isOver: boolean;
  /** Whether it has ended by an error, or was ended. */
  readonly hasFailed: boolean;
  /** What keeps it from being removed. */
  readonly finalizers: readonly string[];
  /** The version of its object, which changes with each change. */
  readonly version: string | undefined;
  /** The time at which it was made, in ms since 1970. */
  readonly madeAt: number;
  /** The time at which its daemon has started, in ms since 1970; 0 if it has not. */
  readonly startedAt: number;
  /** The number of times that its containers were started again. */
  readonly restarts: number;
  readonly trouble: PodTrouble | undefined;
  /** How a container of it has ended that was started again; undefined if none was. */
  readonly lastEnd: string | undefined;
}

/** The pods of a job by their ids. */
export type PodState = ReadonlyMap<string, PodFacts>;

/** A message of the API server about pods. */
export type PodMessage =
  | { readonly kind: "listed"; readonly items: readonly ApiObject[] }
  | { readonly kind: "changed" | "removed"; readonly object: ApiObject };

/** Returns the place of a pod in its job; undefined if it is none of the job's. */
export type PlaceOf = (pod: PodObject) => HostPlace | undefined;

export const noPods: PodState = new Map();

/** Returns the state after a message. */
export function afterMessage(state: PodState, message: PodMessage, placeOf: PlaceOf): PodState {
  if (message.kind === "listed") {
    const facts = message.items.flatMap((item) => factsOf(item as PodObject, placeOf) ?? []);
    return new Map(facts.map((pod) => [pod.uid, pod]));
  }
  const next = new Map(state);
  const { uid = "" } = message.object.metadata;
  const facts = message.kind === "changed" ? factsOf(message.object as PodObject, placeOf) : undefined;
  if (facts === undefined) next.delete(uid);
  else next.set(uid, facts);
  return next;
}

/** Returns the pod that is the host of each rank: the last one that was made, unless it ends and another one is there. */
export function currentPods(state: PodState): ReadonlyMap<string, PodFacts> {
  const current = new Map<string, PodFacts>();
  for (const pod of state.values()) {
    const key = formatPlace(pod.place);
    const other = current.get(key);
    if (other === undefined || isLater(pod, other)) current.set(key, pod);
  }
  return current;
}

/** Returns the pods of hosts, without that of a command. */
export function hostsIn(state: PodState): PodState {
  return new Map([...state].filter(([, { place }]) => place.mesh !== commandMesh));
}

/** Returns pairs of pods that are hosts of the same rank at the same time. */
export function doublePods(state: PodState): readonly (readonly [PodFacts, PodFacts])[] {
  const living = [...state.values()].filter(({ isEnding, isOver }) => !isEnding && !isOver).sort(byName);
  const firsts = new Map<string, PodFacts>();
  return living.flatMap((pod) => {
    const key = formatPlace(pod.place);
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, pod);
    return first === undefined ? [] : [[first, pod] as const];
  });
}

function byName(left: PodFacts, right: PodFacts): number {
  return left.name < right.name ? -1 : Number(left.name > right.name);
}

function isLater(pod: PodFacts, other: PodFacts): boolean {
  const isGone = (each: PodFacts) => each.isEnding || each.isOver;
  if (isGone(pod) !== isGone(other)) return isGone(other);
  if (pod.madeAt !== other.madeAt) return pod.madeAt > other.madeAt;
  return pod.uid > other.uid;
}

function factsOf(pod: PodObject, placeOf: PlaceOf): PodFacts | undefined {
  const place = placeOf(pod);
  const { uid, name, creationTimestamp = "", deletionTimestamp, finalizers = [], resourceVersion } = pod.metadata;
  if (place === undefined || uid === undefined || name === undefined) return undefined;
  const { phase, podIP, conditions = [], containerStatuses = [] } = pod.status ?? {};
  const isEnding = deletionTimestamp !== undefined;
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  const starts = containerStatuses.map(({ state }) => Date.parse(state?.running?.startedAt ?? "") || 0);
  return {
    uid,
    name,
    place,
    ip: podIP,
    node: pod.spec?.nodeName,
    ...daemonOf(pod),
    isRunning: phase === "Running",
    isReady: isReady && !isEnding && podIP !== undefined && phase === "Running",
    isReadyWithDaemon: isReadyWithDaemon(pod),
    isEnding,
    isOver: phase === "Succeeded" || phase === "Failed",
    hasFailed: phase === "Failed",
    finalizers,
    version: resourceVersion,
    madeAt: Date.parse(creationTimestamp) || 0,
    startedAt: Math.max(0, ...starts),
    restarts: containerStatuses.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    trouble: troubleOf(pod),
    lastEnd: lastEndOf(pod),
  };
}

function isReadyWithDaemon({ spec = {} }: PodObject): boolean {
  const { containers = [], initContainers = [], readinessGates = [] } = spec;
  const isSidecar = ({ restartPolicy }: { readonly restartPolicy?: string }) => restartPolicy === "Always";
  return containers.length === 1 && !initContainers.some(isSidecar) && readinessGates.length === 0;
}

/** Returns where the daemon is: the container whose template calls a port "viceroy", or the first one. */
function daemonOf({ spec = {} }: PodObject): Pick<PodFacts, "container" | "port"> {
  const containers = spec.containers ?? [];
  const portOf = ({ ports = [] }: (typeof containers)[number]) => ports.find(({ name }) => name === "viceroy");
  const own = containers.find((container) => portOf(container) !== undefined);
  return { container: (own ?? containers[0])?.name ?? "", port: own && portOf(own)?.containerPort };
}
