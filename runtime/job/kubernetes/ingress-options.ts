/** The option `ingress` of a job of Kubernetes: the URL at which drivers outside of the cluster reach its driver gateway. */
import { checkOptionNames } from "../../shape/check-options.js";
import { optionError } from "../check-option.js";
import { checkLabels, checkObjectName, isDnsName, isLabelKey } from "./manifest/names.js";
import type { Labels } from "./manifest/objects.js";

/** The ingress of a job. It leads WebSockets to the host of rank 0 of the first mesh, through which drivers reach the others. */
export interface JobIngress {
  /** The host name of the URL, such as `"train.example.com"`. */
  readonly host: string;
  /** The path of the URL, and everything below it. Default: `"/"`. */
  readonly path?: string;
  /** The class of the ingress. Default: that of the cluster. */
  readonly className?: string;
  /** The Secret of the namespace with the certificate for the host name. Default: the ingress controller has one. */
  readonly tls?: string;
  /** Annotations of the Ingress, by which ingress controllers are configured. Default: none. */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * The pods of the ingress controller, which the NetworkPolicy of the job lets in: their labels, and those of their namespace. It is required
   * unless `drivers` is false. Default of each: all pods of the namespace, and the namespace of the job.
   */
  readonly from?: {
    /** The labels of the pods. */
    readonly pods?: Labels;
    /** The labels of their namespace. */
    readonly namespaces?: Labels;
  };
}

/** The option after its check, which is plain JSON. */
export type IngressSpec = Pick<JobIngress, keyof JobIngress>;

/**
 * Checks the option.
 * @param policy whether the job has a NetworkPolicy
 * @param hasCertificates whether its hosts have certificates
 * @throws TypeError if something is unknown, malformed or missing
 */
export function checkIngress(ingress: JobIngress, policy: boolean, hasCertificates: boolean): IngressSpec {
  checkOptionNames("cannot make a job with ingress", ingress, [
    "host",
    "path",
    "className",
    "tls",
    "annotations",
    "from",
  ]);
  const { host, path, className, tls, annotations = {}, from } = ingress;
  if (!isDnsName(host)) throw optionError('host of ingress as a host name, such as "train.example.com"', host);
  if (path !== undefined && !(typeof path === "string" && /^\/[\w./~-]*$/.test(path) && !/\/\.{0,2}\//.test(path))) {
    throw optionError('path of ingress as a path, such as "/train"', path);
  }
  if (className !== undefined) checkObjectName("className of ingress", className);
  if (tls !== undefined) checkObjectName("tls of ingress", tls);
  checkAnnotations(annotations);
  if (!hasCertificates) {
    throw new TypeError(
      "cannot make a job with ingress: with tls: false, the ingress could read everything, the token of the hosts included; leave tls out",
    );
  }
  if (policy && from === undefined) {
    throw optionError(
      'from of ingress as the pods of the ingress controller, such as { namespaces: { "kubernetes.io/metadata.name": "ingress-nginx" } }',
      from,
    );
  }
  if (from === undefined) return ingress;
  if (!policy) {
    throw new TypeError(
      "cannot make a job with ingress: with drivers: false there is no NetworkPolicy that could let pods in; leave from out",
    );
  }
  checkOptionNames("cannot make a job with from of ingress", from, ["pods", "namespaces"]);
  for (const [option, labels] of Object.entries(from)) checkLabels(`${option} of from of ingress`, labels);
  // An empty peer would be everybody.
  if (Object.values(from).every((labels) => Object.keys(labels).length === 0)) {
    throw optionError("from of ingress with at least one label", from);
  }
  return ingress;
}

function checkAnnotations(annotations: unknown): void {
  if (typeof annotations !== "object" || annotations === null || Array.isArray(annotations)) {
    throw optionError("annotations of ingress as text by name", annotations);
  }
  for (const [name, value] of Object.entries(annotations)) {
    if (!isLabelKey(name)) {
      throw optionError(
        "names in annotations of ingress as up to 63 letters, digits, and . _ -, after an optional domain and a slash",
        name,
      );
    }
    if (typeof value !== "string") throw optionError(`"${name}" of annotations of ingress as text`, value);
  }
}
