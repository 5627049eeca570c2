/** The parts of pods and events that jobs read. */
import type { ApiObject } from "../api/kubernetes-api.js";

/** A pod, as the API server sends it. */
export interface PodObject extends ApiObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly {
      readonly name: string;
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
    }[];
    readonly initContainers?: readonly { readonly restartPolicy?: string }[];
    readonly readinessGates?: readonly object[];
  };
  readonly status?: PodStatus;
}

export interface PodStatus {
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly podIP?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly PodCondition[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: EndedContainer;
}

export interface EndedContainer {
  readonly exitCode: number;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
}

/** An event of Kubernetes about an object. */
export interface EventObject extends ApiObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly uid?: string };
}
