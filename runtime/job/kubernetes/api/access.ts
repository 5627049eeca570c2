/** The access to a cluster, wherever it comes from: a kubeconfig file, or the service account of a pod. */
import type { RequestOptions } from "node:https";
import type { Asker } from "./kubernetes-error.js";

/** The access to a cluster. */
export interface ClusterAccess extends Asker {
  /** The source of the access, for messages: the context and its file, or the pod. */
  readonly source: string;
  /** Whether it is that of the pod in which this program runs. */
  readonly isInside: boolean;
  /** Returns the options of a request: the credentials, which can be other ones each time, and the agent. */
  requestOptions(): Promise<RequestOptions>;
  /** Reads the credentials again. Called when the API server does not accept them. */
  reload(): Promise<void>;
}
