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
  /** The name of the object, unique for its kind in the namespace. */
  readonly name?: string;
  /** The namespace of the object. */
  readonly namespace?: string;
  /** The labels by which selectors find the object. */
  readonly labels?: Labels;
  /** What programs note about the object. */
  readonly annotations?: Labels;
  /** The objects with which this one is deleted. */
  readonly ownerReferences?: readonly OwnerReference[];
  /** Further fields of Kubernetes. */
  readonly [field: string]: unknown;
}

/** Labels or annotations: text by name. */
export type Labels = Readonly<Record<string, string>>;

/** The object with which this one is deleted. */
export interface OwnerReference {
  /** The version of the API of the owner. */
  readonly apiVersion: string;
  /** The kind of the owner. */
  readonly kind: string;
  /** The name of the owner. */
  readonly name: string;
  /** The id that the API server has given to the owner. */
  readonly uid: string;
}

/** A pod as a job makes it. */
export interface PodTemplate {
  /** Labels and annotations of the pods. */
  readonly metadata?: ObjectMetadata;
  /** The specification of the pods. */
  readonly spec?: PodSpec;
}

/** The specification of a pod. */
export interface PodSpec {
  /** The containers. The one of the daemon is called "host". */
  readonly containers?: readonly Container[];
  /** The containers that run to their end before the others. */
  readonly initContainers?: readonly Container[];
  /** The volumes that containers can mount. */
  readonly volumes?: readonly Volume[];
  /** The taints of nodes that the pod accepts. */
  readonly tolerations?: readonly Toleration[];
  /** The labels that a node of the pod must have. */
  readonly nodeSelector?: Labels;
  /** Further fields of Kubernetes. */
  readonly [field: string]: unknown;
}

/** A container of a pod. */
export interface Container {
  /** The name of the container in its pod. */
  readonly name: string;
  /** The image. */
  readonly image?: string;
  /** The program and its first arguments. */
  readonly command?: readonly string[];
  /** Further arguments. */
  readonly args?: readonly string[];
  /** The environment variables. */
  readonly env?: readonly EnvVariable[];
  /** The volumes that the container sees. */
  readonly volumeMounts?: readonly VolumeMount[];
  /** Further fields of Kubernetes. */
  readonly [field: string]: unknown;
}

/** An environment variable of a container. */
export interface EnvVariable {
  /** The name of the variable. */
  readonly name: string;
  /** The value. */
  readonly value?: string;
  /** Where the value comes from, if it is not given. */
  readonly valueFrom?: unknown;
}

/** A volume of a pod: its name, and one field that says what it is. */
export interface Volume {
  /** The name of the volume in its pod. */
  readonly name: string;
  /** Further fields of Kubernetes. */
  readonly [field: string]: unknown;
}

/** The path at which a container sees a volume. */
export interface VolumeMount {
  /** The name of the volume. */
  readonly name: string;
  /** The path in the container. */
  readonly mountPath: string;
  /** Whether the container cannot write. Default: false. */
  readonly readOnly?: boolean;
  /** The part of the volume that is mounted. Default: all of it. */
  readonly subPath?: string;
  /** The part of the volume, with references to variables of the container. */
  readonly subPathExpr?: string;
}

/** A taint of nodes that a pod accepts. */
export interface Toleration {
  /** The key of the taint. Default: all keys. */
  readonly key?: string;
  /** How the value is compared. Default: `"Equal"`. */
  readonly operator?: "Exists" | "Equal" | "Gt" | "Lt";
  /** The value of the taint. */
  readonly value?: string;
  /** The effect of the taint. Default: all effects. */
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  /** The time in seconds for which a taint that evicts is tolerated. Default: for ever. */
  readonly tolerationSeconds?: number;
}
