/**
 * The parts of Kubernetes objects that jobs write and read. Each interface has the fields that Viceroy uses, and allows all
 * others, so that templates of users can contain them.
 */

/** An object as the API server takes it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

/** The metadata of an object. */
export interface ObjectMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly [field: string]: unknown;
}

/** Labels or annotations: text by name. */
export type Labels = Readonly<Record<string, string>>;

/** The object with which this one is deleted. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** A pod as a job makes it. */
export interface PodTemplate {
  readonly metadata?: ObjectMetadata;
  readonly spec?: PodSpec;
}

/** The specification of a pod. */
export interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly tolerations?: readonly Toleration[];
  readonly nodeSelector?: Labels;
  readonly [field: string]: unknown;
}

/** A container of a pod. */
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVariable[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly [field: string]: unknown;
}

/** An environment variable of a container. */
export interface EnvVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: unknown;
}

/** A volume of a pod: its name, and one field that says what it is. */
export interface Volume {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Where a container sees a volume. */
export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly subPath?: string;
  readonly subPathExpr?: string;
}

/** A taint of nodes that a pod accepts. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: "Exists" | "Equal" | "Gt" | "Lt";
  readonly value?: string;
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly tolerationSeconds?: number;
}
