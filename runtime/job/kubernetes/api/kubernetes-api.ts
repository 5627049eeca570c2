/**
 * The requests of jobs to the API server of a cluster, in one namespace. The implementation is in http-api.ts; tests give another one where they need
 * to decide the order of answers.
 */

import type { PausablePipe } from "../../../link/transport/pipe.js";

/** The kinds of objects that jobs use. */
export type ResourceKind = "ConfigMap" | "Event" | "Ingress" | "Job" | "NetworkPolicy" | "Pod" | "Secret" | "Service";

/** An object, as the API server sends it. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ApiMetadata;
  readonly [field: string]: unknown;
}

/** The metadata of an object that the API server knows. */
export interface ApiMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  /** The time at which the object will be gone; absent if it is not being deleted. */
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[];
  readonly [field: string]: unknown;
}

/** Which objects of a kind are asked for. */
export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The objects at one time. */
export interface ObjectList {
  readonly items: readonly ApiObject[];
  /** The version of the list, from which a watch can go on. */
  readonly resourceVersion: string;
}

/** One line of a watch. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: ApiObject;
}

/** The options of {@link KubernetesApi.delete}. */
export interface DeleteOptions {
  /** Only the object with this id is deleted. */
  readonly uid?: string;
  /** The time in seconds for which a pod may go on. Default: its own grace period. */
  readonly gracePeriodSeconds?: number;
}

/** The options of {@link KubernetesApi.logs}. */
export interface PodLogOptions {
  readonly container: string;
  /** Whether to wait for further lines until the container has ended. */
  readonly follow: boolean;
  /** Whether each line begins with its time and a space. Default: false. */
  readonly timestamps?: boolean;
  /** The time before which lines are left out. The API server may ignore parts of a second. */
  readonly since?: string;
  readonly signal: AbortSignal;
}

/** Asks the API server. Each method rejects with a KubernetesError. */
export interface KubernetesApi {
  /** The address of the API server, for messages. */
  readonly server: string;
  readonly namespace: string;
  /** Whether this program runs in a pod of the cluster, and uses its service account. */
  readonly isInside: boolean;
  /** Returns an object; undefined if there is none of this name. */
  get(kind: ResourceKind, name: string): Promise<ApiObject | undefined>;
  list(kind: ResourceKind, selection?: Selection): Promise<ObjectList>;
  /**
   * Tells what changes after a version. Ends when the server ends it, which it does from time to time.
   * @throws KubernetesError with the status 410 if the server does not know the version any more
   */
  watch(
    kind: ResourceKind,
    selection: Selection,
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent>;
  /** Makes an object as it is given, or changes the fields that are given, by server-side apply. */
  apply(object: object, options?: { readonly dryRun?: boolean }): Promise<ApiObject>;
  /** Changes fields of an object, by a JSON merge patch. */
  patch(kind: ResourceKind, name: string, change: object): Promise<ApiObject>;
  /** Deletes an object, and in the background all that it owns. @returns false if there was none */
  delete(kind: ResourceKind, name: string, options?: DeleteOptions): Promise<boolean>;
  /** Reads the lines that a container of a pod has printed. */
  logs(pod: string, options: PodLogOptions): AsyncIterable<string>;
  /** Connects to a port of a pod, through this server and the node of the pod. @param signal aborts the attempt */
  openPort(pod: string, port: number, signal: AbortSignal): Promise<PausablePipe>;
}
