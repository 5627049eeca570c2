/**
 * The messages between programs in pods and the controller for provisioning: JSON over HTTPS. The program shows a token of its pod's service account,
 * and the controller a certificate of its own authority.
 *
 * | request | what it does |
 * |---|---|
 * | `POST /v1/provisions` | asks for hosts ({@link ProvisionRequest}); the answer is a {@link ProvisionGrant} |
 * | `GET /v1/provisions/<id>?after=<version>` | renews the lease, and waits for a {@link ProvisionState} of another version |
 * | `POST /v1/provisions/<id>/lost` | tells of a host that the program does not reach ({@link LostHost}) |
 * | `DELETE /v1/provisions/<id>` | ends the hosts; the answer comes when their pods are gone |
 */
import type { SharedCredentials } from "../../credentials/index.js";
import type { JobEvent } from "../../events.js";
import type { ComputeSpec } from "../compute/compute-options.js";

/** The name of the controller: of its objects in Kubernetes, and of the audience of the tokens that it accepts. */
export const controllerName = "viceroy-controller";

/** The namespace of the controller, and the address at which pods reach it, unless somebody says otherwise. */
export const controllerNamespace = "viceroy-system";
export const defaultControllerUrl = `https://${controllerName}.${controllerNamespace}.svc`;

/** The path of all requests. */
export const provisionsPath = "/v1/provisions";

/** Maximum number of bytes of a request, and of an answer. */
export const longestRequest = 64 * 1024;
export const longestAnswer = 16 * 1024 * 1024;

/** Maximum number of meshes of a request. */
export const maxMeshes = 16;

/** Time in ms for which the controller keeps a request for a state that does not change. Each request renews the lease. */
export const longestPollMs = 10_000;

/** A request for hosts. */
export interface ProvisionRequest {
  /** The options of the pods by the names of the meshes. `hosts` and `image` are required. */
  readonly meshes: Readonly<Record<string, ComputeSpec>>;
  /** The namespace of the pods; absent: that of the program, or the first one that the rule allows. */
  readonly namespace?: string;
  /** The time in ms in which a lost host must be up again; 0 if it is not replaced. */
  readonly lostTimeout: number;
}

/** The answer to a request that was granted. */
export interface ProvisionGrant {
  readonly id: string;
  /** The name of the job that the controller has submitted, and its namespace. */
  readonly name: string;
  readonly namespace: string;
  /** The id of the run. */
  readonly applyId: string;
  /** The certificates with which the program is a driver of the hosts. */
  readonly credentials: SharedCredentials;
}

/** A host that is up. */
export interface ProvisionedHost {
  readonly mesh: string;
  readonly rank: number;
  readonly address: string;
  readonly incarnation: number;
}

/** An event of the job, with its number: events are numbered from 1. */
export type NumberedEvent = Omit<JobEvent, "at"> & { readonly number: number };

/** The hosts as the controller knows them. */
export interface ProvisionState {
  /** Text that differs between states, also after a restart of the controller. */
  readonly version: string;
  readonly hosts: readonly ProvisionedHost[];
  /** The last events, oldest first. */
  readonly events: readonly NumberedEvent[];
  /** Why the hosts end, or have ended; absent while they run. */
  readonly ended?: string;
}

/** A host that the program does not reach any more. */
export type LostHost = Pick<ProvisionedHost, "mesh" | "rank" | "incarnation">;

/** The body of an answer that is none of success. */
export interface Refusal {
  /** Why the request was refused. */
  readonly error: string;
}
